"""Tools that come and go with what the database has: when it is looked at, and how clients are told of changes."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from fastmcp.exceptions import NotFoundError, ToolError
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers import Provider
from mcp_types import ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.errors import MissingIndexError, UnavailableError, one_line
from mcp_neo4j_vector_graphrag.namespace import MAX_LENGTH
from mcp_neo4j_vector_graphrag.tools.faults import FaultError, as_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    import mcp_types
    from fastmcp import Context
    from fastmcp.tools import Tool, ToolResult
    from fastmcp.utilities.versions import VersionSpec
    from mcp import ServerSession

    from mcp_neo4j_vector_graphrag.errors import GraphRAGError

LIST_SECONDS = 30
"""A list of tools is good for this long; then the database is asked again."""

_FIRST_LOOK_SECONDS = 3.0
"""So long the first list waits for the database; then it says what is known."""

_FIRST_CALL_SECONDS = 20.0
"""So long a call waits for the first look; a client gives up later."""

_AGAIN_SECONDS = (5.0, 10.0, 20.0, 40.0, 60.0)
"""So long after a look that failed the next one follows, where a client waits to be told; the last time goes on."""

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
        can_be: Whether a tool of a name can be among them; those of other names are not looked for.
    """

    def __init__(self, look: Callable[[], Look], can_be: Callable[[str], bool] = lambda _: True) -> None:
        super().__init__()
        self._look = look
        self.can_be = can_be
        self._found = Look({})
        self._looked_at = float("-inf")
        self._looking: Future[tuple[Look, float] | Exception] | None = None
        self._failure: GraphRAGError | None = None
        self._told: frozenset[str] | None = None

    async def _list_tools(self) -> Sequence[Tool]:
        await self.refresh(_FIRST_LOOK_SECONDS)
        self._told = self._definitions()
        return [self._found.tools[name] for name in self.names]

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        del version
        if name not in self._found.tools and self.can_be(name):
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
            before, self._failure = self._failure, as_fault(outcome)
            if str(self._failure) != str(before):
                _logger.warning("The indexes could not be looked up: %s", self._failure)
        else:
            self._found, self._looked_at = outcome
            self._failure = None

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
    def may_come(self) -> bool:
        """Whether it is not known what there is, and a later look may tell without anybody's doing."""
        return isinstance(self._failure, UnavailableError) or self._looking is not None

    @property
    def unknown(self) -> str:
        """Why it is not known what there is; empty if it is."""
        if self._failure or self._looked_at > float("-inf"):
            return str(self._failure or "")
        return "The database is still being looked at: ask again in a moment."


class TellNews(Middleware):
    """Tells a client whose call shows that the tools have changed, by an answer and a notification.

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
            if not self._tools.can_be(name):
                raise
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
        known = one_line(", ".join(self._tools.names)) or "none"
        waiting = f" {self._tools.waiting}" if self._tools.waiting else ""
        return ToolError(f"There is no tool {one_line(name, MAX_LENGTH)}; the search tools are now: {known}.{waiting}")

    async def _notify(self) -> None:
        if self._tools.take_news():
            await get_context().send_notification(ToolListChangedNotification())


class TellWhenKnown(Middleware):
    """Tells a client that got its list before the database answered.

    Over HTTP none can be reached between requests, and one of the sessionless protocol nowhere: those ask again.

    Args:
        tools: The tools that come and go.
    """

    def __init__(self, tools: DiscoveredTools) -> None:
        self._tools = tools
        self._waiting: asyncio.Task[None] | None = None

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """List the tools; if they are not known yet, notify the client when they are."""
        tools = await call_next(context)
        is_waiting = self._waiting and not self._waiting.done()
        if self._tools.may_come and not is_waiting and _can_be_told(get_context()):
            self._waiting = asyncio.create_task(self._tell_when_known(get_context().session))
        return tools

    async def _tell_when_known(self, session: ServerSession) -> None:
        """Look less and less often until the database answers, or until somebody must act first, and notify."""
        for seconds in chain([0], _AGAIN_SECONDS, repeat(_AGAIN_SECONDS[-1])):
            if not self._tools.may_come:
                break
            await asyncio.sleep(seconds)
            await self._tools.refresh(_FIRST_CALL_SECONDS, at_once=True)
        if self._tools.take_news():
            await session.send_notification(ToolListChangedNotification())


def _can_be_told(asking: Context) -> bool:
    """Whether a client can be reached after its request."""
    return asking.transport == "stdio" and asking.session.protocol_version not in MODERN_PROTOCOL_VERSIONS
