"""The items of any retriever's answer, without a database: records as the driver makes them."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest
from neo4j.time import Date
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from mcp_neo4j_vector_graphrag.errors import OwnRetrieverError
from mcp_neo4j_vector_graphrag.retrieval.items import items_of, search
from mcp_neo4j_vector_graphrag.retrieval.result import Item, SearchResult
from mcp_neo4j_vector_graphrag.retrieval.row import item_from_row

ROWS = [
    neo4j.Record({"text": "first", "score": 0.9, "metadata": {"on": Date(2024, 2, 29)}}),
    neo4j.Record({"text": "second", "score": float("nan"), "metadata": {"v": [0.5] * 1536}}),
]


class Stock(Retriever):
    """Has the library's own formatter, as its retrievers have."""

    VERIFY_NEO4J_VERSION = False

    def __init__(self, rows: list[neo4j.Record]) -> None:
        self.rows = rows
        self.asked: dict[str, object] = {}

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        self.asked = {"query_text": query_text, "top_k": top_k}
        return RawSearchResult(records=self.rows)


class WithoutTopK(Stock):
    """Decides itself how much it returns."""

    def get_search_results(self, query_text: str) -> RawSearchResult:
        self.asked = {"query_text": query_text}
        return RawSearchResult(records=self.rows)


class OwnFormatter(Stock):
    """Has a formatter of its author's."""

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        return RetrieverResultItem(content=f"- {record['text']}", metadata={"on": Date(2024, 2, 29), "v": [0.5] * 768})


def test_a_stock_retrievers_rows_have_no_python_notation():
    first, second = search(Stock(ROWS), "what?", {"top_k": 2}).items
    assert (first.content, first.metadata) == ("first", {"score": 0.9, "on": "2024-02-29"})
    assert (second.content, second.metadata) == ("second", {})


def test_a_score_in_a_rows_own_map_stays_beside_the_similarity():
    """In the answer of a stock retriever, as in that of one whose formatter is this project's, both are there."""
    both = neo4j.Record({"text": "a", "score": 0.9, "metadata": {"score": 5}})
    own = neo4j.Record({"text": "b", "metadata": {"score": Date(2024, 2, 29)}})
    for formatter in (None, item_from_row):
        retriever = Stock([both, own])
        retriever.result_formatter = formatter
        answer = SearchResult.collect(search(retriever, "what?", {"top_k": 2}).items)
        assert answer.results == [
            Item(text="a", score=0.9, metadata={"score": 5}),
            Item(text="b", score=None, metadata={"score": "2024-02-29"}),
        ]


def test_the_same_after_the_librarys_pipeline_has_looked_at_the_retriever():
    """Its classes share one cache of what `isinstance` says, so that an answer for one is taken for another's."""

    class Fresh(Stock):
        pass

    retriever = Fresh(ROWS)
    isinstance(retriever, Retriever)
    assert [item.content for item in search(retriever, "what?", {"top_k": 2}).items] == ["first", "second"]


def test_the_question_and_the_number_are_handed_on():
    retriever = Stock(ROWS)
    search(retriever, "what?", {"top_k": 7})
    assert retriever.asked == {"query_text": "what?", "top_k": 7}


def test_a_retriever_that_takes_no_number_is_not_given_one():
    retriever = WithoutTopK(ROWS)
    assert [item.content for item in search(retriever, "what?", {"top_k": 7}).items] == ["first", "second"]
    assert retriever.asked == {"query_text": "what?"}


def test_an_authors_formatter_is_used_and_its_values_are_plain():
    [item, _] = items_of(OwnFormatter(ROWS), RawSearchResult(records=ROWS))
    assert (item.content, item.metadata) == ("- first", {"on": "2024-02-29"})


def test_a_formatter_that_was_given_is_used():
    retriever = Stock(ROWS)
    retriever.result_formatter = lambda record: RetrieverResultItem(content=record["text"].upper())
    assert [item.content for item in items_of(retriever, RawSearchResult(records=ROWS))] == ["FIRST", "SECOND"]


@pytest.mark.parametrize("rows", [[], [neo4j.Record({})]])
def test_few_or_no_columns_are_no_fault(rows: list[neo4j.Record]):
    assert [item.content for item in items_of(Stock(rows), RawSearchResult(records=rows))] == ["{}"] * len(rows)


def test_what_is_no_result_of_a_retriever_is_told():
    class Nothing(Stock):
        def get_search_results(self, query_text: str) -> Any:
            del query_text

    with pytest.raises(OwnRetrieverError) as caught:
        search(Nothing([]), "what?", {})
    assert str(caught.value) == "The retriever Nothing returned NoneType: return a RawSearchResult."


@pytest.mark.parametrize(
    ("content", "expected"),
    [({"on": Date(2024, 2, 29), "é": [1]}, '{"on":"2024-02-29","é":[1]}'), (["a", 1], '["a",1]')],
)
def test_a_map_or_a_list_of_an_authors_formatter_is_json_text(content: Any, expected: str):
    retriever = Stock(ROWS[:1])
    retriever.result_formatter = lambda _: RetrieverResultItem(content=content)
    [item] = items_of(retriever, RawSearchResult(records=ROWS[:1]))
    assert item.content == expected
