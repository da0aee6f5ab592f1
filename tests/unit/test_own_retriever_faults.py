"""What retrievers that are not ours raise or return comes to a client as our errors and our values."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ServiceUnavailable
from neo4j_graphrag.exceptions import (
    EmbeddingsGenerationError,
    RateLimitError,
    SearchQueryParseError,
    SearchValidationError,
    Text2CypherRetrievalError,
)
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from clients import client, items_of, text_of
from mcp_neo4j_vector_graphrag.server import create_mcp_server

SECRET = "sk-0wn-s3cr3t-4711"
TOOL = "neo4j_vector"


class Own(Retriever):
    """Returns what it was given, or raises it."""

    VERIFY_NEO4J_VERSION = False

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    def get_search_results(self, query_text: str) -> RawSearchResult:  # noqa: ARG002 - every search has a question
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


class Lazy(Own):
    """Fails only when its rows are formatted."""

    def get_result_formatter(self) -> Any:
        def formatter(_: neo4j.Record) -> RetrieverResultItem:
            raise self.outcome

        return formatter

    def get_search_results(self, query_text: str) -> RawSearchResult:
        return rows({"text": query_text})


class AsyncOnly(Own):
    """Keeps something that belongs to an event loop, as a connection does."""

    lock: asyncio.Lock | None = None

    async def get_search_results(self, query_text: str) -> RawSearchResult:  # type: ignore[override] # that is the point
        self.lock = self.lock or asyncio.Lock()
        async with self.lock:
            await asyncio.sleep(0)
            self.loops = {*getattr(self, "loops", ()), asyncio.get_running_loop()}
            return super().get_search_results(query_text)


def rows(*given: dict[str, Any], metadata: dict[str, Any] | None = None) -> RawSearchResult:
    return RawSearchResult(records=[neo4j.Record(row) for row in given], metadata=metadata)


def own(kind: str, retriever: str = "Own") -> str:
    return (
        f"The retriever {retriever} failed ({kind}): check its index, its embedder and its connection; the server's "
        "log has the details."
    )


@pytest.mark.parametrize(
    ("retriever", "told"),
    [
        (Own(Exception(f"No index {SECRET}")), own("Exception")),
        (Own(AttributeError(f"'Own' has no {SECRET}")), own("AttributeError")),
        (Own(StopIteration(SECRET)), own("StopIteration")),
        (Own(None), "The retriever Own returned NoneType: return a RawSearchResult."),
        (Own(["a row"]), "The retriever Own returned list: return a RawSearchResult."),
        (Lazy(KeyError(SECRET)), own("KeyError", "Lazy")),
        (AsyncOnly(RuntimeError(SECRET)), own("RuntimeError", "AsyncOnly")),
        (
            Own(EmbeddingsGenerationError(f"Incorrect API key {SECRET}")),
            "The retriever's embedder failed: check its model, its key and its network.",
        ),
        (
            Own(RateLimitError(f"key {SECRET}")),
            "The retriever's language model failed: check its model, its key and its network.",
        ),
        (Own(SearchValidationError([{"input": SECRET}])), "The retriever can't search for this question: rephrase it."),
        (
            Own(SearchQueryParseError(f"Failed to parse {SECRET}")),
            "The retriever's full-text search can't read this question: rephrase it, without special characters.",
        ),
        (
            Own(Text2CypherRetrievalError(f"Refusing to execute CREATE ({SECRET})")),
            "The question led to no query that reads the graph: rephrase it, with the graph's own words.",
        ),
        (
            Own(ServiceUnavailable(f"bolt://neo4j:{SECRET}@db")),
            "Neo4j can't be reached: check that it is running and that NEO4J_URI is right, then ask again.",
        ),
    ],
)
def test_what_a_retriever_raises_is_one_line_of_ours(retriever: Own, told: str):
    with client(create_mcp_server(retriever)) as mcp:
        said = mcp.refused(TOOL, query="a shark")
    assert said == told
    assert SECRET not in said


def test_a_fault_of_pydantic_in_a_retriever_is_not_the_callers():
    class Broken(Own):
        def get_search_results(self, query_text: str) -> RawSearchResult:
            return RawSearchResult(records=[{"text": query_text}])  # type: ignore[list-item] # that is its fault

    with client(create_mcp_server(Broken(None))) as mcp:
        assert mcp.refused(TOOL, query="a shark") == own("ValidationError", "Broken")


def test_the_operator_finds_the_cause_in_the_log_once(caplog: pytest.LogCaptureFixture):
    with client(create_mcp_server(Own(Exception("No index with name docs found")))) as mcp:
        mcp.refused(TOOL, query="a shark")
    logged = [record for record in caplog.records if record.exc_info]
    assert [str(record.exc_info[1]) for record in logged if record.exc_info] == ["No index with name docs found"]
    assert [record.levelno for record in logged] == [logging.ERROR]


def test_a_retriever_that_is_asynchronous_answers_each_time_in_one_loop():
    retriever = AsyncOnly(rows({"text": "found"}))
    with client(create_mcp_server(retriever)) as mcp:
        answers = [items_of(mcp.call(TOOL, query="a shark")) for _ in range(3)]
    assert [[item["text"] for item in items] for items in answers] == [["found"]] * 3
    assert len(retriever.loops) == 1


@pytest.mark.parametrize(
    ("row", "item"),
    [
        ({"text": "t", "on": neo4j.time.Date(2024, 2, 29)}, {"text": "t", "metadata": {"on": "2024-02-29"}}),
        ({"text": "t", "score": float("nan")}, {"text": "t", "metadata": {}}),
        ({"text": "t", "score": float("inf"), "n": float("-inf")}, {"text": "t", "metadata": {"n": None}}),
        ({"text": "t", "score": 0.25}, {"text": "t", "score": 0.25, "metadata": {}}),
        ({"text": "t", "v": [0.5] * 384, "k": [0.5, 1.5]}, {"text": "t", "metadata": {"k": [0.5, 1.5]}}),
        ({"text": "t", "metadata": {"deep": [{"v": [0.5] * 1536}]}}, {"text": "t", "metadata": {"deep": [{}]}}),
        ({"text": None, "year": 1975}, {"text": '{"text":null,"year":1975}', "metadata": {}}),
        ({"text": "t", "metadata": "aside"}, {"text": "t", "metadata": {"metadata": "aside"}}),
    ],
)
@pytest.mark.parametrize("metadata", [None, {}, {"notice": 7, "query_vector": [0.5] * 1536}])
def test_what_a_retriever_returns_is_our_values(
    row: dict[str, Any], item: dict[str, Any], metadata: dict[str, Any] | None
):
    with client(create_mcp_server(Own(rows(row, metadata=metadata)))) as mcp:
        answer = mcp.call(TOOL, query="a shark")
    assert items_of(answer) == [{"score": None, **item}]
    assert "0.5,0.5" not in text_of(answer)


def test_a_vector_of_an_unusual_length_stays_away_where_the_retriever_knows_its_index():
    class Stock(Own):
        _embedding_node_property = "emb"
        _embedding_dimension = 5

    row = {"text": "t", "emb": [0.5, 0.5], "other": [0.5] * 5, "kept": [0.5] * 4}
    with client(create_mcp_server(Stock(rows(row)))) as mcp:
        [item] = items_of(mcp.call(TOOL, query="a shark"))
    assert item["metadata"] == {"kept": [0.5] * 4}


def test_a_retriever_with_a_notice_of_its_own_has_it_told():
    with client(create_mcp_server(Own(rows({"text": "t"}, metadata={"notice": "Half of it."})))) as mcp:
        assert text_of(mcp.call(TOOL, query="a shark")).endswith("Half of it.")
