"""All families of tools. A new one is a module and a line here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.tools import configured, discovered, generic
from mcp_neo4j_vector_graphrag.tools.family import Context, Selection, Served

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Family

FAMILIES: tuple[Family, ...] = (
    configured.VECTOR,
    configured.HYBRID,
    discovered.FAMILY,
    generic.FAMILY,
)


def serve(settings: Settings, backend: Backend) -> list[Served]:
    """Return what the families bring whose tools are seen; nothing is asked of the database yet.

    Raises:
        SetupError: The settings choose a tool that there is none of, or that lacks a setting, or two tools of one name.
    """
    selection = Selection(settings.tools, settings)
    selection.check(FAMILIES)
    served = [
        family.build(Context(settings, backend, sees=partial(selection.sees, family)))
        for family in FAMILIES
        if selection.uses(family)
    ]
    names = [tool.name for each in served for tool in each.tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SetupError(f"Two tools are named '{twice[0]}': rename one, or hide it with NEO4J_MCP_TOOLS.")
    return served
