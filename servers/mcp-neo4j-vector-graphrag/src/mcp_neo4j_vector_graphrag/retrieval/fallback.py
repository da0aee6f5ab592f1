"""Searching with conditions that the index can't check: no row that exists is lost, and what is not certain is said.

Cheapest first: the nearest candidates, if enough of them match; all that match, if those are few; more candidates, up
to the server's limit; at last all that match, however many, as long as the time limit allows. A full-text index is
exact, so there more candidates are all that is needed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import neo4j.vector
from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag.embedding.query_vector import QueryVector
from mcp_neo4j_vector_graphrag.errors import UnavailableError
from mcp_neo4j_vector_graphrag.retrieval import fulltext_statement, statement
from mcp_neo4j_vector_graphrag.retrieval.statement import Split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, VectorIndex
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause

SCAN_BOUND = 5_000
"""So many vectors are compared one by one in about 0.2 s."""

MARGIN = 5
"""The far end of a pool is less complete than its near end, so the best are taken from this many times as many."""

_NO_VECTOR = ("Neo.ClientError.Statement.ArgumentError", "Neo.ClientError.Statement.TypeError")
_LEAST_SECONDS = 0.5
"""What a statement is given when the time is nearly over."""
_SHARE = 0.4
"""Of the time that is left, for a look whether all that match are few."""
_GROWTH = 10
_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"


@dataclass(frozen=True)
class Hits:
    """Element ids with their scores, best first, and what a reader should know of them."""

    rows: list[list[Any]]
    notice: str | None = None
    vector: QueryVector | None = None
    """What they were compared with, where it was a vector; by now it is known."""


@dataclass
class FilteredSearch:
    """One search with conditions of which at least one can't be checked inside the index.

    Args:
        database: Where to search.
        index: The index.
        clause: How the server is asked for neighbours.
        conditions: What must hold.
        vector: Where the query vector comes from; what the database made of it once is used from then on.
        parameters: `index_name`, `top_k` and, for a start, `candidates`.
    """

    database: Database
    index: VectorIndex
    clause: Clause
    conditions: Split
    vector: QueryVector
    parameters: dict[str, Any]

    def __post_init__(self) -> None:
        """Start the clock: all statements together have the time of one query."""
        self._end = time.monotonic() + self.database.read_timeout

    def run(self) -> Hits:
        """Return the best that match; what was found in time, with a notice, if not all could be looked at.

        Raises:
            Neo4jError: Neo4j refused a statement.
            DriverError: The connection failed.
            UnavailableError: Not even the first answer came in time.
        """
        return replace(self._found(), vector=self.vector)

    def _found(self) -> Hits:
        top_k: int = self.parameters["top_k"]
        size: int = self.parameters["candidates"]
        matched, hits = self._pool(size)
        if not self.conditions.outside:
            return Hits(hits)
        if matched >= MARGIN * top_k:
            return Hits(hits, _approximate(size))
        try:
            if (few := self._few()) is not None:
                return Hits(few)
            while size < statement.MAX_CANDIDATES:
                size = min(size * _GROWTH, statement.MAX_CANDIDATES)
                matched, hits = self._pool(size)
                if matched >= MARGIN * top_k:
                    return Hits(hits, _approximate(size))
            return Hits(self._scan(statement.full_scan)[1])
        except (Neo4jError, UnavailableError) as error:
            if isinstance(error, Neo4jError) and not _is_timeout(error):
                raise
            return Hits(hits, _incomplete(size))

    def _pool(self, size: int) -> tuple[int, list[list[Any]]]:
        """Return how many of the nearest `size` candidates match, and the best of those."""
        text = statement.pool(self.index, self.clause, self.conditions, self.vector.expression)
        return self._ask(text, candidates=size)

    def _few(self) -> list[list[Any]] | None:
        """Return the best of all that match if they are few enough to compare; `None` if not, or if that takes long."""
        try:
            matched, hits = self._scan(statement.bounded_scan, share=_SHARE, bound=SCAN_BOUND)
        except Neo4jError as error:
            if not _is_timeout(error):
                raise
            return None
        return hits if matched <= SCAN_BOUND else None

    def _scan(self, scan: Callable[..., str], share: float = 1, **more: Any) -> tuple[int, list[list[Any]]]:  # noqa: ANN401 - as below
        """Return what a scan finds; it is repeated with a stricter look at the vectors if one of them is none."""
        try:
            return self._ask(scan(self.index, self.conditions), share, **more)
        except Neo4jError as error:
            if error.code not in _NO_VECTOR:
                raise
        return self._ask(scan(self.index, self.conditions, strict=True), share, **more)

    def _ask(self, text: str, share: float = 1, **more: Any) -> tuple[int, list[list[Any]]]:  # noqa: ANN401 - parameters of any type
        zero = {"zero_vector": [0.0] * len(self.vector.vector)} if self.vector.vector else {}
        parameters = {**self.parameters, **self.conditions.parameters, **self.vector.parameters, **zero, **more}
        seconds = max(share * (self._end - time.monotonic()), _LEAST_SECONDS)
        row = self.database.read(text, parameters, seconds)[0]
        if self.vector.vector is None:
            made = row["query_vector"]
            numbers: Any = made.to_native() if isinstance(made, neo4j.vector.Vector) else made
            self.vector = QueryVector.known([float(number) for number in numbers])

        return row["matched"], row["hits"]


@dataclass
class FilteredFulltext:
    """One full-text search with conditions, none of which can be checked inside the index.

    Args:
        database: Where to search.
        index: The index.
        clause: How the server is asked for texts.
        conditions: What must hold.
        query: What Lucene is asked.
        wanted: How many entities.
        candidates: How many texts are looked at first.
    """

    database: Database
    index: FulltextIndex
    clause: Clause
    conditions: Sequence[Condition]
    query: str
    wanted: int
    candidates: int

    def run(self) -> Hits:
        """Return the best that match; what was found in time, with a notice, if not all could be looked at.

        Raises:
            Neo4jError: Neo4j refused a statement.
            DriverError: The connection failed.
            UnavailableError: Not even the first answer came in time.
        """
        end, size = time.monotonic() + self.database.read_timeout, self.candidates
        looked_at, hits = self._pool(size, end)
        try:
            while looked_at == size and len(hits) < self.wanted:
                size = _larger(size)
                looked_at, hits = self._pool(size, end)
        except (Neo4jError, UnavailableError) as error:
            if isinstance(error, Neo4jError) and not _is_timeout(error):
                raise
            return Hits(hits, _incomplete(looked_at, "best"))
        return Hits(hits)

    def _pool(self, size: int, end: float) -> tuple[int, list[list[Any]]]:
        """Return how many of the best `size` texts there are, and the best of those whose entities match."""
        parameters = {
            **Split(outside=tuple(self.conditions)).parameters,
            "fulltext_index_name": self.index.name,
            "fulltext_query": self.query,
            "fulltext_candidates": size,
            "fulltext_wanted": self.wanted,
        }
        text = fulltext_statement.pool(self.index, self.clause, self.conditions)
        row = self.database.read(text, parameters, max(end - time.monotonic(), _LEAST_SECONDS))[0]
        return row["looked_at"], row["hits"]


def _larger(size: int) -> int:
    """Return how many texts to look at next."""
    return size * _GROWTH if size * _GROWTH <= statement.MAX_CANDIDATES else fulltext_statement.EVERYTHING


def _approximate(size: int) -> str:
    return f"Approximate: the filters were applied to the nearest {size} entries, since the index can't check them."


def _incomplete(size: int, which: str = "nearest") -> str:
    return (
        f"Incomplete: only the {which} {size} entries could be filtered within the time limit (NEO4J_READ_TIMEOUT); "
        "more may match."
    )


def _is_timeout(error: Neo4jError) -> bool:
    return (error.code or "").startswith(_TIMED_OUT)
