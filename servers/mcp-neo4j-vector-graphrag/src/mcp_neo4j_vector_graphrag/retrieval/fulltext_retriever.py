"""Full-text search: a person's words, found as they stand in the texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import Neo4jError
from neo4j_graphrag.retrievers.base import Retriever

from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex
from mcp_neo4j_vector_graphrag.errors import QuestionError, sendable
from mcp_neo4j_vector_graphrag.retrieval import fulltext_statement, lucene, statement
from mcp_neo4j_vector_graphrag.retrieval.contact import Search
from mcp_neo4j_vector_graphrag.retrieval.fallback import FilteredFulltext
from mcp_neo4j_vector_graphrag.retrieval.graph_search import GraphSearch, check, check_parameters, result

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import neo4j
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.sample import Property

_TOO_MANY = ("TooManyClauses", "maxClauseCount", "too many boolean clauses")
_LUCENE_FAULTS = ("ParseException", "TokenMgrError", "Could not parse the given fulltext search query", *_TOO_MANY)
_DEEPEST = 100
"""Brackets within brackets: 5,000 of them overflow the parser's stack, and Neo4j never answers."""


@dataclass(frozen=True)
class _Wanted:
    """The arguments of one search."""

    text: str
    top_k: int
    filters: Any
    lucene: bool
    parameters: dict[str, Any]


class FulltextGraphRetriever(GraphSearch[FulltextIndex], Retriever):
    """Finds the entities whose texts hold a question's words and hands them to a retrieval query.

    What it asks of the database is what `VectorGraphRetriever` asks: a first contact, then one round trip a search,
    two or more with filters, which the index can't check.

    Args:
        database: Where to search.
        index_name: A full-text index on nodes or relationships.
        retrieval_query: Cypher that goes on from `node` (or `relationship`) and `score`; it may use `$query_text` and
            `$top_k`. Without one, a result is the entity's own properties.
        allowed_procedures: Procedures that the retrieval query may call beside the usual ones.
        filterable: The properties that filters may name, with or without what is known of them; by default those that
            a sample of the entities has.
        fixed_filters: What the entities must be whatever a search's filters say, which can only narrow it: a value, a
            list or bounds (`min`, `max`) by property. A caller does not see them.
        index_setting: The setting that names the index, for the text of an error.
        result_formatter: Makes an item of a row; the default takes the columns `text`, `score` and `metadata`.
    """

    def __init__(  # noqa: PLR0913 - as the other retrievers
        self,
        database: Database,
        index_name: str,
        *,
        retrieval_query: str | None = None,
        allowed_procedures: Sequence[str] = (),
        filterable: Mapping[str, Property] | Collection[str] | None = None,
        fixed_filters: Mapping[str, object] | None = None,
        index_setting: str | None = None,
        result_formatter: Callable[[neo4j.Record], RetrieverResultItem] | None = None,
    ) -> None:
        super().__init__(database.driver, database.name)
        self.index_name = index_name
        self.retrieval_query = retrieval_query or ""
        self.result_formatter = result_formatter
        self._set_up(database, allowed_procedures, filterable, fixed_filters)
        self._index_setting = index_setting

    def get_search_results(
        self,
        query_text: str,
        top_k: int = 5,
        filters: dict[str, Any] | list[dict[str, Any]] | str | None = None,
        lucene: bool = False,  # noqa: FBT001, FBT002 - an argument of a search, given by its name
        query_params: dict[str, Any] | None = None,
    ) -> RawSearchResult:
        """Return the rows of the retrieval query for the `top_k` entities whose texts match best, best first.

        Args:
            query_text: The question, of which any word may match; `$query_text` in the retrieval query.
            top_k: How many entities to find, 1 to 10,000.
            filters: What the entities must be, as `retrieval.filters.parse` takes it: `{"year": {"min": 1990}}`.
            lucene: Whether the question is a query in Lucene's own syntax.
            query_params: More parameters for the retrieval query.

        Raises:
            QuestionError: The question or an argument can't be searched with.
            SetupError: The index, the retrieval query or the connection must be put right.
            UnavailableError: The database can't be reached or took too long.
        """
        check(query_text, top_k, query_params or {})
        wanted = _Wanted(sendable(query_text), top_k, filters, lucene, query_params or {})
        return self._answer(lambda: self._search(wanted))

    def _search(self, wanted: _Wanted) -> RawSearchResult:
        try:
            return self._found(wanted)
        except Neo4jError as error:
            if not (wanted.lucene and _is_about_lucene(error)):
                raise
            if any(fault in (error.message or "") for fault in _TOO_MANY):
                raise QuestionError("Lucene takes no question of so many words: ask with fewer.") from error
            raise QuestionError(
                "Lucene can't read this question: put a backslash before characters such as ( [ / \", close quotes and "
                "brackets, or ask without `lucene`."
            ) from error

    def _found(self, wanted: _Wanted) -> RawSearchResult:
        contact = self._current_contact()
        index, query = contact.index, contact.query
        check_parameters(query, {*fulltext_statement.PARAMETERS, *wanted.parameters})
        asked = _lucene_query(wanted, index)
        parameters = {
            **wanted.parameters,
            "query_text": wanted.text,
            "top_k": wanted.top_k,
            "fulltext_index_name": index.name,
            "fulltext_query": asked.text,
        }
        cut = CUT if asked.is_cut else None
        if not (conditions := self._conditions(contact, wanted.filters)):
            return result(self.database.read(contact.statement.text, parameters), query, cut)
        size = fulltext_statement.candidates(wanted.top_k)
        hits = FilteredFulltext(self.database, index, contact.clause, conditions, asked.text, wanted.top_k, size).run()
        text = statement.retrieval(index, query, contact.clause).text
        records = self.database.read(text, {**parameters, "hits": hits.rows}) if hits.rows else []
        return result(records, query, cut, hits.notice)

    def _way(self) -> Search[FulltextIndex]:
        return Search(
            find=lambda indexes: indexes.searchable_fulltext(self.index_name, self._index_setting),
            default_query=lambda indexes, index: statement.entity_query(index.variable, indexes.vectors_of(index)),
            compose=fulltext_statement.fulltext_search,
        )

    def _described_by(self, index: FulltextIndex) -> FulltextIndex:
        return index


CUT = "Only the first words of the question were searched for: it has more than the index takes."


def _lucene_query(wanted: _Wanted, index: FulltextIndex) -> lucene.LuceneQuery:
    if wanted.lucene:
        if lucene.depth(wanted.text) > _DEEPEST:
            raise QuestionError(f"The brackets are nested too deep for Lucene: at most {_DEEPEST} are taken.")
        return lucene.LuceneQuery(wanted.text)
    found = lucene.from_sentence(wanted.text, len(index.properties))
    if found is None:
        raise QuestionError("The question holds no word: ask with letters or numbers.")
    return found


def _is_about_lucene(error: Neo4jError) -> bool:
    message = error.message or ""
    code = error.code or ""
    return code in (
        "Neo.ClientError.Procedure.ProcedureCallFailed",
        "Neo.DatabaseError.Statement.ExecutionFailed",
    ) and any(fault in message for fault in _LUCENE_FAULTS)
