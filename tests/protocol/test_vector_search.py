"""`vector-search`: one tool for any vector index, whose question is embedded inside the database."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jsonschema
import numpy as np
import pytest

from clients import ERAS, PATIENCE, StdioServer, client, environment, error_of, http_server, items_of, until
from digest_embedder import digest_vector
from genai_plugin import GENAI_KEY
from graphs import nearest
from proxy import Relay
from schema_lint import complaints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clients import Era, McpClient
    from servers import Neo4jServer

TOOL = "vector-search"
IN_TIME = 12.0
"""Seconds, generous for a busy machine: about 5 is what a call during an outage takes."""
UNREACHABLE = "Neo4j can't be reached: check that it is running and that NEO4J_URI is right, then ask again."

WAYS = [(transport, era) for transport in ("stdio", "http") for era in ERAS]
OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "IN", "CONTAINS", "STARTS WITH", "ENDS WITH", "IS NULL", "IS NOT NULL"]

PAPERS: dict[str, dict[str, Any]] = {
    "graphs at sea": {"year": 1990, "lang": "de"},
    "graphs on land": {"year": 1995, "lang": "en"},
    "trees at sea": {"year": 2000, "lang": "en", "note": "signed"},
    "trees on land": {"year": 2005, "lang": "fr"},
    "paths": {"year": 2010, "lang": "de", "note": "torn"},
}
"""The papers by title; the vector is the title's digest."""

INPUT_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string", "description": "Natural language question to search for."},
        "index_name": {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "default": None,
            "description": "The vector index to search; may be left out where there is only one.",
        },
        "top_k": {
            "type": "integer",
            "default": 10,
            "minimum": 1,
            "maximum": 100,
            "description": "How many results to return, 1 to 100.",
        },
        "filters": {
            "type": "array",
            "default": None,
            "description": "Restrict the search; all must hold.",
            "items": {
                "type": "object",
                "properties": {
                    "property": {"type": "string"},
                    "operator": {"type": "string", "enum": OPERATORS},
                    "value": {"description": "One value; a list for IN; none for IS NULL and IS NOT NULL."},
                },
                "required": ["property", "operator"],
            },
        },
    },
}


def variables(server: Neo4jServer, **changes: str) -> dict[str, str]:
    """Return an environment that embeds inside the database."""
    ours = {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "NEO4J_DATABASE": server.database,
        "NEO4J_EMBEDDING_PROVIDER": "openai",
        "NEO4J_MCP_TOOLS": "vector-search",
        "NEO4J_EMBEDDING_MODEL": "m",
        "NEO4J_EMBEDDING_API_KEY": GENAI_KEY,
    }
    return environment(**{**ours, **changes})


@contextmanager
def connected(transport: str, era: Era, settings: dict[str, str]) -> Iterator[McpClient]:
    """Start the server and connect a client to it."""
    with ExitStack() as stack:
        if transport == "stdio":
            yield stack.enter_context(client(stack.enter_context(StdioServer(settings)), era))
        else:
            url = stack.enter_context(http_server(settings)).url + "/mcp"
            yield stack.enter_context(client(url, era))


def create_index(server: Neo4jServer, name: str, pattern: str, dimensions: int = 8) -> None:
    server.query(
        f"CREATE VECTOR INDEX {name} FOR {pattern} ON e.emb OPTIONS {{indexConfig: "
        f"{{`vector.dimensions`: {dimensions}, `vector.similarity_function`: 'cosine', "
        "`vector.quantization.enabled`: false}}"
    )
    server.query("CALL db.awaitIndexes()")


def load_papers(server: Neo4jServer) -> None:
    """Make a database that holds the papers alone, with one vector index, unless it is one."""
    if holds(server) == ([("Paper", title) for title in sorted(PAPERS)], ["papers"]):
        return
    server.clear()
    server.query(
        "UNWIND keys($papers) AS title CREATE (p:Paper {title: title}) SET p += $papers[title], p.emb = $emb[title]",
        papers=PAPERS,
        emb={title: digest_vector(title) for title in PAPERS},
    )
    create_index(server, "papers", "(e:Paper)")


def holds(server: Neo4jServer) -> tuple[list[tuple[object, object]], list[object]]:
    """Return label and title of each node and of each relationship's start, and the indexes for searches."""
    rows = server.query(
        "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN labels(n)[0] AS label, n.title AS title ORDER BY title"
    )
    indexes = server.query("SHOW INDEXES YIELD name, type WHERE type IN ['VECTOR', 'FULLTEXT'] RETURN name")
    return [(row["label"], row["title"]) for row in rows], [row["name"] for row in indexes]


@pytest.fixture(scope="module")
def emptied(neo4j_2026: Neo4jServer) -> Iterator[Neo4jServer]:
    """Return a database that is empty before and after this module."""
    neo4j_2026.clear()
    yield neo4j_2026
    neo4j_2026.clear()


@pytest.fixture
def papers(emptied: Neo4jServer) -> Neo4jServer:
    """Return a database that holds the papers alone, with one vector index."""
    load_papers(emptied)
    return emptied


@pytest.fixture(scope="module")
def only(neo4j_2026: Neo4jServer) -> Iterator[McpClient]:
    """Return a client that the tests share; what the database holds is each test's."""
    with connected("stdio", "auto", variables(neo4j_2026)) as mcp:
        yield mcp


@pytest.fixture(scope="module", params=[WAYS[0], WAYS[3]], ids="-".join)
def mcp(request: pytest.FixtureRequest, neo4j_2026: Neo4jServer) -> Iterator[McpClient]:
    """Return a client over each transport and of each era."""
    with connected(*request.param, variables(neo4j_2026)) as made:
        yield made


def ranked(question: str) -> list[tuple[str, float]]:
    """Return the papers nearest to a question, with their scores."""
    embeddings = np.asarray([digest_vector(title) for title in PAPERS])
    return [(list(PAPERS)[row], score) for row, score in nearest(embeddings, digest_vector(question))]


def titles(mcp: McpClient, **arguments: Any) -> list[str]:
    """Return the titles that a search finds."""
    return [item["doc"]["title"] for item in items_of(mcp.call(TOOL, **arguments))]


# What a client sees


def test_the_tool_is_as_it_was_agreed(mcp: McpClient):
    [tool] = mcp.tools()

    assert tool.model_dump(
        by_alias=True, exclude_none=True, include={"name", "title", "input_schema", "annotations"}
    ) == {
        "name": TOOL,
        "title": "Vector search",
        "inputSchema": INPUT_SCHEMA,
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
        },
    }


def test_the_input_schema_has_nothing_that_clients_refuse(only: McpClient):
    schema = only.tool().input_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert complaints(schema) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "paths"},
        {"query": "paths", "index_name": None, "top_k": 3},
        {"query": "paths", "index_name": "papers", "filters": []},
        *(
            {"query": "paths", "filters": [{"property": "year", "operator": operator, "value": value}]}
            for operator in OPERATORS
            for value in (1990, 1.5, "de", True, [1990, "de"], None)
        ),
        {"query": "paths", "filters": [{"property": "year", "operator": "IS NULL"}]},
    ],
)
def test_the_input_schema_lets_pass_what_may_be_sent(only: McpClient, arguments: dict[str, Any]):
    jsonschema.validate(arguments, only.tool().input_schema)


def test_a_namespace_is_a_prefix(neo4j_2026: Neo4jServer):
    with StdioServer(variables(neo4j_2026), "--namespace", "dev") as server, client(server) as named:
        assert [tool.name for tool in named.tools()] == [f"dev-{TOOL}"]


@pytest.mark.parametrize(("transport", "era"), WAYS[1:3])
def test_the_tool_is_listed_while_the_database_is_down_and_the_same_when_it_is_up(
    papers: Neo4jServer, transport: str, era: Era
):
    with Relay(urlsplit(papers.uri).port or 0) as relay:
        relay.cut()
        settings = variables(papers, NEO4J_URI=f"bolt://127.0.0.1:{relay.port}", NEO4J_MCP_TOOLS="")
        with connected(transport, era, settings) as mcp:
            before = mcp.tools()
            assert [tool.name for tool in before] == [TOOL, "fulltext-search", "hybrid-search", "get-schema"]

            begin = time.monotonic()
            together = [mcp.submit(TOOL, query="paths", **named) for named in ({}, {"index_name": "papers"})]
            assert [error_of(call.result(PATIENCE)) for call in together] == [UNREACHABLE] * 2
            assert time.monotonic() - begin < IN_TIME

            relay.restore()
            assert titles(mcp, query="paths", top_k=1) == ["paths"]
            assert mcp.tools() == before


# What is found


def test_a_question_finds_the_nearest_with_their_properties_and_no_vector(papers: Neo4jServer, mcp: McpClient):
    items = items_of(mcp.call(TOOL, query="graphs at sea"))

    expected = ranked("graphs at sea")
    assert [item["doc"] for item in items] == [{"title": title, **PAPERS[title]} for title, _ in expected]
    assert [item["score"] for item in items] == pytest.approx([score for _, score in expected], abs=1e-4)
    [row] = papers.query("MATCH (p:Paper {title: 'graphs at sea'}) RETURN elementId(p) AS id")
    assert items[0]["id"] == row["id"]


@pytest.mark.usefixtures("papers")
def test_the_published_names_of_the_arguments_are_taken_as_well(mcp: McpClient):
    expected = [title for title, _ in ranked("paths")][:2]
    assert titles(mcp, query="paths", indexName="papers", topK=2) == expected
    assert titles(mcp, query="paths", index_name="papers", top_k=2) == expected
    assert mcp.refused(TOOL, query="paths", indexName="nope").startswith("The vector index 'nope' does not exist")
    assert mcp.refused(TOOL, query="paths", topK=0).startswith("Invalid arguments: top_k: ")


@pytest.mark.usefixtures("papers")
def test_a_null_or_empty_index_name_counts_as_none(only: McpClient):
    assert titles(only, query="paths", index_name=None, top_k=1) == ["paths"]
    assert titles(only, query="paths", index_name="", top_k=1) == ["paths"]


def test_ten_are_returned_unless_told(papers: Neo4jServer, only: McpClient):
    papers.query(
        "UNWIND keys($emb) AS title CREATE (:Paper {title: title, emb: $emb[title]})",
        emb={f"more {number}": digest_vector(f"more {number}") for number in range(12)},
    )
    assert len(titles(only, query="paths")) == 10
    assert len(titles(only, query="paths", top_k=100)) == 17


FILTERED: dict[str, tuple[list[dict[str, Any]], set[str]]] = {
    "=": ([{"property": "lang", "operator": "=", "value": "de"}], {"graphs at sea", "paths"}),
    "<>": (
        [{"property": "lang", "operator": "<>", "value": "de"}],
        {"graphs on land", "trees at sea", "trees on land"},
    ),
    "<": ([{"property": "year", "operator": "<", "value": 1995}], {"graphs at sea"}),
    "<=": ([{"property": "year", "operator": "<=", "value": 1995}], {"graphs at sea", "graphs on land"}),
    ">": ([{"property": "year", "operator": ">", "value": 2005}], {"paths"}),
    ">=": ([{"property": "year", "operator": ">=", "value": 2005}], {"trees on land", "paths"}),
    "IN": (
        [{"property": "lang", "operator": "IN", "value": ["fr", "en"]}],
        {"graphs on land", "trees at sea", "trees on land"},
    ),
    "CONTAINS": (
        [{"property": "title", "operator": "CONTAINS", "value": "at"}],
        {"graphs at sea", "trees at sea", "paths"},
    ),
    "STARTS WITH": (
        [{"property": "title", "operator": "STARTS WITH", "value": "trees"}],
        {"trees at sea", "trees on land"},
    ),
    "ENDS WITH": (
        [{"property": "title", "operator": "ENDS WITH", "value": "land"}],
        {"graphs on land", "trees on land"},
    ),
    "IS NULL": (
        [{"property": "note", "operator": "IS NULL"}],
        {"graphs at sea", "graphs on land", "trees on land"},
    ),
    "IS NOT NULL": ([{"property": "note", "operator": "IS NOT NULL"}], {"trees at sea", "paths"}),
    "lower case": (
        [{"property": "title", "operator": "ends  with", "value": "land"}],
        {"graphs on land", "trees on land"},
    ),
    "number as text": ([{"property": "year", "operator": "=", "value": "1990"}], {"graphs at sea"}),
    "two": (
        [
            {"property": "lang", "operator": "=", "value": "de"},
            {"property": "year", "operator": ">", "value": 2000},
        ],
        {"paths"},
    ),
    "none match": ([{"property": "year", "operator": ">", "value": 3000}], set()),
    "none": ([], set(PAPERS)),
}
"""Filters and the titles that meet them."""


def test_every_operator_is_tested():
    assert set(OPERATORS) <= set(FILTERED)


@pytest.mark.parametrize("name", FILTERED)
def test_a_filter_keeps_what_meets_it_in_order(papers: Neo4jServer, only: McpClient, name: str):
    filters, matching = FILTERED[name]
    assert papers.version == "2026.09.0"
    assert titles(only, query="paths", filters=filters) == [title for title, _ in ranked("paths") if title in matching]


def test_relationships_are_found_with_their_ends(papers: Neo4jServer, only: McpClient):
    papers.query("DROP INDEX papers")
    papers.query(
        "MATCH (a:Paper {title: 'paths'}), (b:Paper {title: 'trees at sea'}) "
        "CREATE (a)-[:CITES {reason: 'method', emb: $method}]->(b), (b)-[:CITES {reason: 'praise', emb: $praise}]->(a)",
        method=digest_vector("method"),
        praise=digest_vector("praise"),
    )
    create_index(papers, "citations", "()-[e:CITES]-()")

    for arguments in ({}, {"filters": [{"property": "reason", "operator": "CONTAINS", "value": "pra"}]}):
        first = items_of(only.call(TOOL, query="praise", **arguments))[0]
        assert first["doc"] == {
            "type": "CITES",
            "start": {"title": "trees at sea", **PAPERS["trees at sea"]},
            "end": {"title": "paths", **PAPERS["paths"]},
            "properties": {"reason": "praise"},
        }
        assert first["score"] == pytest.approx(1, abs=1e-4)
    assert len(items_of(only.call(TOOL, query="praise"))) == 2


# Which index


@pytest.fixture
def several(papers: Neo4jServer) -> Neo4jServer:
    """Return the papers with two more vector indexes."""
    create_index(papers, "citations", "()-[e:CITES]-()")
    create_index(papers, "big", "(e:Book)", dimensions=1024)
    return papers


SEVERAL = (
    r"Name one of these as index_name: 'big' \(\d+ Book, emb, 1024 dimensions\b.*\); "
    r"'citations' \(\d+ relationships CITES, emb, 8 dimensions\b.*\); "
    r"'papers' \(\d+ Paper, emb, 8 dimensions\b.*\)\."
)


@pytest.mark.usefixtures("several")
def test_several_indexes_are_listed_where_none_is_named(mcp: McpClient):
    assert re.fullmatch(SEVERAL, mcp.refused(TOOL, query="paths"))


@pytest.mark.usefixtures("several")
def test_the_named_one_of_several_is_searched(only: McpClient):
    assert titles(only, query="paths", index_name="papers", top_k=1) == ["paths"]
    assert items_of(only.call(TOOL, query="paths", index_name="citations")) == []


def test_an_index_that_is_made_or_dropped_is_seen_at_the_next_call(papers: Neo4jServer, only: McpClient):
    assert titles(only, query="paths", top_k=1) == ["paths"]
    create_index(papers, "books", "(e:Book)")
    assert "'books'" in only.refused(TOOL, query="paths")
    papers.query("DROP INDEX papers")
    assert items_of(only.call(TOOL, query="paths")) == []
    assert "does not exist" in only.refused(TOOL, query="paths", index_name="papers")
    papers.query("DROP INDEX books")
    create_index(papers, "papers", "(e:Paper)")
    assert titles(only, query="paths", top_k=1) == ["paths"]


def test_without_an_index_the_statement_that_makes_one_is_told(emptied: Neo4jServer, only: McpClient):
    emptied.clear()
    assert only.refused(TOOL, query="paths").startswith(
        "The database has no vector index. No property looks like a vector: embed your texts into one, then "
    )
    emptied.query("CREATE (:Note {emb: $emb})", emb=digest_vector("note", 32))
    said = only.refused(TOOL, query="paths")
    begin = "The database has no vector index. Create one: "
    assert said.startswith(f"{begin}CREATE VECTOR INDEX ")

    emptied.query(said.removeprefix(begin))
    emptied.query("CALL db.awaitIndexes()")
    assert "vectors of 8 dimensions and the index holds vectors of 32" in only.refused(TOOL, query="paths")


@pytest.mark.usefixtures("several")
def test_an_unknown_index_is_told_with_those_that_exist(mcp: McpClient):
    said = mcp.refused(TOOL, query="paths", index_name="nope")
    assert re.fullmatch(f"The vector index 'nope' does not exist in this database. {SEVERAL}", said)


def test_a_full_text_index_is_told_to_be_one(papers: Neo4jServer, only: McpClient):
    papers.query("CREATE FULLTEXT INDEX words FOR (e:Paper) ON EACH [e.title]")
    papers.query("CALL db.awaitIndexes()")
    assert only.refused(TOOL, query="paths", index_name="words").startswith(
        "The vector index 'words' is a full-text index. Name one of these as index_name: 'papers' ("
    )
    assert titles(only, query="paths", top_k=1) == ["paths"], "it is no candidate"


def test_an_index_that_is_being_populated_is_told_and_searched_when_it_is_online(papers: Neo4jServer, only: McpClient):
    papers.query("UNWIND range(1, 3000) AS i CREATE (:Many {emb: [d IN range(1, 8) | rand() - 0.5]})")
    told = None
    for _ in range(20):  # population may be over before the question is asked
        papers.query("CREATE VECTOR INDEX many FOR (e:Many) ON e.emb OPTIONS {indexConfig: {`vector.dimensions`: 8}}")
        result = only.call(TOOL, query="paths", index_name="many")
        if result.is_error:
            told = error_of(result)
            break
        papers.query("DROP INDEX many")
    assert told == "The vector index 'many' is still being populated: ask again when it is online."
    papers.query("CALL db.awaitIndexes()")
    assert len(items_of(only.call(TOOL, query="paths", index_name="many", top_k=3))) == 3


@pytest.mark.usefixtures("papers")
def test_an_endless_index_name_is_not_repeated_in_full(only: McpClient):
    assert "does not exist" in only.refused(TOOL, query="paths", index_name="x\ny" * 10_000)


# What can't be asked

ALLOWED = ", ".join(OPERATORS)
BAD_FILTERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "unknown operator": (
        [{"property": "year", "operator": "LIKE", "value": 1}],
        ("'LIKE' is unknown", f"allowed are {ALLOWED}."),
    ),
    "unknown property": (
        [{"property": "nope", "operator": "=", "value": 1}],
        ("'nope'", "allowed are: lang, note, title, year."),
    ),
    "the vector": ([{"property": "emb", "operator": "=", "value": 1}], ("'emb'", "allowed are: lang")),
    "IN without a list": ([{"property": "lang", "operator": "IN", "value": "de"}], ("lang", "IN takes a list")),
    "IN with an empty list": ([{"property": "lang", "operator": "IN", "value": []}], ("lang", "the list is empty")),
    "a range on a text": (
        [{"property": "lang", "operator": ">", "value": "de"}],
        ("lang", "needs numbers, dates or times"),
    ),
    "a text operator on a number": (
        [{"property": "year", "operator": "CONTAINS", "value": "9"}],
        ("year", "CONTAINS works on texts only"),
    ),
    "a list for a value": ([{"property": "year", "operator": "=", "value": [1]}], ("year", "= takes one value")),
    "a value of another type": ([{"property": "year", "operator": "=", "value": "old"}], ("year", '"old" is no')),
    "no value": ([{"property": "year", "operator": "="}], ("'year' has no value", "IS NULL")),
    "no property": ([{"operator": "=", "value": 1}], ("{property, operator, value}",)),
    "no object": (["year"], ("{property, operator, value}",)),
    "an unknown key": ([{"property": "year", "op": ">", "value": 2000}], ("{property, operator, value}",)),
    "no list": (7, ("filters must be ", "{property, operator, value}")),
}
"""Filters and what must be said of them."""


@pytest.mark.usefixtures("papers")
@pytest.mark.parametrize("name", BAD_FILTERS)
def test_a_filter_that_can_not_be_is_told_with_what_can(only: McpClient, name: str):
    filters, says = BAD_FILTERS[name]
    said = only.refused(TOOL, query="paths", filters=filters)
    assert all(part in said for part in says), said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "Invalid arguments: query: "),
        ({"query": " "}, "The question is blank"),
        ({"query": "paths", "top_k": 0}, "Invalid arguments: top_k: "),
        ({"query": "paths", "top_k": 101}, "Invalid arguments: top_k: "),
        ({"query": "paths", "index_name": 7}, "Invalid arguments: index_name: "),
        ({"query": "paths", "limit": 7}, "Invalid arguments: limit: "),
    ],
)
def test_an_argument_that_does_not_fit_is_named(only: McpClient, arguments: dict[str, Any], says: str):
    assert only.refused(TOOL, **arguments).startswith(says)


def test_a_server_takes_the_settings_of_its_results(papers: Neo4jServer):
    settings = variables(papers, TOP_K="2", RETRIEVAL_QUERY="RETURN toUpper(node.title) AS title, score")
    with StdioServer(settings) as server, client(server) as mcp:
        assert mcp.tool().input_schema["properties"]["top_k"]["default"] == 2
        expected = [title.upper() for title, _ in ranked("paths")][:2]
        assert titles(mcp, query="paths") == expected
        server.terminate()
        until(lambda: server.returncode is not None, "the server ends")
