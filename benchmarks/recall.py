"""Recall, rows and time of a search, against exact answers, plain queries, and what others do with filters.

uv run python benchmarks/recall.py --version 2026.09.0 --data text-like
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import data as generators
import numpy as np
from neo4j_graphrag.retrievers import VectorRetriever
from neo4j_server import SHARES, load, server

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from collections.abc import Callable

    from data import Data, Matrix

    from servers import Neo4jServer

    Search = Callable[[list[float]], list[int]]

K = 10
PLAIN = "CALL db.index.vector.queryNodes('entries', $k, $vector) YIELD node, score RETURN node.i AS i"
QUERY = "RETURN node.i AS i, score"


@dataclass
class Measured:
    """What one way of searching gave over all questions."""

    recall: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def row(self, name: str, against: float) -> str:
        """Return a line of the table; times as ratios to a median in milliseconds."""
        median = statistics.median(self.milliseconds)
        return (
            f"{name:34} {np.mean(self.recall):6.3f} {np.sum(self.rows) / (K * len(self.rows)):6.1%} "
            f"{median / against:6.2f} {np.percentile(self.milliseconds, 95) / against:6.2f}   ({median:.1f} ms)"
        )


def measure(data: Data, searches: dict[str, tuple[Search, Any]], repeat: int = 1) -> dict[str, Measured]:
    """Ask each question in each way in turn, so that the machine's moods meet all of them alike."""
    measured = {name: Measured() for name in searches}
    for question in np.repeat(data.questions, repeat, axis=0):
        for name, (search, among) in searches.items():
            start = time.perf_counter()
            found = search(question.tolist())
            taken = 1000 * (time.perf_counter() - start)
            exact = data.nearest(question, K, among)
            measured[name].recall.append(len(exact & set(found)) / len(exact))
            measured[name].rows.append(min(len(found), K))
            measured[name].milliseconds.append(taken)
    return measured


def main() -> None:
    """Load, measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="2026.09.0")
    parser.add_argument("--data", default="text-like", choices=["text-like", "clustered"])
    parser.add_argument("--size", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=100)
    chosen = parser.parse_args()
    logging.getLogger("neo4j_graphrag").setLevel(logging.ERROR)  # it tells with each question that it scans
    make = generators.text_like if chosen.data == "text-like" else generators.clustered
    data = make(chosen.size, chosen.questions)
    with server(chosen.version) as running:
        load(running, data)
        report(running, data)


def report(running: Neo4jServer, data: Data) -> None:
    """Print recall without filters, then recall, rows and time with each filter in each way."""
    print(f"\n{data.name}, {len(data.vectors)} x {data.vectors.shape[1]}, Neo4j {running.version}, k = {K}")
    print(f"{'':34} recall   rows  median    p95   (as ratios to the plain query's median)")
    database = Database(running.driver, running.database)
    ours = VectorGraphRetriever(database, "entries", retrieval_query=QUERY)
    plain = as_written(running, PLAIN)
    warm_up(data.questions[:20], plain, own(ours, None))
    found = measure(data, {"plain top 10": (plain, None), "ours": (own(ours, None), None)})
    against = statistics.median(found["plain top 10"].milliseconds)
    for name, measured in found.items():
        print(measured.row(name, against))
    everything = np.arange(len(data.vectors))
    library = VectorRetriever(running.driver, "entries", return_properties=["i"], neo4j_database=running.database)
    for share, every in SHARES.items():
        among = everything[everything % every == 0]
        name = f"s{every}"
        ways: dict[str, tuple[Search, Any]] = {
            f"{share} ours": (own(ours, {name: 0}), among),
            f"{share} post-filter x5": (post_filter(running, name), among),
            f"{share} the library's filters": (of_library(library, name), among),
        }
        for way, measured in measure(sampled(data, 20), ways).items():
            print(measured.row(way, against))


def as_written(running: Neo4jServer, query: str) -> Search:
    """Return the search of a query that is sent as it is."""

    def search(vector: list[float]) -> list[int]:
        parameters = {"k": K, "vector": vector}
        records = running.driver.execute_query(query, parameters, database_=running.database).records
        return [record["i"] for record in records]

    return search


def own(retriever: VectorGraphRetriever, filters: dict[str, Any] | None) -> Search:
    """Return our search."""

    def search(vector: list[float]) -> list[int]:
        found = retriever.get_search_results(query_vector=vector, top_k=K, filters=filters)
        return [record["i"] for record in found.records]

    return search


def post_filter(running: Neo4jServer, name: str) -> Search:
    """Return what most servers do: ask for five times as many and keep those that match."""
    query = (
        "CALL db.index.vector.queryNodes('entries', 5 * $k, $vector) YIELD node, score "
        f"WHERE node.{name} = 0 RETURN node.i AS i LIMIT $k"
    )
    return as_written(running, query)


def of_library(retriever: VectorRetriever, name: str) -> Search:
    """Return the search of neo4j-graphrag's own retriever with its own filters."""

    def search(vector: list[float]) -> list[int]:
        found = retriever.get_search_results(query_vector=vector, top_k=K, filters={name: {"$eq": 0}})
        return [record["node"]["i"] for record in found.records]

    return search


def sampled(data: Data, questions: int) -> Data:
    """Return the same data with fewer questions, for ways that take a second each."""
    return generators.Data(data.name, data.vectors, data.questions[:questions])


def warm_up(questions: Matrix, *searches: Search) -> None:
    """Let the server plan and cache."""
    for question in questions:
        for search in searches:
            search(question.tolist())


if __name__ == "__main__":
    main()
