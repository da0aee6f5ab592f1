"""How many of forty questions hybrid search answers, against both of its halves, with each way to rank.

uv run python benchmarks/hybrid.py
"""

from __future__ import annotations

import argparse
import logging
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neo4j_server import server

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.embedding.choice import LOCAL_MODEL, LOCAL_PREFIX, LazyEmbedder
from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings
from mcp_neo4j_vector_graphrag.local.demo_graph import FULLTEXT_INDEX, VECTOR_INDEX, load_graph
from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from collections.abc import Callable

    from neo4j_graphrag.types import RawSearchResult

    Search = Callable[[str], RawSearchResult]

QUESTIONS = Path(__file__).parent / "hybrid_questions.toml"
QUERY = "RETURN node.title AS title, score"
K = 5
ALPHAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CONSTANTS = (0, 1, 2, 5, 10, 60)


@dataclass(frozen=True)
class Answered:
    """How one way of searching did on one kind of questions."""

    hits: int
    reciprocal: float
    """The mean of 1 / rank of the answer; 0 for one that is not found."""


def main() -> None:
    """Load the demo graph, ask every question in every way, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="2026.09.0")
    chosen = parser.parse_args()
    logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
    kinds: dict[str, dict[str, str]] = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    with server(chosen.version) as running:
        load_graph(running.driver, running.database, LocalEmbeddings(), lambda _done, _all: None)
        ways = searches(Database(running.driver, running.database))
        print(f"| hit@{K} (mean reciprocal rank) | {' | '.join(kind.replace('_', ' ') for kind in kinds)} | all |")
        print("|---|---|---|---|")
        for name, search in ways.items():
            print(row(name, [ask(search, questions) for questions in kinds.values()]))


def searches(database: Database) -> dict[str, Search]:
    """Return every way of searching by its name."""
    embedder = LazyEmbedder(f"{LOCAL_PREFIX}:{LOCAL_MODEL}")  # it embeds each question once
    vector = VectorGraphRetriever(database, VECTOR_INDEX, embedder=embedder, retrieval_query=QUERY)
    text = FulltextGraphRetriever(database, FULLTEXT_INDEX, retrieval_query=QUERY)

    def hybrid(ranker: str, alpha: float | None, constant: int = 1) -> Search:
        retriever = HybridGraphRetriever(
            database,
            VECTOR_INDEX,
            FULLTEXT_INDEX,
            embedder=embedder,
            retrieval_query=QUERY,
            rank_constant=constant,
        )
        return lambda question: retriever.get_search_results(question, top_k=K, ranker=ranker, alpha=alpha)

    return {
        "vector": lambda question: vector.get_search_results(query_text=question, top_k=K),
        "full text": lambda question: text.get_search_results(question, top_k=K),
        **{f"linear, alpha {alpha}": hybrid("linear", alpha) for alpha in ALPHAS},
        **{f"rrf, k {constant}": hybrid("rrf", 0.5, constant) for constant in CONSTANTS},
    }


def ask(search: Search, questions: dict[str, str]) -> Answered:
    """Return how many of the questions a search answers among its first results."""
    ranks = []
    for question, title in questions.items():
        found = [record["title"] for record in search(question).records]
        ranks.append(found.index(title) + 1 if title in found else None)
    return Answered(sum(rank is not None for rank in ranks), sum(1 / rank for rank in ranks if rank) / len(ranks))


def row(name: str, answered: list[Answered]) -> str:
    """Return a line of the table, with both kinds of questions and all of them."""
    together = Answered(sum(one.hits for one in answered), sum(one.reciprocal for one in answered) / len(answered))
    cells = (f"{one.hits} ({one.reciprocal:.2f})" for one in (*answered, together))
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
