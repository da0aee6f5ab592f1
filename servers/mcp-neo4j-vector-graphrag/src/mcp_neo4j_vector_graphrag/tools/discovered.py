"""One search tool for each index that the database has, looked up again as time goes by."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from fastmcp.exceptions import NotFoundError, ToolError
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers import Provider
from mcp_types import ToolListChangedNotification

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, read_indexes
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, MissingIndexError, one_line
from mcp_neo4j_vector_graphrag.namespace import MAX_LENGTH, index_search_name, search_tool_name
from mcp_neo4j_vector_graphrag.retrieval.kept import Kept
from mcp_neo4j_vector_graphrag.retrieval.result import DocumentResult
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_database
from mcp_neo4j_vector_graphrag.tools.faults import FaultError, as_fault
from mcp_neo4j_vector_graphrag.tools.filter_schema import filters_schema
from mcp_neo4j_vector_graphrag.tools.search import LUCENE, SearchTool, filters_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    import mcp_types
    from fastmcp.tools import Tool, ToolResult
    from fastmcp.utilities.versions import VersionSpec
    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import AnyIndex
    from mcp_neo4j_vector_graphrag.retrieval.configured import AnyRetriever
    from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Context, Sees
    from mcp_neo4j_vector_graphrag.tools.search import Argument

LIST_SECONDS = 30
"""A list of tools is good for this long; then the database is asked again."""

DEFAULT_TOP_K = 10
MAX_TOP_K = 100

_FIRST_LOOK_SECONDS = 3.0
"""So long the first list waits for the database; then it says what is known."""

_FIRST_CALL_SECONDS = 20.0
"""So long a call waits for the first look; a client gives up later."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Look:
    """What a look at the database gives."""

    tools: Mapping[str, Tool]
    """By name."""
    waiting: str = ""
    """What to say of the indexes that answer no search yet, or no more."""


class DiscoveredTools(Provider):
    """Serves the tools that a look at the database makes.

    Args:
        look: Looks at the database and makes the tools; may take long, and may raise.
    """

    def __init__(self, look: Callable[[], Look]) -> None:
        super().__init__()
        self._look = look
        self._found = Look({})
        self._looked_at = float("-inf")
        self._looking: Future[tuple[Look, float] | Exception] | None = None
        self._failure = ""
        self._told: frozenset[str] | None = None

    async def _list_tools(self) -> Sequence[Tool]:
        await self.refresh(_FIRST_LOOK_SECONDS)
        self._told = self._definitions()
        return [self._found.tools[name] for name in self.names]

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        del version
        if name not in self._found.tools:
            has_looked = self._looked_at > float("-inf")
            await self.refresh(_FIRST_LOOK_SECONDS if has_looked else _FIRST_CALL_SECONDS, at_once=True)
        return self._found.tools.get(name)

    async def refresh(self, seconds: float, *, at_once: bool = False) -> None:
        """Look at the database if the last look is old; requests at the same time share one look.

        Args:
            seconds: How long to wait for what it finds.
            at_once: Look even if the last look is not old.
        """
        if self._looking and self._looking.done():
            self._take(self._looking)  # nobody waited for its end, which may be long past
        if self._looking is None:
            if not at_once and time.monotonic() - self._looked_at < LIST_SECONDS:
                return
            self._looking = deadline.start(self._outcome)
        looking = self._looking
        # Unlike `wait_for`, this cancels nothing when the time is over: others share the look.
        await asyncio.wait([asyncio.wrap_future(looking)], timeout=seconds)
        if looking.done() and self._looking is looking:
            self._take(looking)

    def _outcome(self) -> tuple[Look, float] | Exception:
        """Return what a look finds and when it ended, or why it failed."""
        try:
            return self._look(), time.monotonic()
        except Exception as error:  # noqa: BLE001 - the log is told, and the list says what is known
            return error

    def _take(self, looking: Future[tuple[Look, float] | Exception]) -> None:
        """Take over what a look that has ended has found."""
        self._looking = None
        outcome = looking.result()
        if isinstance(outcome, Exception):
            self._failure = str(as_fault(outcome))
            _logger.warning("The indexes could not be looked up: %s", self._failure)
        else:
            self._found, self._looked_at = outcome
            self._failure = ""

    def take_news(self) -> bool:
        """Return whether the tools differ from those that were told last; from now on these are told."""
        before, self._told = self._told, self._definitions()
        return before is not None and before != self._told

    def _definitions(self) -> frozenset[str]:
        """Return all that a client knows of the tools."""
        return frozenset(tool.to_mcp_tool().model_dump_json() for tool in self._found.tools.values())

    @property
    def names(self) -> list[str]:
        """The names of the tools that are known."""
        return sorted(self._found.tools)

    @property
    def waiting(self) -> str:
        """What to say of the indexes that answer no search yet."""
        return self._found.waiting

    @property
    def unknown(self) -> str:
        """Why it is not known what there is; empty if it is."""
        if self._failure or self._looked_at > float("-inf"):
            return self._failure
        return "The database is still being looked at: ask again in a moment."


class TellNews(Middleware):
    """Tells a client whose call shows that the indexes have changed, by an answer and a notification.

    Args:
        tools: The tools that come and go.
    """

    def __init__(self, tools: DiscoveredTools) -> None:
        self._tools = tools

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Answer a call, look at the indexes again if it failed or the last look is old, and notify."""
        name = context.message.name
        was_known = name in self._tools.names
        try:
            result = await call_next(context)
        except NotFoundError:
            await self._notify()
            raise self._no_such_tool(name) from None
        except FaultError as error:
            if isinstance(error.fault, MissingIndexError):
                await self._tools.refresh(_FIRST_LOOK_SECONDS, at_once=True)
            await self._notify()
            if was_known and name not in self._tools.names:
                raise self._no_such_tool(name) from None
            raise
        await self._tools.refresh(0)
        await self._notify()
        return result

    def _no_such_tool(self, name: str) -> ToolError:
        if self._tools.unknown:
            return ToolError(f"The tool {one_line(name, MAX_LENGTH)} is not there yet. {self._tools.unknown}")
        known = ", ".join(self._tools.names) or "none, since the database has no vector index that is online"
        waiting = f" {self._tools.waiting}" if self._tools.waiting else ""
        return ToolError(f"There is no tool {one_line(name, MAX_LENGTH)}; the search tools are now: {known}.{waiting}")

    async def _notify(self) -> None:
        if self._tools.take_news():
            await get_context().send_notification(ToolListChangedNotification())


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
                _logger.warning("The database has no vector index that is online. %s", why)
        self._tell_unmatched(online)
        tools = [tool for each in found if (tool := self._tool(each))]
        return Look({tool.name: tool.build() for tool in tools}, indexes.waiting)

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

    def _tool(self, found: Discovered) -> SearchTool | None:
        retriever = self._retriever(found)
        retriever.filterable = found.filters
        if self._settings.retrieval_query:
            try:
                retriever.prepare()
            except GraphRAGError as error:
                _logger.warning("The index '%s' gets no tool: %s", found.index.name, error)
                return None
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
    tools = DiscoveredTools(catalog.look)

    return Served(providers=[tools], middleware=[TellNews(tools)], prepare=context.backend.database)


FAMILY = Family(
    "discovered",
    tools=lambda _: ("search_*",),
    is_default=lambda settings: not settings.embedding_provider and not settings.names_retrievers,
    build=build,
    missing=missing_database,
    search_tool=lambda sources, _, name: index_search_name(name, sources.settings.namespace),
)
