"""What the documentation's tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings
from mcp_neo4j_vector_graphrag.local.demo_graph import load_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer


@pytest.fixture(scope="module")
def movies(neo4j_2026: Neo4jServer) -> Iterator[Neo4jServer]:
    """Return the newest Neo4j with the demo graph in it."""
    neo4j_2026.clear()
    load_graph(neo4j_2026.driver, neo4j_2026.database, LocalEmbeddings(), lambda *_: None)
    yield neo4j_2026
    neo4j_2026.clear()
