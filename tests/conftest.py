"""Fixtures that every test may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from genai_plugin import build_plugin
from servers import RELEASES, Neo4jServer, Neo4jServers
from workers import groups_of, put_in_group, releases_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def neo4j_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServers]:
    """Start Neo4j servers on demand, each with the stand-in for the GenAI plugin: `neo4j_servers.get(version)`."""
    plugins = tmp_path_factory.mktemp("plugins")
    with Neo4jServers(tmp_path_factory.mktemp, lambda release, jars: [build_plugin(release, jars, plugins)]) as servers:
        yield servers


@pytest.fixture(scope="session")
def neo4j_2026(neo4j_servers: Neo4jServers) -> Neo4jServer:
    """Neo4j 2026.09.0: the SEARCH clause with filters inside the index, the VECTOR type."""
    return neo4j_servers.get("2026.09.0")


@pytest.fixture(scope="session")
def neo4j_2025(neo4j_servers: Neo4jServers) -> Neo4jServer:
    """Neo4j 2025.10.1: Cypher 25 without the SEARCH clause."""
    return neo4j_servers.get("2025.10.1")


@pytest.fixture(scope="session")
def neo4j_5(neo4j_servers: Neo4jServers) -> Neo4jServer:
    """Neo4j 5.26.14: the long-term support release, Cypher 5 only."""
    return neo4j_servers.get("5.26.14")


@pytest.fixture(scope="session", params=list(RELEASES))
def neo4j_server(request: pytest.FixtureRequest, neo4j_servers: Neo4jServers) -> Neo4jServer:
    """Each of the three releases in turn."""
    return neo4j_servers.get(request.param)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Share the tests among the workers.

    Of the modules that are marked so, the release between the newest and the oldest is left out: it is like both.
    """
    between = {
        item for item in items if item.get_closest_marker("outer_releases") and releases_of(item) == {"2025.10.1"}
    }
    config.hook.pytest_deselected(items=list(between))
    groups = groups_of(item for item in items if item not in between)
    items[:] = groups
    if hasattr(config, "workerinput"):
        for item, group in groups.items():
            put_in_group(item, group)
