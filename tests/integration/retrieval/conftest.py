"""What the tests of the retriever search in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphs import Films, Sightings, create_films, create_sightings, remove
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer


@pytest.fixture(scope="session")
def database(neo4j_server: Neo4jServer) -> Iterator[Database]:
    """The product's own way to the server."""
    opened = Database(
        open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password), neo4j_server.database
    )
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def films(neo4j_server: Neo4jServer) -> Iterator[Films]:
    """The films, which no test changes."""
    graph = create_films(neo4j_server)
    yield graph
    remove(neo4j_server, graph.film, graph.topic, graph.critic, indexes=[graph.films, graph.reviews])


@pytest.fixture(scope="session")
def sightings(neo4j_server: Neo4jServer) -> Iterator[Sightings]:
    """The notes and sayings with texts and vectors, which no test changes."""
    graph = create_sightings(neo4j_server)
    yield graph
    indexes = [graph.notes, graph.note_texts, graph.sayings, graph.saying_texts]
    remove(neo4j_server, graph.note, graph.critic, indexes=indexes)
