"""A Neo4j for a benchmark, and the data in it."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from neo4j.exceptions import ClientError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers import Neo4jServer, Neo4jServers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from data import Data

BATCH = 2_000
SHARES = {"50%": 2, "5%": 20, "0.5%": 200, "0.05%": 2_000}
"""Each entity has a property for each share, and one in so many has the value 0."""


@contextmanager
def server(version: str) -> Iterator[Neo4jServer]:
    """Start a release in an empty folder, and stop it."""
    with tempfile.TemporaryDirectory() as folder, Neo4jServers(lambda name: Path(folder) / name) as servers:
        yield servers.get(version)


def load(neo4j_server: Neo4jServer, data: Data) -> None:
    """Store the vectors and index them, with the filter properties in the index where the server can."""
    for start in range(0, len(data.vectors), BATCH):
        rows = [
            {"i": start + place, "vector": vector.tolist()}
            for place, vector in enumerate(data.vectors[start : start + BATCH])
        ]
        neo4j_server.query(
            "UNWIND $rows AS row CREATE (n:Entry {i: row.i}) "
            "SET n.s2 = row.i % 2, n.s20 = row.i % 20, n.s200 = row.i % 200, n.s2000 = row.i % 2000 "
            "WITH n, row CALL db.create.setNodeVectorProperty(n, 'vector', row.vector)",
            rows=rows,
        )
    create = "CREATE VECTOR INDEX entries FOR (n:Entry) ON n.vector {within} OPTIONS {{indexConfig: {config}}}"
    config = f"{{`vector.dimensions`: {data.vectors.shape[1]}, `vector.similarity_function`: 'cosine'}}"
    inside = f"WITH [{', '.join(f'n.s{share}' for share in SHARES.values())}]"
    try:
        neo4j_server.query("CYPHER 25 " + create.format(within=inside, config=config))
    except ClientError:
        neo4j_server.query(create.format(within="", config=config))
    neo4j_server.query("CALL db.awaitIndexes(3600)")
