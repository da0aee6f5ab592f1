"""What counting tells of pairs, how much is looked at, and how types are named."""

from __future__ import annotations

import itertools

import pytest

from mcp_neo4j_vector_graphrag.database.schema_sample import certain_pairs, rarest, sample_size, type_name


@pytest.mark.parametrize(
    ("value_type", "named"),
    [
        ("STRING NOT NULL", "STRING"),
        ("LIST<STRING NOT NULL | INTEGER NOT NULL> NOT NULL", "LIST<STRING | INTEGER>"),
        ("VECTOR<FLOAT32 NOT NULL>(384) NOT NULL", "VECTOR(384)"),
        ("VECTOR(3)", "VECTOR(3)"),
        ("ZONED DATETIME NOT NULL", "ZONED DATETIME"),
    ],
)
def test_types_are_named_in_short(value_type: str, named: str):
    assert type_name(value_type) == named


@pytest.mark.parametrize(("names", "size"), [(0, 1_000), (1, 1_000), (5, 1_000), (50, 100), (300, 16), (9_000, 10)])
def test_the_look_is_shared_by_the_names(names: int, size: int):
    assert sample_size(names) == size


def test_the_rarest_are_those_that_can_be_looked_at_whole():
    counts = {"C": 12_000, "A": 5_000, "B": 3_000, "D": 1, "unasked": 1}
    assert rarest(["A", "B", "C", "D"], counts) == ["D", "B", "A"]
    assert rarest(["C", "A", "B"], counts | {"C": 12_001}) == ["B", "A"]
    assert rarest(["C", "A", "B"], counts | {"C": 12_000}) == ["B", "A", "C"]


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
