"""What counting tells of pairs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_neo4j_vector_graphrag.database.schema.pairs import certain_pairs, read_pairs

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database


@pytest.mark.parametrize(
    ("total", "starts", "ends", "certain"),
    [
        (10, {"A": 10}, {"B": 10}, {("A", "B")}),
        (10, {"A": 1, "C": 9}, {"B": 10}, {("A", "B"), ("C", "B")}),
        (10, {"A": 5, "C": 5}, {"B": 5, "D": 5}, set()),
        (10, {"A": 6, "C": 4}, {"B": 5, "D": 5}, {("A", "B"), ("A", "D")}),
    ],
)
def test_shares_that_together_exceed_the_whole_must_meet(
    total: int, starts: dict[str, int], ends: dict[str, int], certain: set[tuple[str, str]]
):
    assert certain_pairs(total, starts, ends) == certain


def test_certain_pairs_are_those_of_every_graph_with_such_counts():
    """Brute force: all ways to join four starts, some of two labels, to four ends."""
    starts, ends = ({"A"}, {"A"}, {"A", "C"}, {"C"}), ({"B"}, {"B"}, {"B", "D"}, {"D"})
    seen = [
        {(a, b) for start, place in enumerate(order) for a in starts[start] for b in ends[place]}
        for order in itertools.permutations(range(4))
    ]
    assert certain_pairs(4, {"A": 3, "C": 2}, {"B": 3, "D": 2}) == set.intersection(*seen)


def test_a_name_stands_in_a_statement_as_it_is_and_in_quotes():
    asked: list[str] = []

    class Asked:
        def read(self, statement: str, *_: object) -> list[Any]:
            asked.append(statement)
            return []

    read_pairs(cast("Database", Asked()), {("a{}b", "R{}`", True), ("c", "T", False)}, float("inf"))
    [statement] = asked
    assert "MATCH (n:`a{}b`) WITH n LIMIT 1000 MATCH (n)-[:`R{}```]->(m)" in statement
    assert "MATCH (n:`c`) WITH n LIMIT 1000 MATCH (m)-[:`T`]->(n)" in statement
