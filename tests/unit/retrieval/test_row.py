"""One row of a retrieval query as an item."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.time import Date

from mcp_neo4j_vector_graphrag.retrieval.row import (
    entity_as_document,
    item_from_row,
    row_as_document,
    similarity_and_metadata,
)


@pytest.mark.parametrize(
    ("row", "content", "metadata"),
    [
        (
            {"text": "a", "score": 0.5, "metadata": {"id": 1}},
            "a",
            {"score": 0.5, "id": 1},
        ),
        ({"text": "a"}, "a", {}),
        ({"text": "a", "score": 1}, "a", {"score": 1}),
        ({"text": "a", "title": "t", "score": 0.5, "metadata": None}, "a", {"title": "t", "score": 0.5}),
        ({"title": "the only text", "year": 1999}, "the only text", {"year": 1999}),
        ({"title": "t", "plot": "p", "score": 0.5}, '{"title":"t","plot":"p"}', {"score": 0.5}),
        ({"doc": {"text": "é"}, "score": 0.5}, '{"text":"é"}', {"score": 0.5}),
        ({"text": None, "year": 1999, "score": 0.5}, '{"text":null,"year":1999}', {"score": 0.5}),
        ({"text": None, "title": "t"}, "t", {"text": None}),
        ({"text": "a", "score": 0.5, "metadata": "not a map"}, "a", {"score": 0.5, "metadata": "not a map"}),
        ({"text": "a", "score": 0.5, "metadata": [1]}, "a", {"score": 0.5, "metadata": [1]}),
        ({"text": "a", "score": None}, "a", {}),
        ({"text": "a", "score": "high"}, "a", {"score": "high"}),
        ({"text": "a", "score": True}, "a", {"score": True}),
        ({"year": 1999, "score": "high"}, '{"year":1999}', {"score": "high"}),
        ({"text": "a", "year": 1, "metadata": {"year": 2}}, "a", {"year_column": 1, "year": 2}),
        ({"text": "a", "year": 1, "metadata": {"year": None}}, "a", {"year_column": 1, "year": None}),
        (
            {"text": "a", "x": 1, "x_column": 2, "metadata": {"x": 3, "x_column_column": 4}},
            "a",
            {"x_column_column_column": 1, "x_column": 2, "x": 3, "x_column_column": 4},
        ),
        (
            {"text": "a", "x": 1, "x_column": 2, "metadata": {"x": 3, "x_column": 4}},
            "a",
            {"x_column_column": 1, "x_column_column_column": 2, "x": 3, "x_column": 4},
        ),
        ({"text": "a", "score": "high", "metadata": {"score": 5}}, "a", {"score_column": "high", "score": 5}),
        ({"text": ""}, "", {}),
        ({}, "{}", {}),
    ],
)
def test_a_row_becomes_text_score_and_metadata(row: dict[str, Any], content: str, metadata: dict[str, Any]):
    item = item_from_row(row)
    assert (item.content, item.metadata) == (content, metadata)


@pytest.mark.parametrize(
    ("row", "similarity", "metadata"),
    [
        ({"text": "a", "score": 0.5}, 0.5, {}),
        ({"text": "a", "score": 0.5, "metadata": {"score": 5, "id": 1}}, 0.5, {"score": 5, "id": 1}),
        ({"text": "a", "score": 0.5, "metadata": {"score": "*****"}}, 0.5, {"score": "*****"}),
        ({"text": "a", "metadata": {"score": 5}}, None, {"score": 5}),
        ({"text": "a", "score": None, "metadata": {"score": 5}}, None, {"score": 5}),
        ({"text": "a", "score": "high"}, None, {"score": "high"}),
    ],
)
def test_the_score_of_an_operators_map_is_no_similarity(
    row: dict[str, Any], similarity: float | None, metadata: dict[str, Any]
):
    item = item_from_row(row)
    assert similarity_and_metadata(item) == (similarity, metadata)
    assert (item.metadata or {}).get("score") == (metadata.get("score") if similarity is None else similarity)


@pytest.mark.parametrize(
    ("row", "content", "score"),
    [
        ({"id": 7, "a": 1, "score": 0.5}, {"id": 7, "a": 1}, 0.5),
        ({"id": 7, "score": "high"}, {"id": 7, "score": "high"}, None),
        ({"id": 7, "score": None}, {"id": 7}, None),
        ({"id": 7}, {"id": 7}, None),
    ],
)
def test_a_row_as_a_map_keeps_a_score_that_is_no_similarity(row: dict[str, Any], content: object, score: float | None):
    item = row_as_document(row)
    assert (item.content, item.metadata) == (content, {"score": score, "id": "7"})


def test_the_row_itself_is_left_as_it_was():
    row = {"text": "a", "score": 0.5, "metadata": {"id": 1}}
    item_from_row(row)
    assert row == {"text": "a", "score": 0.5, "metadata": {"id": 1}}


def test_the_scores_of_both_halves_stand_beside_an_entity():
    about = {
        "id": "4:x:1",
        "labels": ["Doc"],
        "vector_score": 0.9,
        "vector_rank": 2,
        "text_score": None,
        "text_rank": 1,
    }
    item = entity_as_document({"doc": {"a": 1}, "metadata": about, "score": 0.5})
    assert item.content == {"a": 1}
    assert item.metadata == {
        "score": 0.5,
        "id": "4:x:1",
        "vector_score": 0.9,
        "vector_rank": 2,
        "text_score": None,
        "text_rank": 1,
    }


def test_a_date_is_no_text():
    given = {"node": {"title": "Alien"}, "released": Date(1979, 5, 25)}
    item = item_from_row({"node": {"title": "Alien"}, "released": "1979-05-25"}, given)
    assert item.content == '{"node":{"title":"Alien"},"released":"1979-05-25"}'
