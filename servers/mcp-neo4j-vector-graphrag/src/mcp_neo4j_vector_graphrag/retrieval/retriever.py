"""The configured retriever: a `VectorCypherRetriever` with one round trip a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neo4j_graphrag.retrievers import VectorCypherRetriever

from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex
from mcp_neo4j_vector_graphrag.errors import sendable
from mcp_neo4j_vector_graphrag.retrieval import statement
from mcp_neo4j_vector_graphrag.retrieval.contact import Search
from mcp_neo4j_vector_graphrag.retrieval.fallback import FilteredSearch
from mcp_neo4j_vector_graphrag.retrieval.graph_search import (
    VectorGraphSearch,
    check,
    check_parameters,
    embedded,
    result,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.sample import Property
    from mcp_neo4j_vector_graphrag.embedding.query_vector import QueryVector
    from mcp_neo4j_vector_graphrag.retrieval.contact import Contact
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause


@dataclass(frozen=True)
class _Wanted:
    """The arguments of one search."""

    vector: list[float] | None
    text: str | None
    top_k: int
    ratio: int
    parameters: dict[str, Any]
    filters: Any


class VectorGraphRetriever(VectorGraphSearch[VectorIndex], VectorCypherRetriever):
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
        self._set_up(database, allowed_procedures, filterable, fixed_filters)
        self._candidates = candidates
        self._index_setting = index_setting

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
        check(query_text or "" if query_vector is None else None, top_k, query_params or {})
        text = None if query_text is None else sendable(query_text)
        wanted = _Wanted(query_vector, text, top_k, effective_search_ratio, query_params or {}, filters)
        return self._answer(lambda: self._search(wanted))

    def _search(self, wanted: _Wanted) -> RawSearchResult:
        contact = self._current_contact()
        check_parameters(contact.query, {*statement.PARAMETERS, *wanted.parameters})
        conditions = self._conditions(contact, wanted.filters)
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
        return result(records, contact.query, notice)

    def _find(
        self,
        contact: Contact[VectorIndex],
        vector: QueryVector,
        parameters: dict[str, Any],
        conditions: Sequence[Condition],
    ) -> tuple[list[neo4j.Record], str | None]:
        """Return the retrieval query's rows for the nearest entities that meet the conditions, and a notice if due."""
        index, query = contact.index, contact.query
        split = self._split(contact, conditions)
        if self._is_one_statement(query, contact.clause, vector, split):
            text = statement.vector_search(index, query, contact.clause, split.inside, vector.expression).text
            return self.database.read(text, {**parameters, **vector.parameters, **split.parameters}), None
        clause: Clause = "search" if self.database.capabilities.search_clause else "procedure"
        hits = FilteredSearch(self.database, index, clause, split, vector, parameters).run()
        text = statement.retrieval(index, query, contact.clause).text
        given = {**parameters, **embedded(query, hits.vector), "hits": hits.rows}
        return self.database.read(text, given) if hits.rows else [], hits.notice

    def _way(self) -> Search[VectorIndex]:
        return Search(
            find=lambda indexes: indexes.searchable(self.index_name, self._index_setting),
            default_query=lambda _, index: statement.default_query(index),
            compose=statement.vector_search,
        )

    def _described_by(self, index: VectorIndex) -> VectorIndex:
        return index
