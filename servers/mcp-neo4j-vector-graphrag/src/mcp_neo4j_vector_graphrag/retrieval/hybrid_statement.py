"""From a vector index and a full-text index to one Cypher statement that ranks what both find. Pure functions.

Each half is a list of `[element id, score]`, best first: found in the statement itself, or given to it where a half
needed statements of its own. What follows is the same for both.

An entity that only one half finds counts nothing in the other: a half's pool is much larger than what is returned, so
what is not in it is far off, and computing the missing score would take a vector's length of work for each such text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mcp_neo4j_vector_graphrag.embedding.query_vector import PARAMETER
from mcp_neo4j_vector_graphrag.retrieval import fulltext_statement, statement
from mcp_neo4j_vector_graphrag.retrieval.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mcp_neo4j_vector_graphrag.database.indexes import IndexPair
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause, RetrievalQuery

Ranker = Literal["linear", "rrf"]
"""`linear` adds the scores of both halves, each scaled to 0..1; `rrf` adds what their ranks are worth."""

RANKERS: tuple[Ranker, ...] = ("linear", "rrf")

DEFAULT_RANKER: Ranker = "linear"
DEFAULT_ALPHA: dict[Ranker, float] = {"linear": 0.8, "rrf": 0.5}
DEFAULT_CONSTANT = 1
"""Chosen by measurement: `benchmarks/hybrid.py`."""

Half = Literal["vector", "text"]

COLUMNS = ("vector_score", "vector_rank", "text_score", "text_rank")
"""What a retrieval query sees of each hit beside `score`; `null` in a half that did not find it."""

_SIMILARITY = (
    "CASE WHEN vector_score IS NULL THEN 0.0 WHEN nearest = farthest THEN 1.0 "
    "ELSE (vector_score - farthest) / (nearest - farthest) END"
)
_LINEAR = (_SIMILARITY, "CASE WHEN best > 0 THEN coalesce(text_score, 0.0) / best ELSE 0.0 END")
"""A similarity's zero means nothing, so the farthest of the pool is 0; a text's score begins at 0."""

_RANKS = (
    "coalesce(($hybrid_constant + 1.0) / ($hybrid_constant + vector_rank), 0.0)",
    "coalesce(($hybrid_constant + 1.0) / ($hybrid_constant + text_rank), 0.0)",
)
_PARTS: dict[Ranker, tuple[str, str]] = {"linear": _LINEAR, "rrf": _RANKS}

_PREFERRED = "CASE WHEN $hybrid_alpha < 0.5 THEN text_rank ELSE vector_rank END"
_OTHER = "CASE WHEN $hybrid_alpha < 0.5 THEN vector_rank ELSE text_rank END"
_ORDER = f"ORDER BY score DESC, {_PREFERRED}, {_OTHER}"
"""Equal scores keep the order of the half that weighs more; what that half did not find comes last."""


def default_query(pair: IndexPair) -> RetrievalQuery:
    """Return what stands in for a retrieval query: the entity's properties without its vector, and all its scores."""
    return statement.entity_query(pair.variable, (pair.vector.property,), COLUMNS)


def hybrid_search(  # noqa: PLR0913 - two searches have so many parts
    pair: IndexPair,
    query: RetrievalQuery,
    clauses: tuple[Clause, Clause],
    ranker: Ranker,
    *,
    inside: Sequence[Condition] = (),
    vector: str = PARAMETER,
    given: Collection[Half] = (),
) -> Statement:
    """Return the statement that finds by vector and by text, ranks, and hands the best to the retrieval query.

    Args:
        pair: The indexes to search.
        query: What to return for each entity that is found.
        clauses: How the vector index and the full-text index are asked.
        ranker: How one order is made of two.
        inside: Conditions that the vector index checks itself; only with its SEARCH clause.
        vector: The expression for the query vector.
        given: The halves whose hits are parameters, `$hybrid_vector_hits` or `$hybrid_text_hits`.
    """
    nearest = statement.nearest(pair.vector, clauses[0], inside, vector)
    best = fulltext_statement.best(pair.fulltext, clauses[1], "$fulltext_candidates")
    expression = PARAMETER if "vector" in given else vector
    lines = [
        *statement.prefix(query, "search" if "search" in clauses else "procedure", expression),
        *_hits(pair, "vector", nearest, given),
        *_hits(pair, "text", best, given),
        *_fused(ranker),
        statement.by_id(pair.variable, "id"),
        f"WITH {pair.variable}, score, {', '.join(COLUMNS)} {_ORDER}",
    ]
    return Statement("\n".join([*lines, query.text]), first_line=len(lines) + 1)


def _hits(pair: IndexPair, half: Half, found: Sequence[str], given: Collection[Half]) -> list[str]:
    """Return the lines that make a half's list of hits."""
    known = ["vector_hits"] if half == "text" else []
    if half in given:
        return [f"WITH {', '.join([*known, f'$hybrid_{half}_hits AS {half}_hits'])}"]
    return [
        "CALL () {",
        *found,
        f"WITH elementId({pair.variable}) AS id, score ORDER BY score DESC",
        f"RETURN collect([id, score]) AS {half}_hits",
        "}",
    ]


def _fused(ranker: Ranker) -> list[str]:
    """Return the lines from two lists of hits to the best of both, each with its scores and ranks."""
    by_vector = "[place IN range(1, size(vector_hits)) | vector_hits[place - 1] + [place, null, null]]"
    by_text = (
        "[place IN range(1, size(text_hits)) | [text_hits[place - 1][0], null, null, text_hits[place - 1][1], place]]"
    )
    vector_part, text_part = _PARTS[ranker]
    best = "vector_hits[0][1] AS nearest, vector_hits[-1][1] AS farthest, text_hits[0][1] AS best"
    columns = ", ".join(f"max(hit[{place}]) AS {column}" for place, column in enumerate(COLUMNS, start=1))
    return [
        f"WITH {best}, {by_vector} + {by_text} AS hits",
        "UNWIND hits AS hit",
        f"WITH nearest, farthest, best, hit[0] AS id, {columns}",
        f"WITH id, {', '.join(COLUMNS)},",
        f"  $hybrid_alpha * {vector_part}",
        f"  + (1.0 - $hybrid_alpha) * {text_part} AS score",
        f"{_ORDER} LIMIT $top_k",
    ]
