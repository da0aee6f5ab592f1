"""What the count store tells, and what is counted where a user may not read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag.database.schema.counts import Counts, read_counts

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database

STORED = {
    "nodes": [{"count": 11}, {"label": "A", "count": 9}, {"label": "Gone", "count": 0}],
    "relationships": [
        {"count": 3},
        {"relationshipType": "HAS", "count": 3},
        {"relationshipType": "HAS", "startLabel": "A", "count": 3},
        {"relationshipType": "HAS", "endLabel": "B", "count": 2},
        {"relationshipType": "GONE", "count": 0},
    ],
}


class Counted:
    """A database with nine nodes of a label and three relationships of a type, whose count store may be closed."""

    def __init__(self, refusal: str | None = None) -> None:
        self._refusal = refusal

    def read(self, statement: str, _: object, __: float) -> list[dict[str, Any]]:
        if "db.stats.retrieve" in statement:
            if self._refusal:
                raise Neo4jError._hydrate_neo4j(code=self._refusal, message="")
            return [STORED]
        answers = {
            "db.labels": [{"name": "A"}, {"name": "Gone"}],
            "db.relationshipTypes": [{"name": "HAS"}],
            "(n:`A`)": [{"place": 0, "count": 9}, {"place": 1, "count": 0}],
            "[n:`HAS`]": [{"place": 0, "count": 3}],
        }
        return next(rows for key, rows in answers.items() if key in statement)


def counts(database: Counted) -> Counts:
    return read_counts(cast("Database", database), float("inf"))


def test_the_count_store_tells_the_labels_at_the_ends_of_types():
    assert counts(Counted()) == Counts({"A": 9}, {"HAS": 3}, starts={"HAS": {"A": 3}}, ends={"HAS": {"B": 2}})


def test_without_the_count_store_labels_and_types_are_counted_one_by_one():
    forbidden = Counted("Neo.ClientError.Security.Forbidden")
    assert counts(forbidden) == Counts({"A": 9}, {"HAS": 3}, complete=False)


def test_any_other_fault_is_raised():
    with pytest.raises(Neo4jError):
        counts(Counted("Neo.TransientError.General.OutOfMemoryError"))


def test_names_that_nothing_has_are_counted_as_none():
    assert Counts({"A": 9}, {}).with_names(["A", "B"], ["HAS"]) == Counts({"A": 9, "B": 0}, {"HAS": 0})
