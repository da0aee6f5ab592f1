"""`get-schema`: what the database holds, and which tool searches what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastmcp.tools import Tool, ToolResult
from pydantic import Field

from mcp_neo4j_vector_graphrag.database.schema import Schema, read_schema
from mcp_neo4j_vector_graphrag.database.schema_text import fitted, schema_text
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS, READ_ONLY, answered
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_database

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.tools.family import Context

NAME = "get-schema"
"""The tool's name before the namespace."""

_DESCRIPTION = (
    "Show what the Neo4j graph holds: labels and relationship types with counts, properties and what they join, vector "
    "and full-text indexes with the tool that searches each, constraints."
)

Labels = Annotated[list[str] | None, Field(description="Only these labels, whole.")]
Types = Annotated[list[str] | None, Field(description="Only these relationship types, whole.")]


def build(context: Context) -> Served:
    """Return the tool; the database is read at each call.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    settings = context.settings

    def read(labels: list[str] | None, types: list[str] | None) -> Schema:
        schema = read_schema(context.backend.database(), labels or (), types or ())
        tools = {index.name: context.search_tool("vector", index.name) for index in schema.vector_indexes}
        tools |= {index.name: context.search_tool("fulltext", index.name) for index in schema.fulltext_indexes}
        return fitted(schema, settings.response_tokens, {index: tool for index, tool in tools.items() if tool})

    async def get_schema(labels: Labels = None, types: Types = None) -> ToolResult:
        schema = await answered(settings.read_timeout + CALL_OVERHEAD_SECONDS, read, labels, types)
        return ToolResult(content=schema_text(schema), structured_content=schema.model_dump(mode="json"))

    tool = Tool.from_function(
        get_schema,
        name=tool_name(NAME, settings.namespace),
        title=title(NAME),
        description=_DESCRIPTION,
        annotations=READ_ONLY,
        output_schema=Schema.model_json_schema(),
    )
    return Served([tool], prepare=context.backend.database)


FAMILY = Family(
    "schema",
    tools=lambda _: (NAME,),
    is_default=lambda settings: not settings.names_retrievers,
    build=build,
    missing=missing_database,
)
