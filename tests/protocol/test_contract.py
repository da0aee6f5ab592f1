"""What clients and models see of the tool, and what they are told when they call it wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from clients import ERAS, StdioServer, assert_one_plain_line, client, error_of, items_of, text_of
from films import INDEX
from schema_lint import complaints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clients import McpClient
    from films import Films

TOOL = "dev-neo4j_vector"

INPUT_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string", "description": "Natural language question to search for."},
        "top_k": {
            "type": "integer",
            "default": 5,
            "minimum": 1,
            "maximum": 50,
            "description": "How many results to return, 1 to 50.",
        },
    },
}


@pytest.fixture(scope="module", params=ERAS)
def mcp(request: pytest.FixtureRequest, films: Films) -> Iterator[McpClient]:
    """Return a client of the published entry, in each protocol era."""
    with StdioServer(films.variables(), "--namespace", "dev") as server, client(server, request.param) as connected:
        yield connected


@pytest.mark.parametrize(
    "refused",
    [
        {"type": "array"},
        {"type": ["string", "null"]},
        {"type": "object"},
        {"type": "integer", "exclusiveMinimum": 0},
        {"$ref": "#/$defs/Filter"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"anyOf": [{"type": "array", "items": {"type": "array"}}]},
    ],
)
def test_the_lint_finds_what_clients_refuse(refused: dict[str, Any]):
    assert complaints({"type": "object", "properties": {"filter": refused}})


def test_the_input_schema_has_nothing_that_clients_refuse(mcp: McpClient):
    schema = mcp.tool().input_schema

    jsonschema.Draft202012Validator.check_schema(schema)
    assert complaints(schema) == []


def test_the_tool_is_as_it_was_agreed(mcp: McpClient):
    tool = mcp.tool()

    assert tool.model_dump(
        by_alias=True, exclude_none=True, include={"name", "title", "description", "input_schema", "annotations"}
    ) == {
        "name": TOOL,
        "title": "Neo4j vector",
        "description": (
            f"Search by meaning: embeds the question, finds the nearest entries of the Neo4j index '{INDEX}' and "
            "returns their text with what the graph says about them, best first."
        ),
        "inputSchema": INPUT_SCHEMA,
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
        },
    }


def test_the_output_schema_describes_items_of_text_score_and_metadata(mcp: McpClient):
    schema = mcp.tool().output_schema

    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)
    item = {"text": "a film", "score": 0.5, "metadata": {"year": 2010}}
    jsonschema.validate({"results": [item], "notice": None}, schema)
    jsonschema.validate({"results": [{**item, "score": None}], "notice": "Cut."}, schema)
    for wrong in ({}, {"results": [{}]}, {"results": [{**item, "text": None}]}, {"results": [{**item, "score": "x"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_tools_are_listed_the_same_each_time(mcp: McpClient):
    assert mcp.tools() == mcp.tools()


ECHO = "eCh0-of-an-argument"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, "query"),
        ({"query": None}, "query"),
        ({"query": 7}, "query"),
        ({"query": [ECHO]}, "query"),
        ({"query": {"text": ECHO}}, "query"),
        ({"query": "a shark", "top_k": 0}, "top_k"),
        ({"query": "a shark", "top_k": -1}, "top_k"),
        ({"query": "a shark", "top_k": 51}, "top_k"),
        ({"query": "a shark", "top_k": 10**30}, "top_k"),
        ({"query": "a shark", "top_k": ECHO}, "top_k"),
        ({"query": "a shark", "top_k": 2.5}, "top_k"),
        ({"query": "a shark", "top_k": [3]}, "top_k"),
        ({"query": "a shark", "limit": ECHO}, "limit"),
    ],
)
def test_an_argument_that_does_not_fit_is_named_in_one_line(mcp: McpClient, arguments: dict[str, Any], names: str):
    said = mcp.refused(TOOL, **arguments)

    assert said.startswith(f"Invalid arguments: {names}: ")
    assert ECHO not in said


def test_several_faults_are_told_in_one_line(mcp: McpClient):
    said = mcp.refused(TOOL, top_k=0, limit=1)

    assert "query: " in said
    assert "top_k: " in said
    assert "limit: " in said


def test_an_endless_argument_name_is_not_repeated_in_full(mcp: McpClient):
    said = mcp.refused(TOOL, query="a shark", **{"x\ny" * 10_000: 1})

    assert said.startswith("Invalid arguments: ")


@pytest.mark.parametrize("blank", ["", " ", "\n\t \u00a0\u3000"])
def test_a_blank_question_is_told_to_be_one(mcp: McpClient, blank: str):
    assert mcp.refused(TOOL, query=blank) == "The question is blank: ask for something in a few words."


@pytest.mark.parametrize("number", ["3", 3.0])
def test_a_number_that_clients_send_as_text_or_with_a_point_counts(mcp: McpClient, number: object):
    assert len(items_of(mcp.call(TOOL, query="a shark", top_k=number))) == 3


def test_an_optional_argument_that_is_null_counts_as_left_out(mcp: McpClient):
    assert mcp.call(TOOL, query="a shark", top_k=None) == mcp.call(TOOL, query="a shark")


def test_more_results_than_there_are_is_no_fault(mcp: McpClient):
    assert len(items_of(mcp.call(TOOL, query="a shark", top_k=50))) == 7


def test_an_unknown_tool_is_an_error(mcp: McpClient):
    result = mcp.call("dev-nope", query="a shark")

    assert result.is_error
    assert_one_plain_line(text_of(result))


@pytest.mark.parametrize(
    "question",
    ["nul \x00 byte", "x" * 200_000, "'; MATCH (n) DETACH DELETE n //", "${jndi:ldap://x}"],
    ids=["nul", "long", "cypher", "template"],
)
def test_an_odd_question_is_answered(films: Films, mcp: McpClient, question: str):
    result = mcp.call(TOOL, query=question)

    if result.is_error:
        assert "inside the server" not in error_of(result)
    assert films.neo4j.query("MATCH (n:Movie) RETURN count(n) AS films") == [{"films": 7}]
