"""The statements of a walk as text."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_neo4j_vector_graphrag.retrieval.hops import ends_statement, hop_statement


@pytest.mark.parametrize(
    ("direction", "pattern"),
    [("out", "(via)-[step]->(near)"), ("in", "(via)<-[step]-(near)"), ("both", "(via)-[step]-(near)")],
)
def test_a_direction_is_one_of_three_fixed_patterns(direction: Any, pattern: str):
    assert f"MATCH {pattern}\n" in hop_statement(direction=direction)


def test_types_and_names_of_vectors_are_quoted():
    statement = hop_statement(["A", "b`]-() //"], vector_properties=["e`mb"])
    assert "-[step:`A`|`b``]-() //`]-" in statement
    assert "valueType(near.`e``mb`)" in statement
    assert "valueType(step.`e``mb`)" in statement


def test_lists_of_texts_leave_the_database_under_the_name_of_a_vector():
    for statement in (hop_statement(vector_properties=["emb"]), ends_statement(["emb"])):
        assert "STARTS WITH 'LIST<FLOAT'" in statement
        assert "STARTS WITH 'LIST'" not in statement
