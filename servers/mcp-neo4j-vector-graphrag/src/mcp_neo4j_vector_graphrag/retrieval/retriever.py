"""The configured retriever: a `VectorCypherRetriever` with one round trip a question."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import DriverError, Neo4jError
from neo4j_graphrag.retrievers import VectorCypherRetriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from mcp_neo4j_vector_graphrag.database.faults import complaint
from mcp_neo4j_vector_graphrag.database.guard import refusal
from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex, read_indexes
from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval import statement
from mcp_neo4j_vector_graphrag.retrieval.row import item_from_row

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause, RetrievalQuery, Statement


@dataclass(frozen=True)
class Contact:
    """What the first contact with the database found out, for all later calls."""

    index: VectorIndex
    query: RetrievalQuery
    statement: Statement


class VectorGraphRetriever(VectorCypherRetriever):
    """Finds the entities nearest to a question and hands them to a retrieval query.

    It differs from its base class in what it asks of the database: nothing at construction, so that a server starts
    without one; at the first search the index and an EXPLAIN of the whole statement, which must only read; from then on
    one round trip a search, in a READ session with a time limit. It takes node and relationship indexes, returns every
    label of the index, and asks for more candidates than `top_k`, of which it keeps the best.

    Args:
        database: Where to search.
        index_name: A vector index on nodes or relationships.
        embedder: Turns a question into a vector with the model that made the index's vectors.
        retrieval_query: Cypher that goes on from `node` (or `relationship`) and `score`; it may use `$query_text` and
            `$top_k`. Without one, a result is the entity's own properties.
        allowed_procedures: Procedures that the retrieval query may call beside the usual ones.
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
        result_formatter: Callable[[neo4j.Record], RetrieverResultItem] | None = None,
    ) -> None:
        super().__init__(
            database.driver, index_name, retrieval_query or "", embedder, result_formatter, neo4j_database=database.name
        )
        self.database = database
        self.allowed_procedures = tuple(allowed_procedures)
        self._contact: Contact | None = None
        self._contact_lock = threading.Lock()
        self._plain = PlainJson()

    def _fetch_index_infos(self, vector_index_name: str) -> None:
        """Ask nothing yet: the base class would query the database while the server starts."""

    def get_search_results(  # noqa: PLR0913 - the base class's signature
        self,
        query_vector: list[float] | None = None,
        query_text: str | None = None,
        top_k: int = 5,
        effective_search_ratio: int = 1,
        query_params: dict[str, Any] | None = None,
        filters: dict[str, Any] | None = None,
    ) -> RawSearchResult:
        """Return the rows of the retrieval query for the `top_k` nearest entities, nearest first.

        Args:
            query_vector: The question as a vector of the index's dimensions, in place of `query_text`.
            query_text: The question; it is embedded, and `$query_text` in the retrieval query.
            top_k: How many entities to find, 1 to 10,000.
            effective_search_ratio: Candidates asked for are at least this many times `top_k`.
            query_params: More parameters for the retrieval query.
            filters: Not supported; filter in the retrieval query.

        Raises:
            QuestionError: The question or an argument can't be searched with.
            SetupError: The index, the retrieval query, the embedder or the connection must be put right.
            UnavailableError: The database or the embedder can't be reached or took too long.
        """
        _check(query_vector, query_text, top_k, query_params, filters)
        try:
            contact = self._contact or self._make_contact()
            _check_parameters(contact.query, query_params or {})
            vector = query_vector if query_vector is not None else self._embed(query_text or "")
            _check_dimensions(contact.index, len(vector))
            parameters = {
                **(query_params or {}),
                "query_vector": vector,
                "query_text": query_text,
                "top_k": top_k,
                "candidates": statement.candidates(top_k, effective_search_ratio),
                "index_name": contact.index.name,
            }
            records = self.database.read(contact.statement.text, parameters)
        except (Neo4jError, DriverError) as error:
            self._contact = None
            raise self.database.fault(error) from error
        except SetupError:
            self._contact = None  # once it is put right, the next call must see it
            raise
        return RawSearchResult(records=_by_score(records, contact.query))

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        """Return a row as text, score and metadata, in plain JSON and without its vectors."""
        return item_from_row(self._plain.row(record))

    def _embed(self, question: str) -> list[float]:
        if self.embedder is None:
            raise SetupError("No embedder is set: pass one, or search with a query vector.")
        vector: list[float] = self.embedder.embed_query(question)
        return vector

    def _make_contact(self) -> Contact:
        with self._contact_lock:
            if self._contact is None:
                indexes = read_indexes(self.database)
                index = indexes.searchable(self.index_name)
                text = self.retrieval_query
                query = statement.RetrievalQuery.parse(text) if text else statement.default_query(index)
                explained = self._explained(index, query)
                self._plain = PlainJson(indexes.vector_properties, indexes.vector_dimensions)
                self._contact = Contact(index, query, explained)
            return self._contact

    def _explained(self, index: VectorIndex, query: RetrievalQuery) -> Statement:
        """Return the statement in the newest form that the server takes, once its plan is seen to read only.

        Raises:
            SetupError: The retrieval query does not parse, or does more than read.
            Neo4jError: Neo4j refused the statement for another reason.
        """
        clauses: tuple[Clause, ...] = ("procedure",) if query.language == "5" else ("search", "procedure")
        complaints: list[tuple[Neo4jError, Statement]] = []
        for clause in clauses:
            composed = statement.vector_search(index, query, clause)
            try:
                summary = self.database.explain(composed.text)
            except Neo4jError as error:
                if not _is_about_the_query(error):
                    raise
                complaints.append((error, composed))
                continue
            if reason := refusal(summary.query_type, summary.plan or {}, query.text, self.allowed_procedures):
                raise SetupError(f"RETRIEVAL_QUERY is refused, since it may only read the graph: it holds {reason}.")
            return composed
        # A server without the clause complains of it; what is complained of in the query itself comes first.
        raise _query_fault(*next((said for said in complaints if _place_in_query(*said)), complaints[-1]))


def _check(
    vector: list[float] | None,
    text: str | None,
    top_k: int,
    parameters: dict[str, Any] | None,
    filters: dict[str, Any] | None,
) -> None:
    if vector is None and not (text or "").strip():
        raise QuestionError("The question is blank: ask for something in a few words.")
    if not 1 <= top_k <= statement.MAX_CANDIDATES:
        raise QuestionError(f"top_k is {top_k}: take a number from 1 to {statement.MAX_CANDIDATES}.")
    if taken := statement.PARAMETERS & (parameters or {}).keys():
        raise QuestionError(f"The parameters {sorted(taken)} are set by the search itself: use other names.")
    if filters:
        raise QuestionError("This retriever takes no filters: filter in its retrieval query.")


def _check_dimensions(index: VectorIndex, size: int) -> None:
    if index.dimensions is not None and size != index.dimensions:
        raise SetupError(
            f"The embedder makes vectors of {size} dimensions and the index '{index.name}' holds vectors of "
            f"{index.dimensions}: set EMBEDDING_MODEL to the model that made the index's vectors."
        )


def _check_parameters(query: RetrievalQuery, given: Collection[str]) -> None:
    if unknown := sorted(query.parameters - statement.PARAMETERS - set(given)):
        raise SetupError(
            f"RETRIEVAL_QUERY uses the parameter ${unknown[0]}, which is not given: $query_text and $top_k are."
        )


def _is_about_the_query(error: Neo4jError) -> bool:
    return (error.code or "").startswith("Neo.ClientError.Statement.")


def _place_in_query(error: Neo4jError, composed: Statement) -> tuple[int, int] | None:
    """Return the line and column that Neo4j complains of, in the retrieval query, which begins below our own lines."""
    _, place = complaint(error)
    return (place[0] - composed.first_line + 1, place[1]) if place and place[0] >= composed.first_line else None


def _query_fault(error: Neo4jError, composed: Statement) -> GraphRAGError:
    message, _ = complaint(error)
    if place := _place_in_query(error, composed):
        return SetupError(f"RETRIEVAL_QUERY, line {place[0]}, column {place[1]}: {message}")
    return SetupError(f"RETRIEVAL_QUERY is refused by Neo4j: {message}")


def _by_score(records: list[neo4j.Record], query: RetrievalQuery) -> list[neo4j.Record]:
    """Return the rows best first: a walk through the graph may have mixed them, unless it orders them itself."""
    scores = [record.get("score") for record in records]
    if query.orders_rows or not all(isinstance(score, float) for score in scores):
        return records
    return sorted(records, key=lambda record: record["score"], reverse=True)
