"""The indexes that a search can use, as three releases describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphs import create_index, remove, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, VectorIndex, read_indexes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer


@pytest.fixture
def names(neo4j_server: Neo4jServer) -> Iterator[list[str]]:
    """Names for indexes, which are gone afterwards."""
    made = [unique(f"index{number}") for number in range(3)]
    yield made
    remove(neo4j_server, indexes=made)


def read(server: Neo4jServer) -> tuple[dict[str, VectorIndex], dict[str, FulltextIndex]]:
    with open_driver(server.uri, server.username, server.password) as driver:
        indexes = read_indexes(Database(driver, server.database))
    return dict(indexes.vector), dict(indexes.fulltext)


def test_indexes_on_nodes_and_relationships_are_told_apart(neo4j_server: Neo4jServer, names: list[str]):
    nodes, relationships, fulltext = names
    create_index(neo4j_server, nodes, "`My Doc`", "my.emb", dimensions=3)
    create_index(neo4j_server, relationships, "SAYS", on="relationship", dimensions=None, similarity="euclidean")
    neo4j_server.query(
        f"CREATE FULLTEXT INDEX {fulltext} FOR ()-[r:SAYS|ASKS]-() ON EACH [r.`my text`, r.note] "
        "OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}"
    )
    neo4j_server.query("CALL db.awaitIndexes()")
    vector, texts = read(neo4j_server)
    assert vector[nodes] == VectorIndex(
        name=nodes,
        variable="node",
        labels=("My Doc",),
        property="my.emb",
        filter_properties=(),
        dimensions=3,
        similarity="cosine",
        quantised=False,
        state="ONLINE",
    )
    assert vector[relationships] == VectorIndex(
        name=relationships,
        variable="relationship",
        labels=("SAYS",),
        property="emb",
        filter_properties=(),
        dimensions=None,
        similarity="euclidean",
        quantised=False,
        state="ONLINE",
    )
    found = texts[fulltext]
    assert (found.name, found.variable, found.state) == (fulltext, "relationship", "ONLINE")
    assert (sorted(found.labels), found.properties) == (["ASKS", "SAYS"], ("my text", "note"))
    assert found.analyzer == "english"
    assert fulltext not in vector


def test_an_index_on_several_labels_tells_them_and_its_filter_properties(neo4j_2026: Neo4jServer):
    name = unique("both")
    neo4j_2026.query(
        f"CYPHER 25 CREATE VECTOR INDEX {name} FOR (n:Alpha|Beta) ON n.emb WITH [n.year, n.lang] "
        "OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}"
    )
    neo4j_2026.query("CALL db.awaitIndexes()")
    index = read(neo4j_2026)[0][name]
    assert index.quantised, "by default"
    assert sorted(index.labels) == ["Alpha", "Beta"]
    assert (index.property, index.filter_properties) == ("emb", ("year", "lang"))
    remove(neo4j_2026, indexes=[name])
