"""How texts and names are told."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.errors import listed

MANY = [f"n{number}" for number in range(25)]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], ""),
        (["b", "a"], "'b', 'a'"),
        (MANY[:20], ", ".join(f"'{name}'" for name in MANY[:20])),
        (MANY, ", ".join(f"'{name}'" for name in MANY[:20]) + " and 5 more"),
    ],
)
def test_the_first_twenty_names_are_listed_and_the_others_counted(names: list[str], told: str):
    assert listed(names) == told


def test_names_are_cut_if_told_to():
    names = ["two\nlines", "x" * 9]
    assert listed(names) == f"'two\nlines', '{'x' * 9}'"
    assert listed(names, 9) == f"'two lines', '{'x' * 9}'"
    assert listed(names, 5) == "'two …', 'xxxx…'"
