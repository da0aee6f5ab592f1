"""How long the look at a database takes that makes its search tools: 50 indexes, on more and more nodes.

uv run python benchmarks/discovery.py
"""

from __future__ import annotations

import argparse
import statistics
import time

from neo4j_server import server

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.retrieval.discovery import discover

INDEXES = 50
LOOKS = 7
VECTORS_A_LABEL = 200


def main() -> None:
    """Load, look, load more, look again, and print the times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="2026.09.0")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    chosen = parser.parse_args()
    with server(chosen.version) as running:
        for label in range(INDEXES):
            running.query(
                f"CREATE VECTOR INDEX label_{label} FOR (n:Label{label}) ON n.vector "
                "OPTIONS {indexConfig: {`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}}"
            )
        database, loaded, medians = Database(running.driver, running.database), 0, []
        for size in chosen.sizes:
            for label in range(INDEXES):
                running.query(
                    f"UNWIND range($first, $last) AS i CREATE (n:Label{label} "
                    "{title: 'entry ' + i, year: 1900 + i % 120, language: ['en', 'de', 'ko'][i % 3], "
                    "vector: CASE WHEN i < $vectors THEN [j IN range(1, 8) | toFloat((i + j) % 13) + 0.5] END})",
                    first=loaded // INDEXES,
                    last=size // INDEXES - 1,
                    vectors=VECTORS_A_LABEL,
                )
            loaded = size
            running.query("CALL db.awaitIndexes(600)")
            seconds = []
            for _ in range(LOOKS):
                start = time.perf_counter()
                found = discover(database, read_indexes(database).online)
                seconds.append(time.perf_counter() - start)
            medians.append(statistics.median(seconds))
            filters = sum(len(each.filters) for each in found)
            told = f"{len(found)} indexes, {filters} filters, median {medians[-1]:.2f} s, first {seconds[0]:.2f} s"
            print(f"{size:9} nodes: {told}")
        ratio, growth = medians[-1] / medians[0], chosen.sizes[-1] / chosen.sizes[0]
        print(f"ratio of the last to the first: {ratio:.2f}, with {growth:.0f} times the nodes")


if __name__ == "__main__":
    main()
