"""The configured retriever: a `VectorCypherRetriever` with one round trip a question."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import DriverError, Neo4jError
from neo4j_graphrag.retrievers import VectorCypherRetriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from mcp_neo4j_vector_graphrag.database.sample import read_sample
from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.deadline import Background
from mcp_neo4j_vector_graphrag.embedding.in_database import InDatabaseEmbedder
from mcp_neo4j_vector_graphrag.embedding.query_vector import QueryVector
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval import statement
from mcp_neo4j_vector_graphrag.retrieval.contact import Contact, make_contact
from mcp_neo4j_vector_graphrag.retrieval.fallback import FilteredSearch
from mcp_neo4j_vector_graphrag.retrieval.filterable import Filterable, filterable
from mcp_neo4j_vector_graphrag.retrieval.row import item_from_row
from mcp_neo4j_vector_graphrag.retrieval.statement import Split

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.sample import Property
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause, RetrievalQuery


_SAMPLE_SECONDS = 30.0
"""So long the properties that filters may name are good for; new ones appear meanwhile."""


@dataclass(frozen=True)
class _Sampled:
    contact: Contact
    at: float
    filterable: Filterable


@dataclass(frozen=True)
class _Wanted:
    """The arguments of one search."""

    vector: list[float] | None
    text: str | None
    top_k: int
    ratio: int
    parameters: dict[str, Any]
    filters: Any


class VectorGraphRetriever(VectorCypherRetriever):
    """Finds the entities nearest to a question and hands them to a retrieval query.

    It differs from its base class in what it asks of the database: nothing at construction, so that a server starts
    without one; at the first search the index and an EXPLAIN of the whole statement, which must only read; from then on
    one round trip a search, in a READ session with a time limit. It takes node and relationship indexes, returns every
    label of the index, and asks for more candidates than `top_k`, of which it keeps the best.

    Args:
        database: Where to search.
        index_name: A vector index on nodes or relationships.
        embedder: Turns a question into a vector with the model that made the index's vectors, here or in the database.
        retrieval_query: Cypher that goes on from `node` (or `relationship`) and `score`; it may use `$query_text` and
            `$top_k`. Without one, a result is the entity's own properties.
        allowed_procedures: Procedures that the retrieval query may call beside the usual ones.
        filterable: The properties that filters may name, with or without what is known of them; by default those that
            a sample of the entities has.
        fixed_filters: What the entities must be whatever a search's filters say, which can only narrow it: a value, a
            list or bounds (`min`, `max`) by property. A caller does not see them.
        candidates: How many neighbours to ask the index for at the least; the default suits quantised indexes.
        index_setting: The setting that names the index, for the text of an error.
        result_formatter: Makes an item of a row; the default takes the columns `text`, `score` and `metadata`.
    """

    VERIFY_NEO4J_VERSION = False

    def __init__(  # noqa: PLR0913 - the base class's arguments, of which only the first two are positional
        self,
        database: Database,
        index_name: str,
        *,
        embedder: Embedder | None = None,
        retrieval_query: str | None = None,
        allowed_procedures: Sequence[str] = (),
        filterable: Mapping[str, Property] | Collection[str] | None = None,
        fixed_filters: Mapping[str, object] | None = None,
        candidates: int | None = None,
        index_setting: str | None = None,
        result_formatter: Callable[[neo4j.Record], RetrieverResultItem] | None = None,
    ) -> None:
        super().__init__(
            database.driver, index_name, retrieval_query or "", embedder, result_formatter, neo4j_database=database.name
        )
        self.database = database
        self.allowed_procedures = tuple(allowed_procedures)
        self.filterable = filterable
        self.fixed_filters = dict(fixed_filters or {})
        self._candidates = candidates
        self._index_setting = index_setting
        self._sampled: _Sampled | None = None
        self._contacts = Background(self._make_contact)
        self.plain = PlainJson()

    def _fetch_index_infos(self, vector_index_name: str) -> None:
        """Ask nothing yet: the base class would query the database while the server starts."""

    def get_search_results(  # noqa: PLR0913 - the base class's signature
        self,
        query_vector: list[float] | None = None,
        query_text: str | None = None,
        top_k: int = 5,
        effective_search_ratio: int = 1,
        query_params: dict[str, Any] | None = None,
        filters: dict[str, Any] | list[dict[str, Any]] | str | None = None,
    ) -> RawSearchResult:
        """Return the rows of the retrieval query for the `top_k` nearest entities, nearest first.

        Args:
            query_vector: The question as a vector of the index's dimensions, in place of `query_text`.
            query_text: The question; it is embedded, and `$query_text` in the retrieval query.
            top_k: How many entities to find, 1 to 10,000.
            effective_search_ratio: Candidates asked for are at least this many times `top_k`.
            query_params: More parameters for the retrieval query.
            filters: What the entities must be, as `retrieval.filters.parse` takes it: `{"year": {"min": 1990}}`.

        Raises:
            QuestionError: The question or an argument can't be searched with.
            SetupError: The index, the retrieval query, the embedder or the connection must be put right.
            UnavailableError: The database or the embedder can't be reached or took too long.
        """
        _check(query_vector, query_text, top_k, query_params)
        wanted = _Wanted(query_vector, query_text, top_k, effective_search_ratio, query_params or {}, filters)
        try:
            return self._search(wanted)
        except SetupError:
            self._forget_contact()  # once it is put right, the next call must see it
            raise
        except Neo4jError as error:
            if not _may_be_stale(error):
                raise self._fault(error) from error
        except DriverError as error:
            raise self._fault(error) from error
        return self._search_anew(wanted)

    def _search_anew(self, wanted: _Wanted) -> RawSearchResult:
        """Search once more with a new look at the index, which may have been dropped or made anew."""
        self._forget_contact()
        try:
            return self._search(wanted)
        except (Neo4jError, DriverError) as error:
            raise self._fault(error) from error

    def _search(self, wanted: _Wanted) -> RawSearchResult:
        contact = self._current_contact()
        _check_parameters(contact.query, wanted.parameters)
        has_conditions = bool(wanted.filters or self.fixed_filters)
        conditions = self._filterable(contact).conditions(wanted.filters) if has_conditions else ()
        vector = self._query_vector(wanted.vector, wanted.text or "")
        contact = self._suitable(contact, vector)
        parameters = {
            **wanted.parameters,
            "query_text": wanted.text,
            "top_k": wanted.top_k,
            "candidates": statement.candidates(wanted.top_k, contact.index, self._candidates, wanted.ratio),
            "index_name": contact.index.name,
        }
        records, notice = self._find(contact, vector, parameters, conditions)
        metadata = {"notice": notice} if notice else None
        return RawSearchResult(records=_by_score(records, contact.query), metadata=metadata)

    def prepare(self) -> None:
        """Look at the index and the retrieval query now, rather than at the first search.

        Raises:
            SetupError: The index, the retrieval query or the connection must be put right.
            UnavailableError: The database can't be reached or took too long.
        """
        try:
            self._current_contact()
        except (Neo4jError, DriverError) as error:
            raise self.database.fault(error) from error

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        """Return a row as text, score and metadata, in plain JSON and without its vectors."""
        return item_from_row(self.plain.row(record))

    def _query_vector(self, given: list[float] | None, question: str) -> QueryVector:
        if given is not None:
            return QueryVector.known(given)
        if self.embedder is None:
            raise SetupError("No embedder is set: pass one, or search with a query vector.")
        if isinstance(self.embedder, InDatabaseEmbedder):
            return self.embedder.query_vector(question, self.database.capabilities.embed_function)
        return QueryVector.known(self.embedder.embed_query(question))

    def _suitable(self, contact: Contact, vector: QueryVector) -> Contact:
        """Return the contact if its index takes the vector, else a new one: the index may have been made anew.

        Raises:
            SetupError: The index takes vectors of another length.
        """
        size = None if vector.vector is None else len(vector.vector)
        if size in (None, contact.index.dimensions):
            return contact
        self._contacts.forget(contact)
        contact = self._current_contact()
        if contact.index.dimensions not in (None, size):
            raise SetupError(
                f"The embedder makes vectors of {size} dimensions and the index '{contact.index.name}' holds vectors "
                f"of {contact.index.dimensions}: set EMBEDDING_MODEL to the model that made the index's vectors."
            )
        return contact

    def _fault(self, error: Neo4jError | DriverError) -> Exception:
        """Return what a caller is told in place of an error of the driver."""
        if isinstance(self.embedder, InDatabaseEmbedder) and isinstance(error, Neo4jError):
            return self.embedder.fault(error) or self.embedder.without_secrets(self.database.fault(error))
        return self.database.fault(error)

    def _find(
        self, contact: Contact, vector: QueryVector, parameters: dict[str, Any], conditions: Sequence[Condition]
    ) -> tuple[list[neo4j.Record], str | None]:
        """Return the retrieval query's rows for the nearest entities that meet the conditions, and a notice if due."""
        index, query = contact.index, contact.query
        split = self._split(contact, conditions)
        # A query that Cypher 25 does not take, and a vector or filters that need it, can't be one statement.
        needs_25 = vector.needs_cypher_25 or bool(split.inside)
        if not split.outside and (contact.clause == "search" or not needs_25):
            text = statement.vector_search(index, query, contact.clause, split.inside, vector.expression).text
            return self.database.read(text, {**parameters, **vector.parameters, **split.parameters}), None
        clause: Clause = "search" if self.database.capabilities.search_clause else "procedure"
        hits = FilteredSearch(self.database, index, clause, split, vector, parameters).run()
        text = statement.retrieval(index, query, contact.clause).text
        return self.database.read(text, {**parameters, "hits": hits.rows}) if hits.rows else [], hits.notice

    def _split(self, contact: Contact, conditions: Sequence[Condition]) -> Split:
        if not conditions:
            return Split()
        types = self._filterable(contact).types
        return statement.split(conditions, contact.index, self.database.capabilities, types)

    def _filterable(self, contact: Contact) -> Filterable:
        """Return what filters may name, which a sample tells unless it was given, and what is fixed."""
        if isinstance(self.filterable, Mapping) and not self.fixed_filters:
            return Filterable(self.filterable)
        sampled, now = self._sampled, time.monotonic()
        if sampled is None or sampled.contact is not contact or now - sampled.at > _SAMPLE_SECONDS:
            found = read_sample(self.database, contact.index).properties
            known = filterable(self.database, found, self.filterable, self.fixed_filters)
            self._sampled = sampled = _Sampled(contact, now, known)
        return sampled.filterable

    def _current_contact(self) -> Contact:
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

    def _make_contact(self) -> Contact:
        return make_contact(
            self.database, self.index_name, self.retrieval_query, self.allowed_procedures, self._index_setting
        )


def _may_be_stale(error: Neo4jError) -> bool:
    """Whether an error may come of an index that is no longer what it was at the first contact."""
    return not error.is_retryable() and not (error.code or "").startswith("Neo.ClientError.Transaction.")


def _check(
    vector: list[float] | None,
    text: str | None,
    top_k: int,
    parameters: dict[str, Any] | None,
) -> None:
    if vector is None and not (text or "").strip():
        raise QuestionError("The question is blank: ask for something in a few words.")
    if not 1 <= top_k <= statement.MAX_CANDIDATES:
        raise QuestionError(f"top_k is {top_k}: take a number from 1 to {statement.MAX_CANDIDATES}.")
    if taken := sorted(filter(statement.is_reserved, parameters or {})):
        raise QuestionError(f"The parameters {taken} are set by the search itself: use other names.")


def _check_parameters(query: RetrievalQuery, given: Collection[str]) -> None:
    if unknown := sorted(query.parameters - statement.PARAMETERS - set(given)):
        raise SetupError(
            f"RETRIEVAL_QUERY uses the parameter ${unknown[0]}, which is not given: $query_text and $top_k are."
        )


def _by_score(records: list[neo4j.Record], query: RetrievalQuery) -> list[neo4j.Record]:
    """Return the rows best first: a walk through the graph may have mixed them, unless it orders them itself."""
    scores = [record.get("score") for record in records]
    if query.orders_rows or not all(isinstance(score, float) for score in scores):
        return records
    return sorted(records, key=lambda record: record["score"], reverse=True)
