"""`search` and `fetch` as some connectors demand them: a question gives ids and titles, an id the whole document.

Their names are never prefixed, since those clients look for exactly these.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastmcp.tools import ToolResult
from pydantic import BaseModel, Field

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError, SetupError
from mcp_neo4j_vector_graphrag.namespace import title
from mcp_neo4j_vector_graphrag.retrieval.documents import (
    Hit,
    Hits,
    WholeDocument,
    as_plain,
    document_text,
    fetch,
    hit_of,
    hits_within,
    within,
)
from mcp_neo4j_vector_graphrag.retrieval.kept import Kept
from mcp_neo4j_vector_graphrag.retrieval.result import is_number
from mcp_neo4j_vector_graphrag.tools.calls import answered, plain_tool
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_any_database
from mcp_neo4j_vector_graphrag.tools.faults import as_fault
from mcp_neo4j_vector_graphrag.tools.search import Question  # noqa: TC001 - FastMCP reads it

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.declared.sources import Sources
    from mcp_neo4j_vector_graphrag.tools.family import Context

    Search = tuple[Callable[[], Database], Callable[[], Retriever]]
    Found = tuple[Hit, float]

T = TypeVar("T")
R = TypeVar("R")

SEARCH, FETCH = "search", "fetch"

_RESULTS = 10
_AT_ONCE = 8
_RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as in its first publication (Cormack, Clarke and Büttcher, 2009)."""

_logger = logging.getLogger(__name__)

_SEARCH_DESCRIPTION = "Search the Neo4j graph by meaning: returns ids, titles and the beginnings of the best documents."
_FETCH_DESCRIPTION = "Fetch a whole document of the Neo4j graph by an id that a search returned."

Id = Annotated[str, Field(description="The id of a search result.")]


class DocumentSearch:
    """What is behind both tools: the retrievers of documents, and the databases.

    The retrievers are those of the file, else the configured indexes, else every vector index that is online, else
    every such full-text index. Documents are found without retrieval queries, whose rows have no id to fetch by.

    Args:
        sources: What there is to search.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._settings = sources.settings.model_copy(update={"retrieval_query": None})
        self._kept: Kept[Retriever] = Kept(sources.backend)

    def search(self, question: str) -> Hits:
        """Return the best documents of all retrievers, best first; what fails beside others goes to the log.

        Raises:
            QuestionError: The question is blank.
            SetupError: There is nothing to search, or nothing was found and something can't be searched.
            UnavailableError: Nothing was found, and something can't be searched now.
        """
        if not question.strip():
            raise QuestionError("The question is blank: ask for something in a few words.")
        searches, are_comparable = self._searches()
        outcomes = _at_once(partial(_outcome, question), searches)
        found = [each for each in outcomes if not isinstance(each, Exception)]
        faults = [as_fault(each) for each in outcomes if isinstance(each, Exception)]
        results = (_by_score if are_comparable else _by_rank)(found)[:_RESULTS]
        raised = faults[0] if faults and not results else None
        for fault in faults:
            if fault is not raised:
                _logger.warning("A part of the search failed: %s", fault)
        if raised:
            raise raised
        return hits_within(results, self._settings.response_tokens)

    def fetch(self, element_id: str) -> WholeDocument:
        """Return the whole document of an id; a database that can't be asked goes to the log, unless it is raised.

        Raises:
            QuestionError: No database has it.
            SetupError: None of those that could be asked has it, and another can't be before something is changed.
            UnavailableError: None of those that could be asked has it, and another can't be asked now.
        """
        gone: list[QuestionError] = []
        faults: list[GraphRAGError] = []
        found = None
        for backend in self._sources.backends.values():
            try:
                found = self._fetched(backend.database(), element_id)
                break
            except QuestionError as error:
                gone.append(error)
            except GraphRAGError as error:
                faults.append(error)
        for fault in faults if found else faults[1:]:
            _logger.warning("A database could not be asked: %s", fault)
        if found:
            return found
        raise [*faults, *gone][0]

    def _fetched(self, database: Database, element_id: str) -> WholeDocument:
        with database.translated():
            plain = read_indexes(database).plain
        return within(fetch(database, element_id, plain), self._settings.response_tokens)

    def _searches(self) -> tuple[Sequence[Search], bool]:
        """Return what finds documents, each with its database, and whether their scores can be compared."""
        if self._sources.file:
            declared = self._sources.declared
            return [(each.backend.database, partial(each.retriever, documents=True)) for each in declared], False
        backend = self._sources.backend
        names, are_comparable = self._index_names(backend.database())
        return [(backend.database, partial(self._retriever, *each)) for each in names], are_comparable

    def _index_names(self, database: Database) -> tuple[list[tuple[str | None, str | None]], bool]:
        """Return the vector index and the full-text index of each search, and whether their scores can be compared.

        Similarities of one model by one measure can.
        """
        settings = self._settings
        with database.translated():
            indexes = read_indexes(database)
        if settings.index_name:
            indexes.searchable(settings.index_name, "INDEX_NAME")
            return [(settings.index_name, settings.fulltext_index_name)], False
        if indexes.online:
            measures = {index.similarity for index in indexes.online}
            return [(index.name, None) for index in indexes.online], len(measures) == 1
        if indexes.online_fulltext:
            return [(None, index.name) for index in indexes.online_fulltext], False
        raise SetupError(
            f"The database has no vector index and no full-text index that is online. {indexes.waiting}".rstrip()
        )

    def _retriever(self, index: str | None, fulltext_index: str | None) -> Retriever:
        def make(database: Database) -> Retriever:
            from mcp_neo4j_vector_graphrag.retrieval.configured import index_retriever  # noqa: PLC0415 - 0.8 s

            embedder = self._sources.embedder
            return index_retriever(self._settings, database, embedder, index, fulltext_index, documents=True)

        return self._kept.get((index, fulltext_index), make)


def _outcome(question: str, search: Search) -> list[Found] | Exception:
    """Return what one retriever finds, with the scores, or why it can't."""
    from mcp_neo4j_vector_graphrag.retrieval.items import search as items  # noqa: PLC0415 - 0.8 s, for the first call

    database, retriever = search
    try:
        name = database().name
        found = items(retriever(), question, {"top_k": _RESULTS}).items
        hits = ((hit_of(item, name), (item.metadata or {}).get("score")) for item in found)
        return [(hit, float(score) if is_number(score) else 0.0) for hit, score in hits if hit]
    except Exception as error:  # noqa: BLE001 - one that fails takes no other with it
        return error


def _at_once(work: Callable[[T], R], on: Sequence[T]) -> list[R]:
    """Return the results of some work, of which no more than eight are done at the same time, in their order."""
    waiting = deque(enumerate(on))
    done: dict[int, R] = {}

    def run() -> None:
        while waiting:
            try:
                place, item = waiting.popleft()
            except IndexError:  # another took the last
                return
            done[place] = work(item)

    for running in [deadline.start(run) for _ in range(min(_AT_ONCE, len(on)))]:
        running.result()
    return [done[place] for place in range(len(on))]


def _by_score(found: Sequence[Sequence[Found]]) -> list[Hit]:
    """Return the hits of several sources in the order of their best scores."""
    hits: dict[str, Hit] = {}
    for hit, _ in sorted(chain.from_iterable(found), key=lambda each: each[1], reverse=True):
        hits.setdefault(hit.id, hit)
    return list(hits.values())


def _by_rank(found: Sequence[Sequence[Found]]) -> list[Hit]:
    """Return the hits of several sources in one order, by reciprocal rank fusion: their scores do not compare."""
    worth: dict[str, float] = defaultdict(float)
    hits: dict[str, Hit] = {}
    for source in found:
        for rank, (hit, _) in enumerate(source, start=1):
            worth[hit.id] += 1 / (_RANK_CONSTANT + rank)
            hits.setdefault(hit.id, hit)
    return sorted(hits.values(), key=lambda hit: worth[hit.id], reverse=True)


def build(context: Context) -> Served:
    """Return both tools, as far as the operator shows them."""
    documents = DocumentSearch(context.sources)
    seconds = context.settings.read_timeout + CALL_OVERHEAD_SECONDS

    async def search(query: Question) -> ToolResult:
        return _answer(await answered(seconds, documents.search, query))

    async def fetch_whole(id: Id) -> ToolResult:  # noqa: A002 - the name that clients send
        return _answer(await answered(seconds, documents.fetch, id))

    tools = [
        plain_tool(search, SEARCH, title(SEARCH), _SEARCH_DESCRIPTION, Hits),
        plain_tool(fetch_whole, FETCH, title(FETCH), _FETCH_DESCRIPTION, WholeDocument),
    ]
    seen = [tool for tool in tools if context.sees(tool.name)]
    return Served(seen, prepare=context.sources.prepare)


def _answer(result: BaseModel) -> ToolResult:
    """Return a result as both clients read it: those that take structured content, and those that parse the text."""
    return ToolResult(content=document_text(result), structured_content=as_plain(result))


FAMILY = Family(
    "connectors",
    tools=lambda _: (SEARCH, FETCH),
    is_default=lambda _: False,
    build=build,
    missing=missing_any_database,
)
