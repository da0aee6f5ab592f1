"""`search` and `fetch` as some connectors demand them: a question gives ids and titles, an id the whole document.

Their names are never prefixed, since those clients look for exactly these.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

from fastmcp.tools import Tool, ToolResult
from neo4j.exceptions import DriverError, Neo4jError
from pydantic import BaseModel, Field

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError, SetupError
from mcp_neo4j_vector_graphrag.namespace import title
from mcp_neo4j_vector_graphrag.retrieval.documents import Hit, Hits, WholeDocument, fetch, hit_of
from mcp_neo4j_vector_graphrag.tools import declared
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS, READ_ONLY, answered
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_database
from mcp_neo4j_vector_graphrag.tools.search import Question  # noqa: TC001 - FastMCP reads it

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.tools.family import Context

SEARCH, FETCH = "search", "fetch"

_RESULTS = 10
_RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as in its first publication (Cormack, Clarke and Büttcher, 2009)."""

_SEARCH_DESCRIPTION = "Search the Neo4j graph by meaning: returns ids, titles and the beginnings of the best documents."
_FETCH_DESCRIPTION = "Fetch a whole document of the Neo4j graph by an id that a search returned."

Id = Annotated[str, Field(description="The id of a search result.")]


class Sources:
    """The databases and the retrievers behind both tools.

    Those of the file of retrievers, else the configured index, else every vector index that is online. Documents are
    found without retrieval queries, whose rows have no id that could be fetched.

    Args:
        context: The operator's settings and database.
    """

    def __init__(self, context: Context) -> None:
        self._settings = context.settings
        self._backend = context.backend
        self._declared = declared.load(context) if context.settings.retrievers_file else None
        self._embedder = configured_embedder(context.settings)
        self._retrievers: dict[str, Retriever] = {}

    def search(self, question: str) -> Hits:
        """Return the best documents of all sources, best first.

        Raises:
            QuestionError: The question is blank.
            SetupError: There is nothing to search, or no source can be searched.
        """
        from mcp_neo4j_vector_graphrag.retrieval.items import search  # noqa: PLC0415 - 0.8 s, for the first call

        if not question.strip():
            raise QuestionError("The question is blank: ask for something in a few words.")
        looks = [
            (database, deadline.start(search, retriever, question, {"top_k": _RESULTS}))
            for database, retriever in self._all()
        ]
        found: list[list[Hit]] = []
        failures: list[Exception] = []
        for database, look in looks:
            try:
                items = look.result().items
            except Exception as error:  # noqa: BLE001 - one source that fails takes no other with it
                failures.append(error)
            else:
                found.append([hit for item in items if (hit := hit_of(item, database.name))])
        if failures and not found:
            raise failures[0]
        return Hits(results=_merged(found)[:_RESULTS])

    def fetch(self, element_id: str) -> WholeDocument:
        """Return the whole document of an id.

        Raises:
            QuestionError: No database has it.
            SetupError: None of those that could be asked has it, and another can't be before something is changed.
            UnavailableError: None of those that could be asked has it, and another can't be asked now.
        """
        faults: list[Exception] = []
        for database in self._databases():
            try:
                return fetch(database, element_id, read_indexes(database).plain)
            except GraphRAGError as error:
                faults.append(error)
            except (Neo4jError, DriverError) as error:
                faults.append(database.fault(error))
        raise next((fault for fault in faults if not isinstance(fault, QuestionError)), faults[0])

    def close(self) -> None:
        """Close the connections to the databases of the file of retrievers."""
        if self._declared:
            self._declared.close()

    def _databases(self) -> list[Database]:
        return self._declared.databases() if self._declared else [self._backend.database()]

    def _all(self) -> list[tuple[Database, Retriever]]:
        if self._declared:
            return self._declared.documents()
        database = self._backend.database()
        try:
            indexes = read_indexes(database)
        except (Neo4jError, DriverError) as error:
            raise database.fault(error) from error
        if self._settings.index_name:
            names = [indexes.searchable(self._settings.index_name, "INDEX_NAME").name]
        else:
            names = [index.name for index in indexes.online]
        if not names:
            raise SetupError(f"The database has no vector index that is online. {indexes.waiting}".rstrip())
        return [(database, self._of_index(database, name)) for name in names]

    def _of_index(self, database: Database, name: str) -> Retriever:
        from mcp_neo4j_vector_graphrag.retrieval.configured import (  # noqa: PLC0415 - 0.8 s, for the first call
            hybrid_documents,
            vector_documents,
        )

        if name not in self._retrievers:
            settings = self._settings.model_copy(update={"retrieval_query": None})
            words = settings.fulltext_index_name
            self._retrievers[name] = (
                hybrid_documents(settings, database, self._embedder, name, words)
                if words
                else vector_documents(settings, database, self._embedder, name)
            )
        return self._retrievers[name]


def _merged(found: list[list[Hit]]) -> list[Hit]:
    """Return the hits of several sources in one order, by reciprocal rank fusion: their scores do not compare."""
    worth: dict[str, float] = defaultdict(float)
    hits: dict[str, Hit] = {}
    for source in found:
        for rank, hit in enumerate(source, start=1):
            worth[hit.id] += 1 / (_RANK_CONSTANT + rank)
            hits.setdefault(hit.id, hit)
    return sorted(hits.values(), key=lambda hit: worth[hit.id], reverse=True)


def build(context: Context) -> Served:
    """Return both tools, as far as the operator shows them."""
    sources = Sources(context)
    seconds = context.settings.read_timeout + CALL_OVERHEAD_SECONDS

    async def search(query: Question) -> ToolResult:
        return _answer(await answered(seconds, sources.search, query))

    async def fetch_whole(id: Id) -> ToolResult:  # noqa: A002 - the name that clients send
        return _answer(await answered(seconds, sources.fetch, id))

    tools = [
        _tool(SEARCH, _SEARCH_DESCRIPTION, search, Hits),
        _tool(FETCH, _FETCH_DESCRIPTION, fetch_whole, WholeDocument),
    ]
    seen = [tool for tool in tools if context.sees(tool.name)]
    return Served(seen, prepare=context.backend.database, close=sources.close)


def _tool(name: str, description: str, handler: Callable[..., Awaitable[ToolResult]], result: type[BaseModel]) -> Tool:
    return Tool.from_function(
        handler,
        name=name,
        title=title(name),
        description=description,
        annotations=READ_ONLY,
        output_schema=result.model_json_schema(),
    )


def _answer(result: BaseModel) -> ToolResult:
    """Return a result as both clients read it: those that take structured content, and those that parse the text."""
    plain = result.model_dump(mode="json")
    return ToolResult(content=json.dumps(plain, ensure_ascii=False), structured_content=plain)


FAMILY = Family(
    "connectors",
    tools=lambda _: (SEARCH, FETCH),
    is_default=lambda _: False,
    build=build,
    missing=lambda settings: "" if settings.retrievers_file else missing_database(settings),
)
