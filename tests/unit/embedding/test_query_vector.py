"""Where the query vector of a statement comes from."""

from __future__ import annotations

from mcp_neo4j_vector_graphrag.embedding.query_vector import QueryVector


def test_a_vector_that_is_here_is_a_parameter():
    source = QueryVector.known([0.5, -0.25])
    assert source.expression == "$query_vector"
    assert source.parameters == {"query_vector": [0.5, -0.25]}
    assert source.vector == [0.5, -0.25]


def test_a_vector_that_the_database_makes_is_not_here():
    assert QueryVector("make($text)", {"text": "what?"}).vector is None


def test_its_parameters_are_not_shown():
    assert "s3cr3t" not in repr(QueryVector("make($key)", {"key": "s3cr3t"}))
