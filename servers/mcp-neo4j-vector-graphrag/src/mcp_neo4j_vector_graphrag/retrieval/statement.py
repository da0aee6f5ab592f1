"""From an index and a retrieval query to one Cypher statement. Pure functions: no driver, no question.

A caller's values are parameters, every name is quoted, and the operator's retrieval query begins on a line of its own,
so that Neo4j's line and column lead back to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from mcp_neo4j_vector_graphrag.database.cypher import outside_strings, parameters, quote, words

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex

MAX_CANDIDATES = 10_000
"""Neo4j returns no more neighbours than this, whatever is asked for, and does not say so."""

PARAMETERS = frozenset({"query_vector", "query_text", "top_k", "candidates", "index_name"})
"""What every statement is given; a retrieval query may use them too."""

_PROCEDURES = {"node": "db.index.vector.queryNodes", "relationship": "db.index.vector.queryRelationships"}
_VERSION = re.compile(r"\s*CYPHER\s+(?:(\d+)\b)?", re.IGNORECASE)


@dataclass(frozen=True)
class RetrievalQuery:
    """The operator's part of a statement: it sees `node` or `relationship`, `score` and the parameters."""

    text: str
    language: str | None = None
    """`5` or `25` where the query says so itself."""

    @classmethod
    def parse(cls, text: str) -> RetrievalQuery:
        """Read a query as people write it in a settings file.

        A literal backslash-n outside a string is a line break, a trailing semicolon goes, and a leading `CYPHER 25`
        moves to where Cypher takes it: before the whole statement.
        """
        text = outside_strings(text, "\\n", "\n").strip()
        while text.endswith(";"):
            text = text[:-1].rstrip()
        version = _VERSION.match(text)
        return cls(text[version.end() :].lstrip(), version.group(1)) if version else cls(text)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters that the query uses."""
        return parameters(self.text)

    @cached_property
    def orders_rows(self) -> bool:
        """Whether the query sets the order of its rows itself."""
        return re.search(r"\bORDER\s+BY\b", words(self.text), re.IGNORECASE) is not None


@dataclass(frozen=True)
class Statement:
    """A whole statement, and on which of its lines the retrieval query begins."""

    text: str
    first_line: int


Clause = Literal["search", "procedure"]


def default_query(index: VectorIndex) -> RetrievalQuery:
    """Return what stands in for a retrieval query: the entity's own properties, without its vector."""
    entity = index.variable
    if entity == "node":
        about = "{id: elementId(node), labels: labels(node)}"
    else:
        about = (
            "{id: elementId(relationship), type: type(relationship), "
            "start: properties(startNode(relationship)), end: properties(endNode(relationship))}"
        )
    return RetrievalQuery(f"RETURN {entity} {{.*, {quote(index.property)}: null}} AS doc, {about} AS metadata, score")


def candidates(top_k: int, ratio: int = 1) -> int:
    """Return how many neighbours to ask the index for, of which the best `top_k` are kept.

    The default index is quantised and approximate: asked for 10 it finds 7 of the 10 nearest, asked for 200 it has more
    than 9 of them among those, for a few milliseconds.
    """
    return min(max(200, 20 * top_k, ratio * top_k), MAX_CANDIDATES)


def vector_search(index: VectorIndex, query: RetrievalQuery, clause: Clause) -> Statement:
    """Return the statement that finds the nearest entities and hands them to the retrieval query.

    Args:
        index: The index to search.
        query: What to return for each entity that is found.
        clause: `search` for the SEARCH clause of Cypher 25, `procedure` for servers without it.
    """
    lines = [
        *_prefix(query, clause),
        *(_search_clause(index) if clause == "search" else _procedure_call(index)),
        f"WITH {index.variable}, score ORDER BY score DESC LIMIT $top_k",
    ]
    return Statement("\n".join([*lines, query.text]), first_line=len(lines) + 1)


def _prefix(query: RetrievalQuery, clause: Clause) -> list[str]:
    language = query.language or ("25" if clause == "search" else None)
    return [f"CYPHER {language}"] if language else []


def _search_clause(index: VectorIndex) -> list[str]:
    # Without a label the pattern takes every label of the index. A relationship has a direction, or it is found twice.
    types = "|".join(map(quote, index.labels))
    pattern = "(node)" if index.variable == "node" else f"()-[relationship:{types}]->()"
    search = f"SEARCH {index.variable} IN (VECTOR INDEX {quote(index.name)} FOR $query_vector LIMIT $candidates)"
    return [f"MATCH {pattern}", f"{search} SCORE AS score"]


def _procedure_call(index: VectorIndex) -> list[str]:
    call = f"CALL {_PROCEDURES[index.variable]}($index_name, $candidates, $query_vector)"
    return [f"{call} YIELD {index.variable}, score"]
