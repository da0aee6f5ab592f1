"""Which labels are looked at whole, and how types are named."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.database.schema.sample import rarest, type_name


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


def test_the_rarest_are_those_that_can_be_looked_at_whole():
    counts = {"C": 6_000, "A": 2_500, "B": 1_500, "D": 1, "unasked": 1}
    assert rarest(["A", "B", "C", "D"], counts) == ["D", "B", "A"]
    assert rarest(["C", "A", "B"], counts | {"C": 6_001}) == ["B", "A"]
    assert rarest(["C", "A", "B"], counts | {"C": 6_000}) == ["B", "A", "C"]
