"""What is told of labels and types that do not exist."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.database.schema import _chosen
from mcp_neo4j_vector_graphrag.errors import QuestionError


@pytest.mark.parametrize(
    ("labels", "known", "told"),
    [
        (["x", " x", "x"], ["A", "B"], "There is no label 'x': the labels are 'A', 'B'."),
        (["x", "A", "y"], ["A"], "There are no labels 'x', 'y': the label is 'A'."),
        (["x"], [], "There is no label 'x': this database has no labels."),
    ],
)
def test_names_that_do_not_exist_are_told_once_each(labels: list[str], known: list[str], told: str):
    with pytest.raises(QuestionError) as caught:
        _chosen(labels, [], known, [])
    assert str(caught.value) == told
