"""All families of tools. A new one is a module and a line here."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.namespace import tool_name
from mcp_neo4j_vector_graphrag.tools import configured, connectors, declared, discovered, generic, own, schema, walking
from mcp_neo4j_vector_graphrag.tools.family import Context, Selection, Served

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Family, IndexKind

FAMILIES: tuple[Family, ...] = (
    configured.VECTOR,
    configured.HYBRID,
    declared.FAMILY,
    own.FAMILY,
    discovered.FAMILY,
    generic.FAMILY,
    schema.FAMILY,
    walking.FAMILY,
    connectors.FAMILY,
)

_BY_ID = ((walking.FAMILY, walking.NAME), (connectors.FAMILY, connectors.FETCH))


def serve(settings: Settings, backend: Backend) -> list[Served]:
    """Return what the families bring whose tools are seen; nothing is asked of the database yet.

    Raises:
        SetupError: The settings choose a tool that there is none of, or that lacks a setting, or two tools of one name,
            or one that reaches what another must not show.
    """
    sources = Sources(settings, backend)
    selection = Selection(settings.tools, sources, FAMILIES)
    selection.check(FAMILIES)
    used = [family for family in FAMILIES if selection.uses(family)]
    if not used:
        raise SetupError("NEO4J_MCP_TOOLS hides every tool that there would be: leave one, or choose others.")
    _check_fixed_filters(sources, selection, used)
    searching = partial(_search_tool, sources, selection, used)
    served = [
        family.build(
            Context(
                settings,
                backend,
                partial(selection.sees, family),
                sources,
                searching,
                partial(_check, selection, family),
                selection.chosen(family),
            )
        )
        for family in used
    ]
    names = [tool.name for each in served for tool in each.tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SetupError(f"Two tools are named '{twice[0]}': rename one, or hide it with NEO4J_MCP_TOOLS.")
    return [*served, Served(close=sources.close)]


def _check_fixed_filters(sources: Sources, selection: Selection, used: Sequence[Family]) -> None:
    """See that no tool returns elements by their ids, which a table's fixed filters may exclude.

    Raises:
        SetupError: One does.
    """

    def is_seen(family: Family, name: str) -> bool:
        return family in used and selection.sees(family, name)

    by_id = [name for family, name in _BY_ID if is_seen(family, name)]
    are_all_searched = is_seen(connectors.FAMILY, connectors.SEARCH)
    for table in sources.tables if by_id else ():
        if table.fixed_filters and (are_all_searched or is_seen(declared.FAMILY, table.name)):
            raise SetupError(
                f"The tool '{by_id[0]}' returns any element by its id, those that the fixed_filters of the retriever "
                f"'{table.name}' exclude too: hide '{by_id[0]}' with NEO4J_MCP_TOOLS, or leave the fixed_filters out."
            )


def _check(selection: Selection, family: Family, names: Sequence[str]) -> None:
    """See that each entry of the operator's names something, now that the tools of a family are known.

    Raises:
        SetupError: One names nothing.
    """
    selection.check([replace(each, tools=lambda _: names) if each is family else each for each in FAMILIES])


def _search_tool(  # noqa: PLR0913 - the last three are a call's
    sources: Sources,
    selection: Selection,
    used: Sequence[Family],
    kind: IndexKind,
    index_name: str,
    database: str | None = None,
) -> str | None:
    """Return the whole name of the tool that searches an index, if one is shown."""
    for family in used:
        if database is None:
            name = family.search_tool(sources, kind, index_name)
        else:
            name = declared.search_tool(sources, kind, index_name, database) if family is declared.FAMILY else None
        if name and selection.sees(family, name):
            return tool_name(name, sources.settings.namespace)
    return None
