"""`expand`: from what a search found to what is around it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Literal

from fastmcp.tools import ToolResult
from pydantic import Field

from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.retrieval.neighbours import Neighbours, Surroundings, neighbours_text, together
from mcp_neo4j_vector_graphrag.retrieval.walk import (
    MAX_DEPTH,
    MAX_IDS,
    MAX_LIMIT,
    all_gone,
    expand,
    not_looked_for,
    present,
)
from mcp_neo4j_vector_graphrag.tools.calls import answered, plain_tool
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_any_database
from mcp_neo4j_vector_graphrag.tools.search import LISTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.cypher import Direction
    from mcp_neo4j_vector_graphrag.database.values import PlainJson
    from mcp_neo4j_vector_graphrag.tools.family import Context

NAME = "expand"
"""The tool's name before the namespace."""

_logger = logging.getLogger(__name__)

_DESCRIPTION = (
    "Follow search results into the Neo4j graph: returns the neighbours of elements with their properties and the "
    "relationships that lead there."
)

Ids = Annotated[
    list[str], Field(min_length=1, max_length=MAX_IDS, description="Element ids, as a search returns them."), LISTED
]
Types = Annotated[list[str] | None, Field(description="Follow only these relationship types."), LISTED]
Depth = Annotated[int, Field(ge=1, le=MAX_DEPTH, description="How many hops, 1 or 2.")]
Limit = Annotated[
    int, Field(ge=1, le=MAX_LIMIT, description=f"Neighbours of each element in each hop, 1 to {MAX_LIMIT}.")
]


def build(context: Context) -> Served:
    """Return the tool.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    settings = context.settings

    def walk(
        ids: Sequence[str], types: Sequence[str] | None, direction: Direction, depth: int, limit: int
    ) -> Neighbours:
        owned, untold = owners([*context.sources.backends.values()], ids)
        found = [
            expand(
                database,
                some,
                relationship_types=types or (),
                direction=direction,
                depth=depth,
                limit=limit,
                plain=_plain(database),
            )
            for database, some in owned.items()
        ]
        return together([*found, Surroundings([], [], untold)], settings.response_tokens)

    async def handler(
        ids: Ids,
        relationship_types: Types = None,
        direction: Annotated[
            Literal["out", "in", "both"], Field(description="Which way the relationships point.")
        ] = "both",
        depth: Depth = 1,
        limit: Limit = 25,
    ) -> ToolResult:
        seconds = settings.read_timeout + CALL_OVERHEAD_SECONDS
        found = await answered(seconds, walk, ids, relationship_types, direction, depth, limit)
        return ToolResult(content=neighbours_text(found), structured_content=found.model_dump(mode="json"))

    name = tool_name(NAME, settings.namespace)
    tool = plain_tool(handler, name, title(NAME), _DESCRIPTION, Neighbours)
    return Served([tool], prepare=context.sources.prepare)


def owners(backends: Sequence[Backend], ids: Sequence[str]) -> tuple[Mapping[Database, Sequence[str]], list[str]]:
    """Return the databases that have some of the ids, with those that each has, and what else is to be told.

    Ids that no database has are given to the first that has some. Where one could not be asked, nobody knows whether
    they are gone: they are given to none, and told.

    Args:
        backends: An id belongs to one of them; a single one is not asked.
        ids: Of elements.

    Raises:
        QuestionError: No database has any.
        SetupError: None of those that could be asked has any, and another can't be before something is changed.
        UnavailableError: None of those that could be asked has any, and another can't be asked now.
    """
    if len(backends) == 1:
        return {backends[0].database(): ids}, []
    left = list(dict.fromkeys(given.strip() for given in ids))
    found: dict[Database, list[str]] = {}
    faults: list[GraphRAGError] = []
    for backend in backends:
        try:
            database = backend.database()
            there = set(present(database, left)) if left else set()
        except GraphRAGError as error:
            faults.append(error)
            continue
        if there:
            found[database] = [each for each in left if each in there]
        left = [each for each in left if each not in there]
    for fault in faults if found else faults[1:]:
        _logger.warning("A database could not be asked: %s", fault)
    if not found:
        raise faults[0] if faults else QuestionError(all_gone(left))
    if faults and left:
        return found, [not_looked_for(left, faults)]
    found[next(iter(found))] += left
    return found, []


def _plain(database: Database) -> PlainJson:
    with database.translated():
        return read_indexes(database).plain


FAMILY = Family(
    "walking", tools=lambda _: (NAME,), is_default=lambda _: False, build=build, missing=missing_any_database
)
