"""How long the schema takes to read: 300 labels of 20 properties and 299 types, cold and warm, on more and more nodes.

uv run python benchmarks/schema.py
"""

from __future__ import annotations

import argparse
import statistics
import time

from neo4j_server import server

from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.schema.read import read_schema
from mcp_neo4j_vector_graphrag.database.schema.text import fitted, schema_text

LABELS = 300
PROPERTIES = 20
LOOKS = 7
LIMIT = 8_000
"""Tokens."""


def main() -> None:
    """Load, read, load more, read again, and print the times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="2026.09.0")
    parser.add_argument("--sizes", type=int, nargs="+", default=[3_000, 300_000])
    chosen = parser.parse_args()
    with server(chosen.version) as running, open_driver(running.uri, running.username, running.password) as driver:
        database, loaded, medians = Database(driver, running.database), 0, []
        properties = {f"property_{place}": place if place % 2 else f"text {place}" for place in range(PROPERTIES)}
        for size in chosen.sizes:
            for label in range(LABELS):
                running.query(
                    "UNWIND range(1, $nodes) AS i CREATE (n:$($label)) SET n = $properties "
                    "WITH n WHERE $last CREATE (n)-[:$($type) {weight: 1}]->(:$($next))",
                    nodes=(size - loaded) // LABELS,
                    label=f"Label{label}",
                    next=f"Label{label + 1}",
                    type=f"TYPE_{label}",
                    properties=properties,
                    last=not loaded and label < LABELS - 1,
                )
            loaded = size
            seconds = []
            for _ in range(LOOKS):
                start = time.perf_counter()
                schema = read_schema(database)
                seconds.append(time.perf_counter() - start)
            medians.append(statistics.median(seconds[1:]))
            start = time.perf_counter()
            narrowed = read_schema(database, labels=["Label7"])
            one = time.perf_counter() - start
            found = sum(len(each.properties) for each in schema.labels)
            told = f"{len(schema.labels)} labels, {found} properties, {len(schema.relationship_types)} types"
            print(f"{size:9} nodes: {told}; first {seconds[0]:.2f} s, then median {medians[-1]:.2f} s; ", end="")
            print(f"one label {one:.2f} s, {len(narrowed.labels[0].properties)} properties, ", end="")
            print(f"text {len(schema_text(fitted(schema, LIMIT)))} characters", flush=True)
        ratio, growth = medians[-1] / medians[0], chosen.sizes[-1] / chosen.sizes[0]
        print(f"ratio of the last to the first: {ratio:.2f}, with {growth:.0f} times the nodes")


if __name__ == "__main__":
    main()
