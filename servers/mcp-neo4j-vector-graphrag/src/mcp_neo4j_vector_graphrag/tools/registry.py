"""All families of tools. A new one is a module and a line here."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

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


def serve(settings: Settings, backend: Backend) -> list[Served]:
    """Return what the families bring whose tools are seen; nothing is asked of the database yet.

    Raises:
        SetupError: The settings choose a tool that there is none of, or that lacks a setting, or two tools of one name.
    """
    selection = Selection(settings.tools, settings, FAMILIES)
    selection.check(FAMILIES)
    used = [family for family in FAMILIES if selection.uses(family)]
    searching = partial(_search_tool, settings, selection, used)
    served = [
        family.build(
            Context(settings, backend, partial(selection.sees, family), searching, partial(_check, selection, family))
        )
        for family in used
    ]
    names = [tool.name for each in served for tool in each.tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SetupError(f"Two tools are named '{twice[0]}': rename one, or hide it with NEO4J_MCP_TOOLS.")
    return served


def _check(selection: Selection, family: Family, names: Sequence[str]) -> None:
    """See that each entry of the operator's names something, now that the tools of a family are known.

    Raises:
        SetupError: One names nothing.
    """
    selection.check([replace(each, tools=lambda _: names) if each is family else each for each in FAMILIES])


def _search_tool(
    settings: Settings, selection: Selection, used: list[Family], kind: IndexKind, index_name: str
) -> str | None:
    """Return the whole name of the tool that searches an index, if one is shown."""
    for family in used:
        name = family.search_tool(settings, kind, index_name)
        if name and selection.sees(family, name):
            return tool_name(name, settings.namespace)
    return None
