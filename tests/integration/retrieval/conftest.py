"""What the tests of the retriever search in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphs import Films, create_films, remove
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
