"""One search tool for each index that the database has, looked up again as time goes by."""

from __future__ import annotations

import logging
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, read_indexes
from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, one_line
from mcp_neo4j_vector_graphrag.namespace import MAX_LENGTH, index_search_name, search_tool_name, tool_name
from mcp_neo4j_vector_graphrag.retrieval.kept import Kept
from mcp_neo4j_vector_graphrag.retrieval.result import DocumentResult
from mcp_neo4j_vector_graphrag.tools.changing import DiscoveredTools, Look, TellNews, TellWhenKnown
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_database
from mcp_neo4j_vector_graphrag.tools.filter_schema import filters_schema
from mcp_neo4j_vector_graphrag.tools.search import LUCENE, SearchTool, filters_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import AnyIndex
    from mcp_neo4j_vector_graphrag.retrieval.configured import AnyRetriever
    from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Context, Sees
    from mcp_neo4j_vector_graphrag.tools.search import Argument

DEFAULT_TOP_K = 10
MAX_TOP_K = 100

_logger = logging.getLogger(__name__)


class Catalog:
    """Makes a tool of each index that is found, and keeps the retrievers between looks.

    Args:
        settings: The operator's.
        backend: The database.
        embedder: Turns questions into vectors.
        sees: Whether the operator shows a tool, by its name without the namespace.
        chosen: The tools that the operator chooses singly, by their names without the namespace or by patterns.

    Raises:
        SetupError: The namespace makes names that clients refuse.
    """

    def __init__(
        self,
        settings: Settings,
        backend: Backend,
        embedder: Embedder,
        sees: Sees = lambda _: True,
        chosen: Sequence[str] = (),
    ) -> None:
        self._settings = settings
        self._backend = backend
        self._sees = sees
        self._chosen = chosen
        self._embedder = embedder
        self._retrievers: Kept[AnyRetriever] = Kept(backend)
        search_tool_name(" ", settings.namespace)  # a namespace that no tool can have is told at the start

    def look(self) -> Look:
        """Return the tools of the indexes that are online.

        Raises:
            SetupError: The database can't be asked, before an operator has changed something.
            UnavailableError: The database can't be asked now.
        """
        from mcp_neo4j_vector_graphrag.retrieval.discovery import discover, how_to_begin  # noqa: PLC0415 - 0.8 s

        database = self._backend.database()
        with database.translated():
            indexes = read_indexes(database)
            online: list[AnyIndex] = [*indexes.online, *indexes.online_fulltext]
            found = discover(database, filter(self._is_seen, online), self._settings.max_filters)
            if not indexes.online:
                why = indexes.waiting or how_to_begin(database)
                database.warn_once(_logger, f"The database has no vector index that is online. {why}")
        self._tell_unmatched(online)
        tools: list[SearchTool] = []
        lacking = [indexes.waiting, "" if indexes.online else "The database has no vector index that is online."]
        for each in found:
            try:
                tools.append(self._tool(each))
            except GraphRAGError as error:
                lacking.append(f"The index '{one_line(each.index.name, MAX_LENGTH)}' gets no tool: {error}")
                database.warn_once(_logger, lacking[-1])
        return Look({tool.name: tool.build() for tool in tools}, " ".join(filter(None, lacking)))

    def _tell_unmatched(self, online: Sequence[AnyIndex]) -> None:
        """Warn of each chosen tool that no index has."""
        names = [index_search_name(index.name, self._settings.namespace) for index in online]
        for entry in self._chosen:
            if not any(fnmatchcase(name, entry) for name in names):
                known = one_line(", ".join(names)) or "none"
                shown = one_line(entry, MAX_LENGTH)
                _logger.warning("NEO4J_MCP_TOOLS names '%s', the tool of no index online; there are: %s.", shown, known)

    def _is_seen(self, index: AnyIndex) -> bool:
        return self._sees(index_search_name(index.name, self._settings.namespace))

    def _tool(self, found: Discovered) -> SearchTool:
        """Return the tool of an index.

        Raises:
            GraphRAGError: The retrieval query does not fit the index.
        """
        retriever = self._retriever(found)
        retriever.filterable = found.filters
        if self._settings.retrieval_query:
            retriever.prepare()
        return SearchTool(
            name=search_tool_name(found.index.name, self._settings.namespace),
            title=f"Search {found.index.name}",
            description=describe(found, self._settings.tool_description),
            retriever=lambda: self._retriever(found),
            default_top_k=self._settings.top_k or DEFAULT_TOP_K,
            max_top_k=MAX_TOP_K,
            arguments=_arguments(found),
            result=DocumentResult,
            response_tokens=self._settings.response_tokens,
            seconds=self._settings.read_timeout + CALL_OVERHEAD_SECONDS,
        )

    def _retriever(self, found: Discovered) -> AnyRetriever:
        return self._retrievers.get(found.index, lambda database: self._made(database, found))

    def _made(self, database: Database, found: Discovered) -> AnyRetriever:
        from mcp_neo4j_vector_graphrag.retrieval.configured import index_retriever  # noqa: PLC0415 - 0.8 s

        is_fulltext, name = isinstance(found.index, FulltextIndex), found.index.name
        return index_retriever(
            self._settings,
            database,
            self._embedder,
            None if is_fulltext else name,
            name if is_fulltext else None,
            documents=True,
            filterable=found.filters,
        )


def _arguments(found: Discovered) -> tuple[Argument, ...]:
    filters = (filters_argument(filters_schema(found.filters)),) if found.filters else ()
    return (*filters, LUCENE) if isinstance(found.index, FulltextIndex) else filters


def describe(found: Discovered, about: str | None = None) -> str:
    """Return what a model must know of an index to choose its tool: what it holds, how much, and how to narrow it."""
    index = found.index
    what = f"{about.rstrip('.')}. " if about else ""
    held = f"{found.count} {' and '.join(index.labels)} {index.variable}s"
    texts = f" Texts: {', '.join(found.texts)}." if found.texts else ""
    filters = f" Filters: {', '.join(found.filters)}." if found.filters else ""
    if isinstance(index, FulltextIndex):
        how = f"by words (index {index.name}), best for names and rare words: returns those whose texts match best"
    else:
        how = f"by meaning (index {index.name}): returns the nearest to the question"
    return f"{what}Search {held} {how} with their properties, best first.{texts}{filters}"


def build(context: Context) -> Served:
    """Return what serves the tools; the database is looked at when they are first asked for.

    Raises:
        SetupError: The namespace makes names that clients refuse.
    """
    catalog = Catalog(context.settings, context.backend, context.sources.embedder, context.sees, context.chosen)
    prefix = tool_name("search_", context.settings.namespace)
    tools = DiscoveredTools(catalog.look, lambda name: name.startswith(prefix))

    return Served(
        providers=[tools], middleware=[TellNews(tools), TellWhenKnown(tools)], prepare=context.backend.database
    )


FAMILY = Family(
    "discovered",
    tools=lambda _: ("search_*",),
    is_default=lambda settings: not settings.embedding_provider and not settings.names_retrievers,
    build=build,
    missing=missing_database,
    search_tool=lambda sources, _, name: index_search_name(name, sources.settings.namespace),
)
