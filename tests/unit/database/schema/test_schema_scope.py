"""Which labels and types are shown, and what is told of those that do not exist."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.database.schema.counts import Counts
from mcp_neo4j_vector_graphrag.database.schema.scope import Scope, scope_of
from mcp_neo4j_vector_graphrag.errors import QuestionError

COUNTS = Counts(
    labels={"Film": 8, "my `label`": 1, "Bare": 0},
    types={"SAW": 2, "KNOWS": 1, "MADE": 3},
    starts={"SAW": {"Person": 2}, "MADE": {"Film": 3}},
    ends={"SAW": {"Film": 2}},
)


@pytest.mark.parametrize(
    ("labels", "types", "expected"),
    [
        ([], [], Scope(COUNTS.labels, COUNTS.types)),
        (["Film"], [], Scope({"Film"}, {"SAW", "MADE"}, types_by_labels=True)),
        (["Film"], ["KNOWS"], Scope({"Film"}, {"KNOWS"})),
        ([], ["KNOWS"], Scope(set(), {"KNOWS"})),
        ([" :`my ``label``` ", r":`B\u0061re`"], ["SAW"], Scope({"my `label`", "Bare"}, {"SAW"})),
    ],
    ids=["all", "labels-with-their-types", "both", "types-alone", "as-in-cypher"],
)
def test_a_caller_sees_what_was_asked_for(labels: list[str], types: list[str], expected: Scope):
    assert scope_of(labels, types, COUNTS) == expected


def test_without_statistics_any_type_may_touch_a_label():
    uncertain = Counts(COUNTS.labels, COUNTS.types, complete=False)
    assert scope_of(["Film"], [], uncertain) == Scope({"Film"}, {"SAW", "KNOWS", "MADE"}, types_by_labels=True)


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
        scope_of(labels, [], Counts(dict.fromkeys(known, 1), {}))
    assert str(caught.value) == told
