"""Hybrid search: what is near a question and what holds its words, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neo4j_graphrag.retrievers import HybridCypherRetriever

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.indexes import IndexPair, VectorIndex
from mcp_neo4j_vector_graphrag.errors import QuestionError, one_line, sendable
from mcp_neo4j_vector_graphrag.retrieval import fulltext_statement, hybrid_statement, lucene, statement
from mcp_neo4j_vector_graphrag.retrieval.contact import Search
from mcp_neo4j_vector_graphrag.retrieval.fallback import MARGIN, FilteredFulltext, FilteredSearch, Hits
from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import CUT
from mcp_neo4j_vector_graphrag.retrieval.graph_search import (
    VectorGraphSearch,
    check,
    check_parameters,
    embedded,
    result,
)
from mcp_neo4j_vector_graphrag.retrieval.hybrid_statement import (
    DEFAULT_ALPHA,
    DEFAULT_CONSTANT,
    DEFAULT_RANKER,
    RANKERS,
    Half,
    Ranker,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.types import HybridSearchRanker, RawSearchResult, RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.sample import Property
    from mcp_neo4j_vector_graphrag.embedding.query_vector import QueryVector
    from mcp_neo4j_vector_graphrag.retrieval.contact import Contact
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
    from mcp_neo4j_vector_graphrag.retrieval.lucene import LuceneQuery
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause, RetrievalQuery, Split, Statement

_SHOWN = 40
"""Characters of what a caller sent."""


@dataclass(frozen=True)
class _Wanted:
    """The arguments of one search."""

    vector: list[float] | None
    text: str
    top_k: int
    ratio: int
    ranker: Ranker
    alpha: float
    parameters: dict[str, Any]
    filters: Any


@dataclass(frozen=True)
class _Asked:
    """One search on the indexes that are there."""

    contact: Contact[IndexPair]
    clauses: tuple[Clause, Clause]
    """How the vector index and the full-text index are asked, in the statement of the retrieval query."""
    ranker: Ranker
    vector: QueryVector
    words: LuceneQuery | None
    """`None` where the question holds no word: then the vector half answers alone."""
    conditions: Sequence[Condition]
    split: Split
    """The same conditions, as the vector index takes them."""
    parameters: dict[str, Any]


class HybridGraphRetriever(VectorGraphSearch[IndexPair], HybridCypherRetriever):
    """Finds entities by a vector index and by a full-text index, and hands the best of both to a retrieval query.

    What it asks of the database is what `VectorGraphRetriever` asks: a first contact, then one round trip a search in
    which both indexes are searched and ranked. Filters cost one more, or some, since a full-text index can't check any.

    Args:
        database: Where to search.
        vector_index_name: A vector index on nodes or relationships.
        fulltext_index_name: A full-text index that shares a label or a type with it.
        embedder: Turns a question into a vector with the model that made the index's vectors, here or in the database.
        retrieval_query: Cypher that goes on from `node` (or `relationship`), `score`, and `vector_score`,
            `vector_rank`, `text_score` and `text_rank`, which are null in a half that did not find the entity; it may
            use `$query_text` and `$top_k`. Without one, a result is the entity's own properties with all of these.
        allowed_procedures: Procedures that the retrieval query may call beside the usual ones.
        filterable: The properties that filters may name, with or without what is known of them; by default those that
            a sample of the entities has.
        fixed_filters: What the entities must be whatever a search's filters say, which can only narrow it: a value, a
            list or bounds (`min`, `max`) by property. A caller does not see them.
        candidates: How many neighbours to ask the vector index for at the least; the default suits quantised indexes.
        rank_constant: `k` of reciprocal rank fusion: the greater it is, the less the first ranks stand out.
        index_setting: The setting that names the vector index, for the text of an error.
        fulltext_index_setting: The setting that names the full-text index, for the text of an error.
        result_formatter: Makes an item of a row; the default takes the columns `text`, `score` and `metadata`.
    """

    def __init__(  # noqa: PLR0913 - the base class's arguments, of which only the first three are positional
        self,
        database: Database,
        vector_index_name: str,
        fulltext_index_name: str,
        *,
        embedder: Embedder | None = None,
        retrieval_query: str | None = None,
        allowed_procedures: Sequence[str] = (),
        filterable: Mapping[str, Property] | Collection[str] | None = None,
        fixed_filters: Mapping[str, object] | None = None,
        candidates: int | None = None,
        rank_constant: int = DEFAULT_CONSTANT,
        index_setting: str | None = None,
        fulltext_index_setting: str | None = None,
        result_formatter: Callable[[neo4j.Record], RetrieverResultItem] | None = None,
    ) -> None:
        super().__init__(
            database.driver,
            vector_index_name,
            fulltext_index_name,
            retrieval_query or "",
            embedder,
            result_formatter,
            neo4j_database=database.name,
        )
        self._set_up(database, allowed_procedures, filterable, fixed_filters)
        self._candidates = candidates
        self._rank_constant = rank_constant
        self._settings = (index_setting, fulltext_index_setting)

    def get_search_results(  # noqa: PLR0913, PLR0917 - the base class's signature
        self,
        query_text: str,
        query_vector: list[float] | None = None,
        top_k: int = 5,
        effective_search_ratio: int = 1,
        query_params: dict[str, Any] | None = None,
        ranker: str | HybridSearchRanker | None = None,
        alpha: float | None = None,
        filters: dict[str, Any] | list[dict[str, Any]] | str | None = None,
    ) -> RawSearchResult:
        """Return the rows of the retrieval query for the `top_k` best entities, best first.

        Args:
            query_text: The question: embedded, searched for by its words, and `$query_text` in the retrieval query.
            query_vector: A vector of the index's dimensions, in place of the question's.
            top_k: How many entities to find, 1 to 10,000.
            effective_search_ratio: Candidates asked for are at least this many times `top_k`.
            query_params: More parameters for the retrieval query.
            ranker: `linear` adds the scaled scores of both halves, `rrf` what their ranks are worth; the default is
                `DEFAULT_RANKER`.
            alpha: The weight of the vector half, from 0, the pure full-text order, to 1, the pure vector order.
            filters: What the entities must be, as `retrieval.filters.parse` takes it: `{"year": {"min": 1990}}`.

        Raises:
            QuestionError: The question or an argument can't be searched with.
            SetupError: An index, the retrieval query, the embedder or the connection must be put right.
            UnavailableError: The database or the embedder can't be reached or took too long.
        """
        check(query_text, top_k, query_params or {})
        chosen, weight = _ranking(ranker, alpha)
        text, more = sendable(query_text), query_params or {}
        wanted = _Wanted(query_vector, text, top_k, effective_search_ratio, chosen, weight, more, filters)
        return self._answer(lambda: self._search(wanted))

    def _search(self, wanted: _Wanted) -> RawSearchResult:
        asked = self._asked(wanted)
        cut = CUT if asked.words and asked.words.is_cut else None
        halves = self._halves(asked)
        given = {half: hits.rows for half, hits in halves.items()}
        notices = [hits.notice for hits in halves.values()]
        if given == {"vector": [], "text": []}:
            return result([], asked.contact.query, cut, *notices)
        text = hybrid_statement.hybrid_search(
            asked.contact.index,
            asked.contact.query,
            asked.clauses,
            asked.ranker,
            inside=asked.split.inside,
            vector=asked.vector.expression,
            given=given.keys(),
        ).text
        found = halves.get("vector")
        embedding = embedded(asked.contact.query, found.vector) if found else asked.vector.parameters
        hits = {f"hybrid_{half}_hits": rows for half, rows in given.items()}
        parameters = {**asked.parameters, **asked.split.parameters, **embedding, **hits}
        return result(self.database.read(text, parameters), asked.contact.query, cut, *notices)

    def _asked(self, wanted: _Wanted) -> _Asked:
        contact = self._current_contact()
        check_parameters(contact.query, {*statement.PARAMETERS, *wanted.parameters})
        conditions = self._conditions(contact, wanted.filters)
        vector = self._query_vector(wanted.vector, wanted.text)
        contact = self._suitable(contact, vector)
        pair = contact.index
        words = lucene.from_sentence(wanted.text, len(pair.fulltext.properties))
        parameters = {
            **wanted.parameters,
            "query_text": wanted.text,
            "top_k": wanted.top_k,
            "candidates": statement.candidates(wanted.top_k, pair.vector, self._candidates, wanted.ratio),
            "index_name": pair.vector.name,
            "fulltext_index_name": pair.fulltext.name,
            "fulltext_query": words.text if words else "",
            "fulltext_candidates": fulltext_statement.candidates(wanted.top_k),
            "hybrid_alpha": wanted.alpha,
            "hybrid_constant": self._rank_constant,
        }
        clauses, split = self._clauses(contact.clause), self._split(contact, conditions)
        return _Asked(contact, clauses, wanted.ranker, vector, words, conditions, split, parameters)

    def _halves(self, asked: _Asked) -> dict[Half, Hits]:
        """Return the hits of the halves that can't be found in the statement of the retrieval query."""
        words = deadline.start(self._by_words, asked)
        vectors = self._by_vector(asked)
        halves: dict[Half, Hits | None] = {"vector": vectors, "text": words.result()}
        return {half: hits for half, hits in halves.items() if hits is not None}

    def _by_vector(self, asked: _Asked) -> Hits | None:
        if self._is_one_statement(asked.contact.query, asked.clauses[0], asked.vector, asked.split):
            return None
        index, wanted = asked.contact.index.vector, _pool_size(asked.parameters, "candidates")
        clause: Clause = "search" if self.database.capabilities.search_clause else "procedure"
        parameters = {**asked.parameters, "top_k": wanted}
        return FilteredSearch(self.database, index, clause, asked.split, asked.vector, parameters).run()

    def _by_words(self, asked: _Asked) -> Hits | None:
        if asked.words is None:
            return Hits([])
        if not asked.conditions:
            return None
        wanted, size = _pool_size(asked.parameters, "fulltext_candidates"), asked.parameters["fulltext_candidates"]
        index, text = asked.contact.index.fulltext, asked.words.text
        clause = asked.clauses[1]
        return FilteredFulltext(self.database, index, clause, asked.conditions, text, wanted, size).run()

    def _clauses(self, clause: Clause) -> tuple[Clause, Clause]:
        """Return how both indexes are asked in one statement: SEARCH took full-text indexes later than vector ones."""
        return clause, clause if self.database.capabilities.fulltext_search_clause else "procedure"

    def _compose(self, pair: IndexPair, query: RetrievalQuery, clause: Clause) -> Statement:
        return hybrid_statement.hybrid_search(pair, query, self._clauses(clause), DEFAULT_RANKER)

    def _way(self) -> Search[IndexPair]:
        return Search(
            find=lambda indexes: indexes.searchable_pair(
                self.vector_index_name, self.fulltext_index_name, *self._settings
            ),
            default_query=lambda _, pair: hybrid_statement.default_query(pair),
            compose=self._compose,
        )

    def _described_by(self, index: IndexPair) -> VectorIndex:
        return index.vector


def _ranking(ranker: str | HybridSearchRanker | None, alpha: float | None) -> tuple[Ranker, float]:
    """Return how the halves are ranked, and the weight of the vector half.

    Raises:
        QuestionError: There is no such ranker, or the weight is out of range.
    """
    name = str(getattr(ranker, "value", ranker) or DEFAULT_RANKER)
    chosen = next((known for known in RANKERS if known == name), None)
    if chosen is None:
        raise QuestionError(f"There is no ranker '{one_line(name, _SHOWN)}'; allowed are {', '.join(RANKERS)}.")
    weight = DEFAULT_ALPHA[chosen] if alpha is None else alpha
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= 1:
        given = one_line(str(weight), _SHOWN)
        raise QuestionError(f"alpha is {given}: take a number from 0 (only words count) to 1 (only meaning counts).")
    return chosen, float(weight)


def _pool_size(parameters: Mapping[str, Any], candidates: str) -> int:
    """Return how many hits of a filtered half are ranked: as many as its first pool can hold for certain."""
    return max(int(parameters["top_k"]), int(parameters[candidates]) // MARGIN)
