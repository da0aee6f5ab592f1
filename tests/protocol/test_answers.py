"""What comes back when the rows are many, large, empty or odd."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import jsonschema
import pytest

from clients import ERAS, client, environment, items_of, text_of
from mcp_neo4j_vector_graphrag.server import build
from mcp_neo4j_vector_graphrag.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from clients import McpClient
    from films import Films

    Serving = Callable[[str], AbstractContextManager[McpClient]]

TOOL = "neo4j_vector"


@pytest.fixture(params=ERAS)
def serving(request: pytest.FixtureRequest, films: Films, monkeypatch: pytest.MonkeyPatch) -> Serving:
    """Return what connects to a server with a retrieval query, in each protocol era."""
    for name in set(os.environ) - set(environment()):
        monkeypatch.delenv(name)

    @contextmanager
    def connected(query: str) -> Iterator[McpClient]:
        for name, value in films.variables(RETRIEVAL_QUERY=query).items():
            monkeypatch.setenv(name, value)
        with client(build(load({})), request.param) as mcp:
            yield mcp

    return connected


def test_no_rows_are_structured_content_and_a_sentence(serving: Serving):
    with serving("WITH node, score WHERE false RETURN node.title AS text, score") as mcp:
        result = mcp.call(TOOL, query="a shark")

        assert items_of(result) == []
        assert text_of(result) == "No results: the search ran, and nothing was found."
        jsonschema.validate(result.structured_content, mcp.tool().output_schema)


def test_nan_and_infinity_become_null_and_the_rows_stay(serving: Serving):
    query = "RETURN node.title AS text, {deep: [1.5, {more: -1.0 / 0.0}], nan: 0.0 / 0.0} AS metadata, score"
    with serving(query) as mcp:
        result = mcp.call(TOOL, query="a shark", top_k=3)

        assert [item["metadata"] for item in items_of(result)] == [{"deep": [1.5, {"more": None}], "nan": None}] * 3
        assert '{"deep":[1.5,{"more":null}],"nan":null}' in text_of(result)


def test_a_score_that_is_no_number_is_null(serving: Serving):
    with serving("RETURN node.title AS text, 0.0 / 0.0 AS score") as mcp:
        result = mcp.call(TOOL, query="a shark", top_k=2)

        assert [item["score"] for item in items_of(result)] == [None, None]
        jsonschema.validate(result.structured_content, mcp.tool().output_schema)


def test_results_that_are_too_much_are_cut_at_whole_items_and_it_is_told(serving: Serving):
    # 8192 bytes and a heading of 14 are 2,052 tokens: three fit 8,000, four don't.
    query = "UNWIND range(1, 50) AS i RETURN reduce(s = 'x', _ IN range(1, 13) | s + s) AS text, 0.5 AS score"
    with serving(query) as mcp:
        result = mcp.call(TOOL, query="a shark", top_k=1)

        assert [item["text"] for item in items_of(result)] == ["x" * 8192] * 3
        notice = (
            "Only the first 3 of 50 results are shown, to keep to 8000 tokens (RESPONSE_TOKEN_LIMIT): "
            "ask a narrower question, or for fewer results, for the others."
        )
        assert result.structured_content["notice"] == notice
        assert text_of(result).endswith(notice)
        jsonschema.validate(result.structured_content, mcp.tool().output_schema)


def test_fifty_rows_of_a_hundred_kilobytes_are_cut_to_a_readable_answer(serving: Serving):
    query = (
        "UNWIND range(1, 50) AS i "
        "RETURN reduce(s = 'x', _ IN range(1, 17) | s + s) AS text, {place: i} AS metadata, 0.5 AS score"
    )
    with serving(query) as mcp:
        result = mcp.call(TOOL, query="a shark", top_k=1)

        [item] = items_of(result)
        assert set(item["text"]) == {*"x …"}
        assert 31_000 < len(item["text"]) <= 32_000
        assert item["metadata"] == {"place": 1}
        assert "1 of 50" in result.structured_content["notice"]
        assert len(json.dumps(result.structured_content)) < 41_000


def test_large_metadata_counts_too(serving: Serving):
    query = (
        "UNWIND range(1, 50) AS i "
        "RETURN 'row' AS text, {large: reduce(s = 'x', _ IN range(1, 17) | s + s)} AS metadata, 0.5 AS score"
    )
    with serving(query) as mcp:
        result = mcp.call(TOOL, query="a shark", top_k=1)

        assert len(text_of(result)) < 41_000
        assert len(json.dumps(result.structured_content)) < 41_000
        assert "1 of 50" in result.structured_content["notice"]


def test_values_of_neo4j_are_plain_json_and_vectors_are_left_out(serving: Serving):
    query = """
    RETURN node.title AS text, score, {
        day: date('2010-07-16'), at: datetime('2010-07-16T20:00:00Z'), long: duration('PT2H28M'),
        place: point({longitude: 2.35, latitude: 48.85}), vector: node.plotEmbedding, whole: node,
        numbers: [1, 2, 3], none: null, yes: true
    } AS metadata
    """
    with serving(query) as mcp:
        result = mcp.call(TOOL, query="a great white shark", top_k=1)

        [item] = items_of(result)
        metadata = item["metadata"]
        whole = metadata.pop("whole")
        assert metadata == {
            "day": "2010-07-16",
            "at": "2010-07-16T20:00:00+00:00",
            "long": "PT2H28M",
            "place": {"srid": 4326, "x": 2.35, "y": 48.85},
            "numbers": [1, 2, 3],
            "none": None,
            "yes": True,
        }
        assert whole["labels"] == ["Movie"]
        assert set(whole["properties"]) == {"title", "plot", "imdbRating"}


@pytest.mark.parametrize(
    ("columns", "text", "metadata"),
    [
        ("node.title AS title, score", "Jaws", {}),
        ("node.title AS title, node.plot AS plot, score", None, {}),
        ("null AS text, score", '{"text":null}', {}),
        ("node.imdbRating AS rating, score", '{"rating":8.1}', {}),
        ("node.title AS text, 'alone' AS metadata, score", "Jaws", {"metadata": "alone"}),
        ("node.title AS text, node.imdbRating AS rating, score", "Jaws", {"rating": 8.1}),
    ],
    ids=["one-text-column", "two-text-columns", "null", "no-text", "metadata-is-no-map", "more-columns"],
)
def test_any_columns_make_an_item(serving: Serving, columns: str, text: str | None, metadata: dict[str, object]):
    with serving(f"RETURN {columns}") as mcp:
        [item] = items_of(mcp.call(TOOL, query="a great white shark", top_k=1))

        if text is None:
            assert json.loads(item["text"])["title"] == "Jaws"
        else:
            assert item["text"] == text
        assert item["metadata"] == metadata
        assert 0.5 < item["score"] <= 1
