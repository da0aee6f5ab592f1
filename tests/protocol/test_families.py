"""Every family of tools on one graph: what a client sees of it, and a right answer of each tool.

What `tools/list` says is kept in `tools.json`. `RENEW_TOOLS=1 uv run pytest tests/protocol/test_families.py` writes it
anew: look at the difference before you commit it.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from clients import ERAS, McpClient, StdioServer, client, http_server, items_of, text_of
from graphs import SIZE, Sightings
from notes import by_shark
from schema_lint import complaints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_types import CallToolResult

    from notes import Notes

SNAPSHOT = Path(__file__).with_name("tools.json")
SEEN = {"name", "title", "description", "annotations", "input_schema", "output_schema"}

GONE = "4:00000000-0000-0000-0000-000000000000:7"
"""The id of no element."""

WAYS = [(transport, era) for transport in ("stdio", "http") for era in ERAS]


@pytest.fixture(scope="module")
def url(notes: Notes) -> Iterator[str]:
    """Return the address of a server over HTTP, which keeps no session: both eras share it."""
    variables = notes.variables(PYTHONPATH=str(notes.folder))  # its current folder is the tests'
    with http_server(variables) as server:
        yield f"{server.url}/mcp"


@pytest.fixture(scope="module", params=[WAYS[0], WAYS[3]], ids="-".join)
def mcp(request: pytest.FixtureRequest, notes: Notes, url: str) -> Iterator[McpClient]:
    """Return a client of each era over each transport."""
    transport, era = request.param
    with ExitStack() as stack:
        if transport == "http":
            yield stack.enter_context(client(url, era))
        else:
            yield stack.enter_context(client(_stdio(stack, notes), era))


IN_ONE_WAY = pytest.mark.parametrize("mcp", [WAYS[0]], indirect=True, ids=["stdio-legacy"])
"""For permutations of arguments, to which the way makes no difference."""
IN_TWO_WAYS = pytest.mark.parametrize("mcp", [WAYS[0], WAYS[3]], indirect=True, ids=["stdio-legacy", "http-auto"])


def _stdio(stack: ExitStack, notes: Notes) -> StdioServer:
    return stack.enter_context(StdioServer(notes.variables(), cwd=notes.folder))


def seen(mcp: McpClient) -> list[dict[str, Any]]:
    """Return what `tools/list` says, as JSON."""
    tools = sorted(mcp.tools(), key=lambda tool: tool.name)
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True, include=SEEN) for tool in tools]


def numbers(result: CallToolResult) -> list[int]:
    """Return the numbers of the notes that were found, whether they come as documents, JSON texts or texts."""
    return [_number(item) for item in items_of(result)]


def _number(item: dict[str, Any]) -> int:
    if "doc" in item:
        return int(item["doc"].get("properties", item["doc"])["i"])
    content = json.loads(item["text"])
    return int(content.get("doc", content)["i"] if isinstance(content, dict) else content)


def is_german(i: int) -> bool:
    return i % 2 == 1


def test_what_clients_see_is_what_was_agreed(mcp: McpClient):
    listed = seen(mcp)
    if os.environ.get("RENEW_TOOLS"):
        SNAPSHOT.write_text(json.dumps(listed, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    assert listed == json.loads(SNAPSHOT.read_text("utf-8"))


def test_every_family_is_in_it_and_only_the_pair_has_no_namespace(mcp: McpClient):
    assert {tool["name"] for tool in seen(mcp)} == {
        *("dev-neo4j_vector", "dev-neo4j_hybrid"),
        *("dev-calm_notes", "dev-english_notes", "dev-typed", "dev-elsewhere"),
        "dev-by_language",
        *("dev-search_notes", "dev-search_note_texts", "dev-search_sayings", "dev-search_saying_texts"),
        *("dev-vector-search", "dev-fulltext-search", "dev-hybrid-search"),
        "dev-get-schema",
        "dev-expand",
        *("search", "fetch"),
    }


@IN_ONE_WAY
def test_no_schema_has_what_clients_refuse(mcp: McpClient):
    for tool in seen(mcp):
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
        assert complaints(tool["inputSchema"]) == [], tool["name"]
        assert tool["outputSchema"]["type"] == "object"
        is_checked = tool["name"] != "dev-by_language"
        assert tool["annotations"].get("readOnlyHint", False) is is_checked, tool["name"]


CALLS: dict[str, tuple[dict[str, Any], Callable[[Notes], list[int]]]] = {
    "dev-neo4j_vector": ({}, lambda notes: notes.by_meaning("shark")[:5]),
    "dev-neo4j_hybrid": ({"alpha": 0}, lambda _: by_shark()[:5]),
    "dev-vector-search": ({"index_name": "notes"}, lambda notes: notes.by_meaning("shark")[:10]),
    "dev-fulltext-search": ({"index_name": "note_texts", "top_k": 3}, lambda _: [19, 18, 17]),
    "dev-hybrid-search": ({"index_name": "sayings", "alpha": 1}, lambda notes: notes.by_meaning("shark")[:10]),
    "dev-search_notes": ({"filters": {"lang": "de"}}, lambda notes: notes.by_meaning("shark", is_german)),
    "dev-search_note_texts": ({"filters": {"lang": "de"}}, lambda _: by_shark(is_german)),
    "dev-search_sayings": ({"top_k": 4}, lambda notes: notes.by_meaning("shark")[:4]),
    "dev-search_saying_texts": ({"filters": {"year": {"max": 1984}}}, lambda _: [4, 3, 2, 1]),
    "dev-calm_notes": ({"filters": {"mood": "calm"}}, lambda _: [3, 2, 1]),
    "dev-english_notes": ({}, lambda notes: notes.by_meaning("shark")[:3]),
    "dev-elsewhere": ({"alpha": 0}, lambda _: [19, 18, 17]),
    "dev-by_language": ({"query": "de", "top_k": 2}, lambda _: [1, 3]),
}
"""For each tool that searches: arguments beside the question, and the notes that must come, in their order."""


@IN_TWO_WAYS
@pytest.mark.parametrize("tool", CALLS)
def test_each_search_finds_what_is_computed_here(notes: Notes, mcp: McpClient, tool: str):
    arguments, expected = CALLS[tool]
    result = mcp.call(tool, **{"query": "shark", **arguments})

    assert numbers(result) == expected(notes)
    [schema] = [each.output_schema for each in mcp.tools() if each.name == tool]
    assert schema
    jsonschema.validate(result.structured_content, schema)


@IN_ONE_WAY
@pytest.mark.parametrize("tool", ["dev-neo4j_hybrid", "dev-hybrid-search"])
@pytest.mark.parametrize("ranker", ["linear", "rrf"])
def test_alpha_goes_from_the_order_of_words_to_the_order_of_meaning(
    notes: Notes, mcp: McpClient, tool: str, ranker: str
):
    index = {"index_name": "notes"} if tool == "dev-hybrid-search" else {}
    asked = {"query": "shark", "ranker": ranker, "top_k": 19, **index}

    assert numbers(mcp.call(tool, **asked, alpha=0)) == by_shark()
    assert numbers(mcp.call(tool, **asked, alpha=1)) == notes.by_meaning("shark")[:19]


@IN_ONE_WAY
@pytest.mark.parametrize("alpha", [0, 1])
def test_filters_hold_in_both_halves_and_scores_and_ranks_are_told(notes: Notes, mcp: McpClient, alpha: int):
    filters = [
        {"property": "lang", "operator": "=", "value": "de"},
        {"property": "mood", "operator": "<>", "value": "calm"},
    ]
    result = mcp.call("dev-hybrid-search", query="shark", index_name="notes", filters=filters, alpha=alpha, top_k=SIZE)

    by_meaning = notes.by_meaning("shark", lambda i: i >= 4 and is_german(i))
    by_words = [19, 17, 15, 13, 11, 9, 7, 5]
    assert numbers(result) == (by_meaning if alpha else by_words)
    for item in items_of(result):
        assert item["vector_rank"] == by_meaning.index(item["doc"]["i"]) + 1
        assert item["text_rank"] == by_words.index(item["doc"]["i"]) + 1
        assert 0 < item["vector_score"] < 1
        assert item["text_score"] > 0


@IN_ONE_WAY
@pytest.mark.parametrize("tool", ["dev-fulltext-search", "dev-search_note_texts", "dev-calm_notes"])
def test_a_sentence_finds_what_its_one_rare_word_finds(mcp: McpClient, tool: str):
    index = {"index_name": "note_texts"} if tool == "dev-fulltext-search" else {}
    expected = numbers(mcp.call(tool, query="onlyd", **index))

    assert expected == [3]
    for sentence in ("what is onlyd?", 'is "onlyd" (AND so on) the [answer] ~ or not: !?', "onlyd\\", "*onlyd^"):
        assert numbers(mcp.call(tool, query=sentence, **index)) == [3]


@IN_ONE_WAY
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("text:onlyd", {3}),
        ("only*", set(range(SIZE))),
        ("+shark -onlyt -(onlys OR sea)", set()),
        ("onlyd OR onlye", {3, 4}),
    ],
)
def test_lucenes_own_syntax_is_taken_where_it_is_asked_for(mcp: McpClient, query: str, expected: set[int]):
    for tool, index in (("dev-fulltext-search", {"index_name": "note_texts"}), ("dev-search_note_texts", {})):
        assert set(numbers(mcp.call(tool, query=query, lucene=True, top_k=SIZE, **index))) == expected


@IN_ONE_WAY
def test_a_fault_of_lucenes_syntax_is_ours(mcp: McpClient):
    told = mcp.refused("dev-fulltext-search", index_name="note_texts", query='shark AND ("', lucene=True)

    assert told.startswith("Lucene can't read this question: ")


TYPED = {"query": "shark", "word": "sea", "whole": 3, "broken": 1, "day": "2001-02-03"}


def test_parameters_reach_the_query_in_their_types(mcp: McpClient):
    [item] = items_of(mcp.call("dev-typed", **TYPED))

    assert item["metadata"] == {
        "word": ["STRING NOT NULL", "sea"],
        "whole": ["INTEGER NOT NULL", "3"],
        "broken": ["FLOAT NOT NULL", "1.0"],
        "yes": ["BOOLEAN NOT NULL", "true"],
        "day": ["DATE NOT NULL", "2001-02-03"],
        "moment": ["ZONED DATETIME NOT NULL", "2026-03-01T12:00:00Z"],
        "several": ["LIST<INTEGER NOT NULL> NOT NULL", "3"],
    }


@IN_ONE_WAY
def test_what_is_sent_takes_the_place_of_the_defaults(mcp: McpClient):
    sent = {"yes": False, "moment": "2026-03-01T12:00:00+02:00", "several": "[5, 6]"}
    [item] = items_of(mcp.call("dev-typed", **TYPED, **sent))

    assert item["metadata"]["yes"][1] == "false"
    assert item["metadata"]["moment"][1] == "2026-03-01T12:00:00+02:00"
    assert item["metadata"]["several"][1] == "11"
    assert numbers(mcp.call("dev-calm_notes", query="shark", since=18)) == [19, 18]


@IN_ONE_WAY
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"word": "whale"}, 'word: "whale" is not allowed; send one of "sea", "shark"'),
        ({"whole": "many"}, 'whole: "many" is not allowed; send a whole number'),
        ({"broken": 1.6}, "broken: 1.6 is not allowed; send a number of at most 1.5"),
        ({"day": "1999-12-31"}, 'day: "1999-12-31" is not allowed; send a date of at least "2000-01-01"'),
        ({"day": None}, "Invalid arguments: day: "),
        ({"several": ["x"]}, 'several: ["x"] is not allowed; send a list, each item a whole number'),
        ({"wide": 1}, "Invalid arguments: wide: "),
    ],
)
def test_a_parameter_that_is_not_allowed_is_told_what_is(mcp: McpClient, change: dict[str, Any], told: str):
    assert mcp.refused("dev-typed", **(TYPED | change)).startswith(told)


@pytest.fixture(scope="module")
def fixed(notes: Notes) -> Iterator[McpClient]:
    """Return a client of a server whose tables have fixed filters, and that shows no tool which goes by ids."""
    variables = notes.variables(RETRIEVERS_FILE=str(notes.folder / "fixed.toml"), NEO4J_MCP_TOOLS="declared,search")
    with StdioServer(variables, cwd=notes.folder) as server, client(server) as connected:
        yield connected


@pytest.mark.parametrize(
    ("tool", "filters", "expected"),
    [
        ("dev-calm_notes", {"mood": "wild"}, set()),
        ("dev-calm_notes", {"mood": ["calm", "wild"]}, {1, 2, 3}),
        ("dev-calm_notes", {"lang": "de"}, {1, 3}),
        ("dev-english_notes", {"year": {"min": 1900, "max": 1992}}, {10, 12}),
        ("dev-english_notes", {"year": 1985}, set()),
    ],
)
def test_a_caller_only_narrows_what_the_file_fixes(
    fixed: McpClient, tool: str, filters: dict[str, Any], expected: set[int]
):
    assert set(numbers(fixed.call(tool, query="shark", filters=filters, top_k=SIZE))) == expected


def test_what_the_file_fixes_is_not_seen_nor_can_it_be_named(fixed: McpClient):
    [tool] = [each for each in fixed.tools() if each.name == "dev-english_notes"]

    assert '"lang"' not in json.dumps(tool.input_schema)
    told = fixed.refused("dev-english_notes", query="shark", filters={"lang": "de"})
    assert told == "There is no filter 'lang'; allowed are: year."


def test_values_of_an_own_retriever_are_ours(mcp: McpClient):
    [item] = items_of(mcp.call("dev-by_language", query="en", top_k=1))

    assert item == {"text": "0", "score": None, "metadata": {"day": "2026-03-01"}}


def test_the_schema_names_the_tool_that_searches_each_index(mcp: McpClient):
    result = mcp.call("dev-get-schema")
    schema = result.structured_content
    assert schema

    tools = {index["name"]: index["search_tool"] for index in schema["vector_indexes"] + schema["fulltext_indexes"]}
    assert tools == {
        "notes": "dev-neo4j_vector",
        "note_texts": "dev-neo4j_hybrid",
        "sayings": "dev-search_sayings",
        "saying_texts": "dev-search_saying_texts",
    }
    assert set(tools.values()) < {tool.name for tool in mcp.tools()}
    assert {label["name"]: label["count"] for label in schema["labels"]} == {"note": SIZE, "critic": SIZE}
    assert [each["pairs"] for each in schema["relationship_types"]] == [[{"start": "critic", "end": "note"}]]
    assert "notes on (:note) emb: 8 dimensions, cosine" in text_of(result)
    assert "search with dev-neo4j_vector, dev-neo4j_hybrid" in text_of(result)


def test_the_schema_is_narrowed_to_labels_and_types(mcp: McpClient):
    schema = mcp.call("dev-get-schema", labels=["note"]).structured_content
    assert schema

    [note] = schema["labels"]
    assert note["properties"] == {
        "emb": "VECTOR(8)",
        "i": "INTEGER",
        "lang": "STRING",
        "mood": "STRING",
        "text": "STRING",
        "year": "INTEGER",
    }
    assert note["search_tools"] == ["dev-neo4j_vector", "dev-neo4j_hybrid"]
    assert "critic (" not in text_of(mcp.call("dev-get-schema", labels=["note"]))
    assert "'nope'" in mcp.refused("dev-get-schema", labels=["nope"])


@IN_ONE_WAY
@pytest.mark.parametrize(("database", "labels"), [("here", {"note", "critic"}), ("there", {"far"})])
def test_the_schema_of_a_database_of_the_file_names_its_tables(mcp: McpClient, database: str, labels: set[str]):
    schema = mcp.call("dev-get-schema", database=database).structured_content
    assert schema

    assert {label["name"] for label in schema["labels"]} == labels
    indexes = schema["vector_indexes"] + schema["fulltext_indexes"]
    expected = {
        "here": {
            "notes": "dev-english_notes",
            "note_texts": "dev-calm_notes",
            "sayings": None,
            "saying_texts": None,
        },
        "there": {"far_notes": "dev-elsewhere", "far_texts": "dev-elsewhere"},
    }
    assert {index["name"]: index["search_tool"] for index in indexes} == expected[database]


@IN_ONE_WAY
def test_ids_are_walked_on_from_in_their_own_databases(mcp: McpClient):
    found = mcp.call("dev-expand", ids=[*in_both_databases(mcp), GONE]).structured_content
    assert found

    assert [each["properties"]["name"] for each in found["neighbours"]] == ["critic 17"]
    assert found["notice"] == f"No element has the id '{GONE}': search again and take the ids of its results."


def in_both_databases(mcp: McpClient) -> list[str]:
    """Return the ids of note 17 in the other database and in the environment's."""
    [far] = items_of(mcp.call("dev-elsewhere", query="onlyr", alpha=0, top_k=1))
    [near] = items_of(mcp.call("dev-fulltext-search", query="onlyr", index_name="note_texts"))
    return [far["id"], near["id"]]


def test_a_hit_is_walked_on_from_by_its_id(mcp: McpClient):
    [hit] = items_of(mcp.call("dev-fulltext-search", query="onlyd", index_name="note_texts"))
    result = mcp.call("dev-expand", ids=[hit["id"]])

    assert result.structured_content
    [near] = result.structured_content["neighbours"]
    assert (near["start"], near["hop"]) == (hit["id"], 1)
    assert (near["labels"], near["properties"]) == (["critic"], {"name": "critic 3"})
    [step] = near["relationships"]
    assert (step["type"], step["direction"]) == ("says", "in")
    assert step["properties"] == {**Sightings.entity(3), "text": Sightings.text(3)}, "without its vector"
    assert mcp.call("dev-expand", ids=[hit["id"]], direction="out").structured_content == {
        "neighbours": [],
        "notice": None,
    }


@IN_ONE_WAY
def test_the_ends_of_a_relationship_that_was_found_are_walked_to(mcp: McpClient):
    [hit] = items_of(mcp.call("dev-search_saying_texts", query="onlyd"))
    found = mcp.call("dev-expand", ids=[hit["id"]], relationship_types=["says"]).structured_content

    assert found
    assert {near["labels"][0]: near["properties"].get("i") for near in found["neighbours"]} == {
        "critic": None,
        "note": 3,
    }


def test_what_the_connectors_search_finds_is_fetched_whole(mcp: McpClient):
    found = mcp.call("search", query="onlyd")
    assert found.structured_content
    assert json.loads(text_of(found)) == found.structured_content
    hits = found.structured_content["results"]
    assert 0 < len(hits) <= 10
    assert len({hit["id"] for hit in hits}) == len(hits)

    [hit] = [each for each in hits if " onlyd " in each["text"]]
    whole = mcp.call("fetch", id=hit["id"])
    assert whole.structured_content
    assert json.loads(text_of(whole)) == whole.structured_content
    document = dict(whole.structured_content)
    assert document.pop("title") == hit["title"]
    assert document == {
        "id": hit["id"],
        "url": hit["url"],
        "text": Sightings.text(3),
        "metadata": {**Sightings.entity(3), "labels": ["note"]},
    }


@IN_ONE_WAY
def test_a_hit_of_the_other_database_is_fetched_from_there(mcp: McpClient):
    whole = [mcp.call("fetch", id=each).structured_content for each in in_both_databases(mcp)]

    assert [each and each["metadata"]["labels"] for each in whole] == [["far"], ["note"]]


@IN_ONE_WAY
@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("dev-expand", {"ids": [GONE]}, f"No element has the id '{GONE}': ids change when data is loaded anew, so "),
        ("fetch", {"id": GONE}, f"No element has the id '{GONE}': ids change when data is loaded anew, so search "),
        ("dev-expand", {"ids": []}, "Invalid arguments: ids: "),
        ("dev-expand", {"ids": [GONE], "depth": 3}, "Invalid arguments: depth: "),
        ("dev-expand", {"ids": [GONE], "relationship_types": ["nope"]}, f"No element has the id '{GONE}': "),
        ("dev-hybrid-search", {"query": "x", "alpha": 1.01}, "Invalid arguments: alpha: "),
        ("dev-neo4j_hybrid", {"query": "x", "alpha": -0.01}, "Invalid arguments: alpha: "),
        ("dev-elsewhere", {"query": "x", "alpha": 2}, "Invalid arguments: alpha: "),
        ("dev-neo4j_hybrid", {"query": "x", "ranker": "best"}, "Invalid arguments: ranker: "),
        ("search", {"query": "  "}, "The question is blank: "),
        ("dev-fulltext-search", {"query": "x", "index_name": "notes"}, "'notes' "),
    ],
)
def test_what_can_not_be_answered_is_one_line(mcp: McpClient, tool: str, arguments: dict[str, Any], told: str):
    assert told in mcp.refused(tool, **arguments)


@pytest.fixture(scope="module")
def sparing(notes: Notes) -> Iterator[McpClient]:
    """Return a client of a server whose answers are short."""
    variables = notes.variables(RESPONSE_TOKEN_LIMIT="200", NEO4J_NAMESPACE="")
    with StdioServer(variables, cwd=notes.folder) as server, client(server) as connected:
        yield connected


BUDGET = 800
"""Bytes: of 200 tokens."""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("fulltext-search", {"index_name": "note_texts"}),
        ("hybrid-search", {"index_name": "notes"}),
        ("vector-search", {"index_name": "notes"}),
        ("search_note_texts", {}),
        ("neo4j_vector", {"top_k": 10}),
    ],
)
def test_whole_results_are_left_out_of_a_search_and_told(sparing: McpClient, tool: str, arguments: dict[str, Any]):
    result = sparing.call(tool, query="shark", **arguments)
    items = items_of(result)

    assert 0 < len(items) < 10
    assert result.structured_content
    assert result.structured_content["notice"].startswith(
        f"Only the first {len(items)} of 10 results are shown, to keep to 200 tokens (RESPONSE_TOKEN_LIMIT): "
    )
    assert text_of(result).endswith(result.structured_content["notice"])
    assert len(text_of(result).encode()) <= BUDGET
    assert numbers(result) == numbers(sparing.call(tool, query="shark", **(arguments | {"top_k": len(items)})))


def test_whole_neighbours_are_left_out_and_told(sparing: McpClient):
    hits = items_of(sparing.call("search_notes", query="shark", top_k=2))
    found = sparing.call("expand", ids=[hit["id"] for hit in hits], limit=1, depth=2).structured_content
    assert found
    assert (len(found["neighbours"]), found["notice"]) == (2, None), "critic and no further"

    ids = [
        hit["id"]
        for letters in ("a", "b", "c", "d", "e", "f")
        for hit in items_of(sparing.call("search_note_texts", query=f"only{letters}"))
    ]
    result = sparing.call("expand", ids=ids)
    assert len(text_of(result).encode()) <= BUDGET
    found = result.structured_content
    assert found
    assert 0 < len(found["neighbours"]) < len(ids)
    assert found["notice"].startswith(
        f"Only {len(found['neighbours'])} of 6 neighbours are shown, to keep to 200 tokens (RESPONSE_TOKEN_LIMIT): "
    )


def test_what_the_connectors_answer_keeps_to_the_budget(sparing: McpClient):
    found = sparing.call("search", query="shark")
    assert found.structured_content
    hits = found.structured_content["results"]

    assert 0 < len(hits) < 10
    assert found.structured_content["notice"].startswith(f"Only the first {len(hits)} of ")
    for result in (found, sparing.call("fetch", id=hits[0]["id"])):
        assert len(text_of(result).encode()) <= BUDGET
        assert json.loads(text_of(result)) == result.structured_content


def test_the_schema_keeps_to_the_budget_and_says_what_is_left_out(sparing: McpClient):
    result = sparing.call("get-schema")

    assert not result.is_error
    assert len(text_of(result)) <= BUDGET
    assert result.structured_content
    assert result.structured_content["notice"]
    assert result.structured_content["notice"] in text_of(result)
