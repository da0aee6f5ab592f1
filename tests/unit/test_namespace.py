"""Names of tools."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.namespace import MAX_LENGTH, title, tool_name


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [(None, "neo4j_vector"), ("", "neo4j_vector"), ("dev", "dev-neo4j_vector"), ("dev-", "dev-neo4j_vector")],
)
def test_the_namespace_is_a_prefix_with_one_dash(namespace: str | None, expected: str):
    assert tool_name("neo4j_vector", namespace) == expected


@pytest.mark.parametrize("namespace", ["dév", "a b", "a.b", "a/b", "a\n"])
def test_characters_that_clients_refuse_are_refused(namespace: str):
    with pytest.raises(SetupError, match="NEO4J_NAMESPACE"):
        tool_name("neo4j_vector", namespace)


def test_a_retriever_without_a_name_is_refused():
    with pytest.raises(SetupError):
        tool_name("")


def test_the_longest_name_is_64_characters():
    name = "neo4j_vector"
    longest = "n" * (64 - len(name) - 1)
    assert len(tool_name(name, longest)) == MAX_LENGTH == 64
    with pytest.raises(SetupError, match=r"65 characters and clients take 64"):
        tool_name(name, longest + "n")


@pytest.mark.parametrize(
    ("name", "expected"), [("neo4j_vector", "Neo4j vector"), ("find-films_by--plot", "Find films by plot")]
)
def test_the_title_is_for_people(name: str, expected: str):
    assert title(name) == expected
