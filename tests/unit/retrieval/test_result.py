"""What a search answers, and what is left out of a long answer."""

from __future__ import annotations

import json

import pytest
from neo4j_graphrag.types import RetrieverResultItem

from mcp_neo4j_vector_graphrag.budget import tokens
from mcp_neo4j_vector_graphrag.retrieval.result import (
    NO_RESULTS,
    Document,
    DocumentResult,
    Item,
    RankedResult,
    SearchResult,
    as_text,
)


def items(*texts: str) -> list[RetrieverResultItem]:
    return [RetrieverResultItem(content=text, metadata=None) for text in texts]


def test_score_and_metadata_are_told_beside_the_text():
    [item] = SearchResult.collect([RetrieverResultItem(content="a", metadata={"score": 0.5, "title": "é"})]).results
    assert item == Item(text="a", score=0.5, metadata={"title": "é"})
    assert item.as_text() == 'score: 0.5000 {"title":"é"}\na'


def test_several_results_are_numbered_in_their_order():
    assert as_text(SearchResult.collect(items("a", "b"))) == "[1] a\n\n[2] b"


def test_no_results_are_a_sentence_and_an_empty_list():
    assert SearchResult.collect([]) == SearchResult(results=[])
    assert as_text(SearchResult.collect([])) == NO_RESULTS


@pytest.mark.parametrize(("content", "text"), [({"a": "é"}, '{"a":"é"}'), ([1, 2], "[1,2]"), ("a", "a")])
def test_content_that_is_no_text_is_json(content: object, text: str):
    assert SearchResult.collect([RetrieverResultItem(content=content)]).results[0].text == text


@pytest.mark.parametrize(("score", "metadata"), [("high", {"score": "high"}), (True, {"score": True}), (None, {})])
def test_a_score_that_is_no_number_is_none_and_stays_in_the_metadata(score: object, metadata: dict[str, object]):
    [item] = SearchResult.collect([RetrieverResultItem(content="a", metadata={"score": score})]).results
    assert item == Item(text="a", score=None, metadata=metadata)


def test_what_fits_exactly_with_its_numbers_is_whole():
    # "[1] " twice and a blank line are 10 bytes, so that 1,012 are 253 tokens.
    result = SearchResult.collect(items("a" * 400, "b" * 602), limit=253)
    assert [len(item.text) for item in result.results] == [400, 602]
    assert result.notice is None
    assert len(SearchResult.collect(items("a" * 400, "b" * 603), limit=253).results) == 1


def test_whole_results_are_left_out_at_the_end_and_it_is_told():
    result = SearchResult.collect(items("a" * 400, "b" * 601, "c"), limit=250)
    assert [item.text for item in result.results] == ["a" * 400]
    assert result.notice == (
        "Only the first 1 of 3 results are shown, to keep to 250 tokens (RESPONSE_TOKEN_LIMIT): "
        "ask a narrower question, or for fewer results, for the others."
    )
    assert as_text(result).endswith(result.notice)


def test_a_first_result_that_is_too_long_by_itself_is_cut_at_a_word_with_a_mark():
    result = SearchResult.collect(items("word " * 400), limit=250)
    # Of 1,000 bytes "[1] ", the blank line and the notice take 56.
    assert result.results[0].text == "word " * 187 + "word …"
    assert result.notice == "Cut, to keep to 250 tokens (RESPONSE_TOKEN_LIMIT)."


def test_a_document_that_is_too_long_has_its_long_texts_cut():
    long = [RetrieverResultItem(content={"title": "a", "plot": "word " * 400}, metadata={"id": "4:x:1"})]
    [document] = DocumentResult.collect(long, limit=250).results
    assert document == Document(doc={"title": "a", "plot": "word " * 98 + "word …"}, id="4:x:1")


def test_a_document_that_is_too_long_by_a_list_keeps_all_else():
    doc = {"title": "Jaws", "text": "A shark. " * 20, "samples": list(range(20_000))}
    result = DocumentResult.collect([RetrieverResultItem(content=doc, metadata={"id": "4:x:1"})])
    assert result.results == [Document(doc={"title": "Jaws", "text": "A shark. " * 20}, id="4:x:1")]
    assert result.notice == ("Cut, to keep to 8000 tokens (RESPONSE_TOKEN_LIMIT). Too long to be shown: 'samples'.")


def test_metadata_that_are_too_long_are_left_out_one_by_one():
    long = [RetrieverResultItem(content="a" * 10, metadata={"year": 1975, "samples": list(range(1000))})]
    result = SearchResult.collect(long, limit=250)
    assert result.results == [Item(text="a" * 10, metadata={"year": 1975})]
    assert str(result.notice).endswith("Too long to be shown: 'samples'.")


def test_metadata_counts_and_is_left_out_when_it_is_what_is_too_long():
    long = [RetrieverResultItem(content="a" * 10, metadata={"score": 0.5, "b": "b" * 2000})]
    result = SearchResult.collect(long, limit=250)
    assert result.results == [Item(text="a" * 10, score=0.5)]
    assert result.notice is not None


def test_metadata_that_fits_stays_beside_a_text_that_is_cut():
    long = [RetrieverResultItem(content="a" * 2000, metadata={"b": 1})]
    result = SearchResult.collect(long, limit=250)
    assert result.results[0].metadata == {"b": 1}
    assert len(as_text(result).encode()) == 1000


@pytest.mark.parametrize("limit", [200, 1000])
@pytest.mark.parametrize(
    "content",
    [
        {"a": 1},
        {"text": "word " * 40},
        {"text": "é" * 40_000, "list": [*range(20_000)], **{f"name{place}" * 9: [1] * 99 for place in range(50)}},
    ],
    ids=["short", "longer", "long"],
)
@pytest.mark.parametrize("notice", [None, "word " * 5000], ids=["", "notice"])
def test_the_whole_text_keeps_to_the_limit(content: dict[str, object], limit: int, notice: str | None):
    metadata = {"id": "4:01234567-89ab-cdef-0123-456789abcdef:12345", "score": 0.5, "vector_score": 0.5}
    found = [RetrieverResultItem(content=content, metadata={**metadata, "vector_rank": 1})] * 300
    for kind in (SearchResult, DocumentResult, RankedResult):
        result = kind.collect(found, limit, notice)
        assert result.results
        assert "of 300 results are shown" in str(result.notice)
        assert tokens(as_text(result)) <= limit


def test_a_notice_alone_keeps_to_the_limit():
    # A quarter of 800 bytes.
    assert SearchResult.collect([], 200, "word " * 500).notice == "word " * 38 + "word …"
    assert SearchResult.collect([], 200, "word " * 100).notice == "word " * 100


def test_a_documents_id_that_takes_half_of_the_room_is_left_out():
    [document] = (
        found := DocumentResult.collect([RetrieverResultItem(content={"a": 1}, metadata={"id": "x" * 900})], 200)
    ).results
    assert document == Document(doc={"a": 1})
    assert str(found.notice).endswith("Too long to be shown: 'id'.")


def test_fifty_rows_of_100_kilobytes_are_valid_json_within_the_limit():
    result = SearchResult.collect(items(*["x" * 100_000] * 50), limit=10_000)
    assert SearchResult.model_validate(json.loads(result.model_dump_json())) == result
    assert len(as_text(result)) < 41_000
    assert result.notice is not None
    assert "1 of 50" in result.notice


def test_a_hybrid_result_says_how_each_half_ranked_it():
    both = {"score": 0.75, "id": "4:x:1", "vector_score": 0.9, "vector_rank": 2, "text_score": 3.5, "text_rank": 1}
    one = {"score": 0.25, "id": "4:x:2", "vector_score": None, "vector_rank": None, "text_score": 1.5, "text_rank": 2}
    found = RankedResult.collect(
        [RetrieverResultItem(content={"a": 1}, metadata=both), RetrieverResultItem(content={"a": 2}, metadata=one)]
    )
    assert [each.model_dump() for each in found.results] == [{"doc": {"a": 1}, **both}, {"doc": {"a": 2}, **one}]
    assert as_text(found) == (
        '[1] score: 0.7500 by meaning: 2 (0.9000) by words: 1 (3.5000) id: 4:x:1\n{"a":1}\n\n'
        '[2] score: 0.2500 by words: 2 (1.5000) id: 4:x:2\n{"a":2}'
    )
