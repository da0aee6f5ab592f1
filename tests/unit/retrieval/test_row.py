"""One row of a retrieval query as an item."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_neo4j_vector_graphrag.retrieval.row import entity_as_document, item_from_row


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
        ({"text": "a", "score": "high"}, "a", {}),
        ({"text": "a", "score": True}, "a", {}),
        ({"text": ""}, "", {}),
        ({}, "{}", {}),
    ],
)
def test_a_row_becomes_text_score_and_metadata(row: dict[str, Any], content: str, metadata: dict[str, Any]):
    item = item_from_row(row)
    assert (item.content, item.metadata) == (content, metadata)


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
