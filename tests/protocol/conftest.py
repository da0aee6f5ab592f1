"""A graph of films on a real Neo4j, a stand-in for the embedding provider, and a client that tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clients import StdioServer, client
from films import Films, load_films
from notes import create_notes
from openai_endpoint import OpenAiEndpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clients import McpClient
    from notes import Notes
    from servers import Neo4jServer


@pytest.fixture(scope="session")
def endpoint() -> Iterator[OpenAiEndpoint]:
    """Return the stand-in for the embedding provider."""
    with OpenAiEndpoint() as running:
        yield running


@pytest.fixture(scope="module")
def films_server(neo4j_2026: Neo4jServer) -> Neo4jServer:
    """Return where the films are: on the newest Neo4j, unless a module says otherwise."""
    return neo4j_2026


@pytest.fixture(scope="module")
def films(films_server: Neo4jServer, endpoint: OpenAiEndpoint) -> Iterator[Films]:
    """Return the graph of films."""
    load_films(films_server)
    yield Films(films_server, endpoint)
    films_server.clear()


@pytest.fixture(scope="module")
def dev(films: Films) -> Iterator[McpClient]:
    """Return a client of a server over stdio that a module's tests share."""
    with StdioServer(films.variables(), "--namespace", "dev") as server, client(server) as connected:
        yield connected


@pytest.fixture(scope="module")
def notes(
    neo4j_2026: Neo4jServer, neo4j_2025: Neo4jServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Notes]:
    """Return the graph of notes, in two databases, with every family of tools on it."""
    yield create_notes(neo4j_2026, neo4j_2025, tmp_path_factory.mktemp("notes"))
    neo4j_2026.clear()
    neo4j_2025.clear()
