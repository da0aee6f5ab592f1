"""What the retrievers share: a first contact, a second look where the index may have changed, and plain results."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from neo4j.exceptions import DriverError, Neo4jError
from neo4j_graphrag.types import RawSearchResult

from mcp_neo4j_vector_graphrag.budget import as_notice
from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, IndexPair, VectorIndex
from mcp_neo4j_vector_graphrag.database.sample import read_sample
from mcp_neo4j_vector_graphrag.database.values import PlainJson, columns
from mcp_neo4j_vector_graphrag.deadline import Background
from mcp_neo4j_vector_graphrag.embedding.in_database import InDatabaseEmbedder
from mcp_neo4j_vector_graphrag.embedding.query_vector import QUERY_VECTOR, QueryVector
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval import statement
from mcp_neo4j_vector_graphrag.retrieval.contact import Contact, IndexT, Search, make_contact
from mcp_neo4j_vector_graphrag.retrieval.filterable import Filterable, filterable
from mcp_neo4j_vector_graphrag.retrieval.row import item_from_row
from mcp_neo4j_vector_graphrag.retrieval.statement import RetrievalQuery, Split

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.types import RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.sample import Property
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause

PairOrVectorT = TypeVar("PairOrVectorT", VectorIndex, IndexPair)

_STALE = (
    "Neo.ClientError.Schema.",
    "Neo.ClientError.Procedure.",
    "Neo.ClientError.Statement.ArgumentError",
    "Neo.ClientError.Statement.PropertyNotFound",
    "Neo.ClientError.Statement.TypeError",
)
"""Errors that may come of an index that is no longer what it was: gone, of other dimensions or filter properties."""
_SAMPLE_SECONDS = 30.0
"""So long the properties that filters may name are good for; new ones appear meanwhile."""


@dataclass(frozen=True)
class _Sampled(Generic[IndexT]):
    contact: Contact[IndexT]
    at: float
    filterable: Filterable


class GraphSearch(ABC, Generic[IndexT]):
    """The part of a retriever that talks to the database; a class of `neo4j_graphrag` makes it a Retriever.

    Nothing is asked at construction, so that a server starts without a database; at the first search the index and an
    EXPLAIN of the whole statement, which must only read.
    """

    VERIFY_NEO4J_VERSION = False

    database: Database
    allowed_procedures: tuple[str, ...]
    filterable: Mapping[str, Property] | Collection[str] | None
    fixed_filters: Mapping[str, object]
    retrieval_query: str
    query_name = RetrievalQuery.name
    """What an operator knows the retrieval query by, for the text of an error."""

    def _set_up(
        self,
        database: Database,
        allowed_procedures: Sequence[str],
        filterable: Mapping[str, Property] | Collection[str] | None,
        fixed_filters: Mapping[str, object] | None,
    ) -> None:
        self.database = database
        self.allowed_procedures = tuple(allowed_procedures)
        self.filterable = filterable
        self.fixed_filters = dict(fixed_filters or {})
        self._sampled: _Sampled[IndexT] | None = None
        self._contacts: Background[Contact[IndexT]] = Background(self._make_contact)
        self.plain = PlainJson()

    def _fetch_index_infos(self, vector_index_name: str) -> None:
        """Ask nothing yet: the class of `neo4j_graphrag` would query the database while the server starts."""

    def prepare(self) -> None:
        """Look at the index, the retrieval query and the named filters now, rather than at the first search.

        Raises:
            SetupError: The index, the retrieval query, a filter or the connection must be put right.
            UnavailableError: The database can't be reached or took too long.
        """
        with self.database.translated():
            contact = self._current_contact()
            are_named = self.filterable is not None and not isinstance(self.filterable, Mapping)
            if self.fixed_filters or (are_named and self.filterable):
                self._filterable(contact)

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        """Return a row as text, score and metadata, in plain JSON and without its vectors."""
        return item_from_row(self.plain.row(record), columns(record))

    @abstractmethod
    def _way(self) -> Search[IndexT]:
        """Return what is searched, and how."""

    @abstractmethod
    def _described_by(self, index: IndexT) -> VectorIndex | FulltextIndex:
        """Return the index whose entities tell what filters may name."""

    def _answer(self, search: Callable[[], RawSearchResult]) -> RawSearchResult:
        """Return what a search finds; it is repeated once where the index may have been dropped or made anew.

        Raises:
            GraphRAGError: What went wrong, in words for a caller.
        """
        try:
            return search()
        except Neo4jError as error:
            if not (error.code or "").startswith(_STALE):
                raise self._fault(error) from error
        except DriverError as error:
            raise self._fault(error) from error
        self._forget_contact()
        try:
            return search()
        except (Neo4jError, DriverError) as error:
            raise self._fault(error) from error

    def _fault(self, error: Neo4jError | DriverError) -> Exception:
        """Return what a caller is told in place of an error of the driver."""
        return self.database.fault(error)

    def _conditions(self, contact: Contact[IndexT], filters: object) -> tuple[Condition, ...]:
        return self._filterable(contact).conditions(filters) if filters or self.fixed_filters else ()

    def _filterable(self, contact: Contact[IndexT]) -> Filterable:
        """Return what filters may name, which a sample tells unless it was given, and what is fixed."""
        if isinstance(self.filterable, Mapping) and not self.fixed_filters:
            return Filterable(self.filterable)
        sampled, now = self._sampled, time.monotonic()
        if sampled is None or sampled.contact is not contact or now - sampled.at > _SAMPLE_SECONDS:
            found = read_sample(self.database, self._described_by(contact.index)).properties
            vectors = contact.plain.vector_properties
            known = filterable(self.database, found, self.filterable, self.fixed_filters, vectors)
            self._sampled = sampled = _Sampled(contact, now, known)
        return sampled.filterable

    def _current_contact(self) -> Contact[IndexT]:
        """Return what is known of the database; calls at the same time share one look at it."""
        contact = self._contacts.get(None)
        if contact.epoch != self.database.epoch:
            self._contacts.forget(contact)
            contact = self._contacts.get(None)
        self.plain = contact.plain
        return contact

    def _forget_contact(self) -> None:
        if contact := self._contacts.peek():
            self._contacts.forget(contact)

    def _make_contact(self) -> Contact[IndexT]:
        query = RetrievalQuery.parse(self.retrieval_query, self.query_name) if self.retrieval_query else None
        return make_contact(self.database, self._way(), query, self.allowed_procedures)


class VectorGraphSearch(GraphSearch[PairOrVectorT]):
    """The part of a retriever that has a question embedded, here or in the database."""

    embedder: Embedder | None

    @abstractmethod
    def _described_by(self, index: PairOrVectorT) -> VectorIndex:
        """Return the vector index."""

    def _query_vector(self, given: list[float] | None, question: str) -> QueryVector:
        if given is not None:
            return QueryVector.known(given)
        if self.embedder is None:
            raise SetupError("No embedder is set: pass one, or search with a query vector.")
        if isinstance(self.embedder, InDatabaseEmbedder):
            return self.embedder.query_vector(question, self.database.capabilities.embed_function)
        return QueryVector.known(self.embedder.embed_query(question))

    def _suitable(self, contact: Contact[PairOrVectorT], vector: QueryVector) -> Contact[PairOrVectorT]:
        """Return the contact if its index takes the vector, else a new one: the index may have been made anew.

        Raises:
            SetupError: The index takes vectors of another length.
        """
        size = None if vector.vector is None else len(vector.vector)
        if size is None or self._described_by(contact.index).dimensions in (None, size):
            return contact
        self._contacts.forget(contact)
        contact = self._current_contact()
        index = self._described_by(contact.index)
        if index.dimensions not in (None, size):
            raise SetupError(
                f"The embedder makes vectors of {size} dimensions and the index '{index.name}' holds vectors "
                f"of {index.dimensions}: set EMBEDDING_MODEL to the model that made the index's vectors."
            )
        return contact

    def _fault(self, error: Neo4jError | DriverError) -> Exception:
        """Return what a caller is told in place of an error of the driver or of the embedding in the database."""
        if isinstance(self.embedder, InDatabaseEmbedder) and isinstance(error, Neo4jError):
            return self.embedder.fault(error) or self.embedder.without_secrets(self.database.fault(error))
        return self.database.fault(error)

    def _is_one_statement(self, query: RetrievalQuery, clause: Clause, vector: QueryVector, split: Split) -> bool:
        """Whether the vector index can be searched in the statement of the retrieval query."""
        # A query that Cypher 25 does not take, and a vector or filters that need it, can't be one statement.
        needs_25 = vector.needs_cypher_25 or bool(split.inside)
        # A vector that the database makes has no name in the retrieval query: it must be known before.
        names_vector = vector.vector is None and QUERY_VECTOR in query.parameters
        return not split.outside and (clause == "search" or not needs_25) and not names_vector

    def _split(self, contact: Contact[PairOrVectorT], conditions: Sequence[Condition]) -> Split:
        if not conditions:
            return Split()
        types = self._filterable(contact).types
        return statement.split(conditions, self._described_by(contact.index), self.database.capabilities, types)


def check(question: str | None, top_k: int, parameters: Collection[str]) -> None:
    """Refuse a question or arguments that can't be searched with.

    Args:
        question: `None` where a vector stands in its place.
        top_k: How many entities are wanted.
        parameters: The names of further parameters for the retrieval query.

    Raises:
        QuestionError: It says what to write instead.
    """
    if question is not None and not question.strip():
        raise QuestionError("The question is blank: ask for something in a few words.")
    if not 1 <= top_k <= statement.MAX_CANDIDATES:
        raise QuestionError(f"top_k is {top_k}: take a number from 1 to {statement.MAX_CANDIDATES}.")
    if taken := sorted(filter(statement.is_reserved, parameters)):
        raise QuestionError(f"The parameters {', '.join(taken)} are set by the search itself: use other names.")


def check_parameters(query: RetrievalQuery, given: Collection[str]) -> None:
    """Refuse a retrieval query that uses a parameter which a search is not given.

    Raises:
        SetupError: It names the parameter.
    """
    if unknown := sorted(query.parameters - set(given)):
        raise SetupError(
            f"{query.name} uses the parameter ${unknown[0]}, which is not given: $query_text and $top_k are."
        )


def embedded(query: RetrievalQuery, vector: QueryVector | None) -> Mapping[str, Any]:
    """Return the parameter for the question's vector if a retrieval query uses it: it is long."""
    return vector.parameters if vector and QUERY_VECTOR in query.parameters else {}


def result(records: list[neo4j.Record], query: RetrievalQuery, *notices: str | None) -> RawSearchResult:
    """Return rows best first, and what a reader should know of them.

    A walk through the graph may have mixed the rows, unless the query orders them itself.
    """
    scores = [record.get("score") for record in records]
    if not query.orders_rows and all(isinstance(score, float) for score in scores):
        records = sorted(records, key=lambda record: record["score"], reverse=True)
    notice = as_notice(*notices)
    return RawSearchResult(records=records, metadata={"notice": notice} if notice else None)
