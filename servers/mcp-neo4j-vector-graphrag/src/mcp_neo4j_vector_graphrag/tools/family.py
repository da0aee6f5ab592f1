"""A family of tools: when a model sees it, and how it is built."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from mcp_neo4j_vector_graphrag.errors import SetupError, one_line
from mcp_neo4j_vector_graphrag.namespace import MAX_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastmcp.server.middleware import Middleware
    from fastmcp.server.providers import Provider
    from fastmcp.tools import Tool

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.declared.sources import Sources
    from mcp_neo4j_vector_graphrag.settings import Settings

    IndexKind = Literal["vector", "fulltext"]
    Sees = Callable[[str], bool]


@dataclass(frozen=True)
class Served:
    """What a family brings to a server."""

    tools: Sequence[Tool] = ()
    providers: Sequence[Provider] = ()
    """Serve tools that come and go."""
    middleware: Sequence[Middleware] = ()
    prepare: Callable[[], object] = lambda: None
    """What the first call needs and takes a while; it is begun when the server starts, and may fail."""
    require: Callable[[], object] = lambda: None
    """Sees that the indexes which the settings name can be searched; raises SetupError or UnavailableError."""
    close: Callable[[], object] = lambda: None
    """Ends what only this family uses."""


@dataclass(frozen=True)
class Context:
    """What a family is built from."""

    settings: Settings
    backend: Backend
    sees: Sees
    """Whether the operator shows a tool, by its name without the namespace."""
    sources: Sources
    """What all families of the server share: its databases, its embedders, the tables of its file."""
    search_tool: Callable[[IndexKind, str, str | None], str | None] = lambda *_: None
    """Returns the whole name of the tool that searches an index, if one is shown.

    It is given the index's kind, its name, and the file's name of its database; of the environment's, `None`.
    """
    check_names: Callable[[Sequence[str]], None] = lambda _: None
    """Sees, once a family knows the names of its tools, that the operator names no other; raises SetupError."""
    chosen: Sequence[str] = ()
    """The operator's entries that choose single tools of the family, or several by a pattern."""


@dataclass(frozen=True)
class Family:
    """One entry of the registry: tools that are seen and built together."""

    name: str
    """What stands for all its tools in NEO4J_MCP_TOOLS; entries may share it."""
    tools: Callable[[Sources], Sequence[str]]
    """The names that its tools can have, without the namespace; one may end in `*`."""
    is_default: Callable[[Settings], bool]
    """Whether it is seen when the operator chooses nothing."""
    build: Callable[[Context], Served]
    missing: Callable[[Settings], str] = lambda _: ""
    """What must be set for it and is not, as a text; empty if nothing."""
    search_tool: Callable[[Sources, IndexKind, str], str | None] = lambda *_: None
    """Returns its tool for an index of the environment's database, by the name without the namespace."""


def missing_database(settings: Settings) -> str:
    """Return what must be set for a family that asks the environment's database."""
    return "" if settings.uri or settings.demo else "NEO4J_URI"


def missing_any_database(settings: Settings) -> str:
    """Return what must be set for a family that asks any database: without one, the file of retrievers has some."""
    return "" if settings.retrievers_file else missing_database(settings)


class Selection:
    """Which tools a model sees: what the operator chose, else what is the default.

    Args:
        entries: Names of families and tools; with a `-` before it, what is hidden.
        sources: What there is to search.
        families: All that there are.
    """

    def __init__(self, entries: Sequence[str], sources: Sources, families: Sequence[Family]) -> None:
        self._sources = sources
        self._families = families
        self._chosen = [entry for entry in entries if not entry.startswith("-")]
        self._hidden = [entry[1:] for entry in entries if entry.startswith("-")]

    def sees(self, family: Family, tool: str) -> bool:
        """Whether a tool of a family is seen."""
        if any(_names(entry, family, tool) for entry in self._hidden):
            return False
        if self._chosen:
            return any(_names(entry, family, tool) for entry in self._chosen)
        return family.is_default(self._sources.settings)

    def chosen(self, family: Family) -> list[str]:
        """Return the entries that choose single tools of a family, or several by a pattern."""
        return [entry for entry in self._chosen if self._is_of(family, entry)]

    def uses(self, family: Family) -> bool:
        """Whether any tool of a family can be seen."""
        possible = [*family.tools(self._sources), *self.chosen(family)]
        return not family.missing(self._sources.settings) and any(self.sees(family, tool) for tool in possible)

    def check(self, families: Sequence[Family]) -> None:
        """See that each entry names something.

        Raises:
            SetupError: One names nothing, or a family whose settings are missing.
        """
        for entry in (*self._chosen, *self._hidden):
            known = [family for family in families if entry == family.name or self._is_of(family, entry)]
            if not known:
                names = dict.fromkeys(name for each in families for name in (each.name, *each.tools(self._sources)))
                shown = one_line(entry, MAX_LENGTH)
                raise SetupError(f"NEO4J_MCP_TOOLS names '{shown}', which is none of {', '.join(names)}.")
            missing = [each.missing(self._sources.settings) for each in known]
            if entry in self._chosen and all(missing):
                raise SetupError(f"NEO4J_MCP_TOOLS chooses '{entry}', which needs {missing[0]}.")

    def _is_of(self, family: Family, entry: str) -> bool:
        """Whether an entry names a tool of a family; who has a tool of just that name comes before patterns."""
        if any(entry in each.tools(self._sources) for each in self._families):
            return entry in family.tools(self._sources)
        return any(fnmatchcase(entry, name) for name in family.tools(self._sources))


def _names(entry: str, family: Family, tool: str) -> bool:
    """Whether an entry names a tool or its family; `search_doc*` names all tools that begin so."""
    return entry in (family.name, tool) or fnmatchcase(tool, entry)
