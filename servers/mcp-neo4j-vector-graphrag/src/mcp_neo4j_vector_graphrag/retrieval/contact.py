"""The first contact with a database: the index, and a retrieval query that is seen to read only."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import neo4j
from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag.database.cypher import words
from mcp_neo4j_vector_graphrag.database.faults import complaint, is_about_statement
from mcp_neo4j_vector_graphrag.database.guard import refusal
from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, IndexPair, VectorIndex, read_indexes
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import Indexes
    from mcp_neo4j_vector_graphrag.database.values import PlainJson
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause, RetrievalQuery, Statement

_logger = logging.getLogger(__name__)

IndexT = TypeVar("IndexT", VectorIndex, FulltextIndex, IndexPair)
"""What a retriever searches in."""


@dataclass(frozen=True)
class Contact(Generic[IndexT]):
    """What the first contact with the database found out, for all later calls."""

    epoch: int
    """The database's count of lost connections at the time."""
    index: IndexT
    query: RetrievalQuery
    clause: Clause
    """The newest form that the server takes the retrieval query in."""
    statement: Statement
    """The whole statement of a search without filters."""
    plain: PlainJson
    """Knows the vectors of this database."""


@dataclass(frozen=True)
class Search(Generic[IndexT]):
    """One way of searching, as the first contact needs to know it."""

    find: Callable[[Indexes], IndexT]
    """Returns the index, or raises what is wrong with it."""
    default_query: Callable[[Indexes, IndexT], RetrievalQuery]
    """Returns what stands in for a retrieval query."""
    compose: Callable[[IndexT, RetrievalQuery, Clause], Statement]
    """Returns the whole statement of a search without filters."""


def make_contact(
    database: Database,
    search: Search[IndexT],
    retrieval_query: RetrievalQuery | None,
    allowed_procedures: Collection[str] = (),
) -> Contact[IndexT]:
    """Look at the index and check the retrieval query.

    That is two round trips, and one more on a server without SEARCH. A hybrid search also asks for the capabilities
    of the server, once for all searches.

    Args:
        database: Where to search.
        search: What will be searched, and how.
        retrieval_query: Cypher that goes on from each hit; without one, a result is the entity's own properties.
        allowed_procedures: Procedures that it may call beside the usual ones.

    Raises:
        SetupError: The index can't be searched, or the retrieval query does not parse or does more than read.
        Neo4jError: Neo4j refused to be asked.
        DriverError: The connection failed.
        UnavailableError: No answer came in time.
    """
    epoch = database.epoch
    indexes = read_indexes(database)
    index = search.find(indexes)
    query = retrieval_query or search.default_query(indexes, index)
    _check_variable(query, index)
    clause, explained, summary = _explained(database, index, query, search.compose, allowed_procedures)
    if retrieval_query:
        _tell_unknown_names(database, query.name, explained, summary)
    return Contact(epoch, index, query, clause, explained, indexes.plain)


def _check_variable(query: RetrievalQuery, index: VectorIndex | FulltextIndex | IndexPair) -> None:
    """See that a query is about what the index finds: `MATCH (node)` on a relationship index would match any node.

    Raises:
        SetupError: It isn't.
    """
    other = "relationship" if index.variable == "node" else "node"
    used = set(re.findall(r"\b(?:node|relationship)\b", words(query.text)))
    if used == {other}:
        raise SetupError(
            f"{query.name} uses the variable `{other}`, and the index '{index.name}' is on {index.variable}s: "
            f"use `{index.variable}`."
        )


def _explained(
    database: Database,
    index: IndexT,
    query: RetrievalQuery,
    compose: Callable[[IndexT, RetrievalQuery, Clause], Statement],
    allowed: Collection[str],
) -> tuple[Clause, Statement, neo4j.ResultSummary]:
    """Return the newest form that the server takes, the statement in it and its plan, once that is seen to read only.

    Raises:
        SetupError: The retrieval query does not parse, or does more than read.
        Neo4jError: Neo4j refused the statement for another reason.
    """
    clauses: tuple[Clause, ...] = ("procedure",) if query.language == "5" else ("search", "procedure")
    complaints: list[tuple[Neo4jError, Statement]] = []
    for clause in clauses:
        composed = compose(index, query, clause)
        try:
            summary = database.explain(composed.text, unknown_names=True)
        except Neo4jError as error:
            if not _is_about_the_query(error):
                raise
            complaints.append((error, composed))
            continue
        if reason := refusal(summary.query_type, summary.plan or {}, query.text, allowed):
            raise SetupError(f"{query.name} is refused, since it may only read the graph: it holds {reason}.")
        return clause, composed, summary
    # A server without the clause complains of it; what is complained of in the query itself comes first.
    raise _query_fault(query.name, *next((said for said in complaints if _place_in_query(*said)), complaints[-1]))


def _is_about_the_query(error: Neo4jError) -> bool:
    return is_about_statement(error) or error.code == "Neo.ClientError.Procedure.ProcedureNotFound"


def _place_in_query(error: Neo4jError, composed: Statement) -> str | None:
    return _place(complaint(error)[1], composed)


def _place(place: tuple[int, int] | None, composed: Statement) -> str | None:
    """Return a line and column of a statement as those of the retrieval query, which begins below our own lines."""
    if place is None or place[0] < composed.first_line:
        return None
    return f"line {place[0] - composed.first_line + 1}, column {place[1]}"


def _query_fault(name: str, error: Neo4jError, composed: Statement) -> GraphRAGError:
    message, _ = complaint(error)
    if place := _place_in_query(error, composed):
        return SetupError(f"{name}, {place}: {message}")
    return SetupError(f"{name} is refused by Neo4j: {message}")


def _tell_unknown_names(database: Database, name: str, composed: Statement, summary: neo4j.ResultSummary) -> None:
    """Warn of each label, type and property of a retrieval query that the database lacks: it may be misspelt."""
    for status in summary.gql_status_objects:
        if status.classification != neo4j.NotificationClassification.UNRECOGNIZED or not status.position:
            continue
        if place := _place((status.position.line, status.position.column), composed):
            what = one_line(status.status_description.partition(". ")[2] or status.status_description)
            warning = f"{name}, {place}: {what}"
            database.warn_once(_logger, warning)
