"""`expand`: from what a search found to what is around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from fastmcp.tools import Tool, ToolResult
from pydantic import Field

from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.retrieval.neighbours import (
    MAX_DEPTH,
    MAX_IDS,
    MAX_LIMIT,
    Neighbours,
    expand,
    neighbours_text,
    within,
)
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS, READ_ONLY, answered
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_database

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.tools.family import Context

NAME = "expand"
"""The tool's name before the namespace."""

_DESCRIPTION = (
    "Follow search results into the Neo4j graph: returns the neighbours of elements with their properties and the "
    "relationships that lead there."
)

Ids = Annotated[
    list[str], Field(min_length=1, max_length=MAX_IDS, description="Element ids, as a search returns them.")
]
Types = Annotated[list[str] | None, Field(description="Follow only these relationship types.")]
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
        ids: list[str], types: list[str] | None, direction: Literal["out", "in", "both"], depth: int, limit: int
    ) -> Neighbours:
        database = context.backend.database()
        found = expand(
            database,
            ids,
            relationship_types=types or (),
            direction=direction,
            depth=depth,
            limit=limit,
            plain=read_indexes(database).plain,
        )
        return within(found, settings.response_tokens)

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

    tool = Tool.from_function(
        handler,
        name=tool_name(NAME, settings.namespace),
        title=title(NAME),
        description=_DESCRIPTION,
        annotations=READ_ONLY,
        output_schema=Neighbours.model_json_schema(),
    )
    return Served([tool], prepare=context.backend.database)


FAMILY = Family("walking", tools=lambda _: (NAME,), is_default=lambda _: False, build=build, missing=missing_database)
