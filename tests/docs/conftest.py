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
def movies(neo4j_5: Neo4jServer) -> Iterator[Neo4jServer]:
    """Return the oldest Neo4j with the demo graph in it: what the pages show holds there too."""
    neo4j_5.clear()
    load_graph(neo4j_5.driver, neo4j_5.database, LocalEmbeddings(), lambda *_: None)
    yield neo4j_5
    neo4j_5.clear()
