"""From a full-text index and a retrieval query to one Cypher statement. Pure functions, as in `statement`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.database.cypher import quote
from mcp_neo4j_vector_graphrag.database.sample import pattern
from mcp_neo4j_vector_graphrag.retrieval import statement
from mcp_neo4j_vector_graphrag.retrieval.statement import MAX_CANDIDATES, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause, RetrievalQuery

EVERYTHING = 2**31 - 1
"""The greatest limit that Neo4j takes."""

_PROCEDURES = {"node": "db.index.fulltext.queryNodes", "relationship": "db.index.fulltext.queryRelationships"}


def candidates(top_k: int) -> int:
    """Return how many texts to look at first: the index is exact, so more than `top_k` are for filters and ranking."""
    return min(max(100, 10 * top_k), MAX_CANDIDATES)


def fulltext_search(index: FulltextIndex, query: RetrievalQuery, clause: Clause) -> Statement:
    """Return the statement that finds the best texts and hands their entities to the retrieval query.

    Args:
        index: The index to search.
        query: What to return for each entity that is found.
        clause: `search` for the SEARCH clause of Cypher 25, `procedure` for servers without it.
    """
    lines = [
        *statement.prefix(query, clause),
        *best(index, clause, "$top_k"),
        f"WITH {index.variable}, score ORDER BY score DESC LIMIT $top_k",
    ]
    return Statement("\n".join([*lines, query.text]), first_line=len(lines) + 1)


def pool(index: FulltextIndex, clause: Clause, conditions: Sequence[Condition]) -> str:
    """Return the statement that checks conditions on the best `$fulltext_candidates` texts.

    It tells how many there were, and the best `$fulltext_wanted` that match.
    """
    entity = index.variable
    hit = f"CASE WHEN {statement.holds(entity, conditions)} THEN [elementId({entity}), score] END"
    return "\n".join(
        [
            *(["CYPHER 25"] if clause == "search" else []),
            *best(index, clause, "$fulltext_candidates"),
            f"WITH {hit} AS hit, score ORDER BY score DESC",
            "WITH count(*) AS looked_at, collect(hit) AS hits",
            "RETURN looked_at, hits[..$fulltext_wanted] AS hits",
        ]
    )


def best(index: FulltextIndex, clause: Clause, limit: str) -> list[str]:
    """Return the lines that ask a full-text index for the best `limit` entities, each with its `score`."""
    if clause == "procedure":
        call = f"CALL {_PROCEDURES[index.variable]}($fulltext_index_name, $fulltext_query, {{limit: {limit}}})"
        return [f"{call} YIELD {index.variable}, score"]
    found = "(node)" if index.variable == "node" else pattern(index, index.variable)
    search = f"SEARCH {index.variable} IN (FULLTEXT INDEX {quote(index.name)} FOR $fulltext_query LIMIT {limit})"
    return [f"MATCH {found}", f"{search} SCORE AS score"]
