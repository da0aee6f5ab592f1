"""`get-schema`: what the database holds, and which tool searches what."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp.tools import ToolResult
from pydantic import Field

from mcp_neo4j_vector_graphrag.database.schema.entries import Schema
from mcp_neo4j_vector_graphrag.database.schema.read import read_schema
from mcp_neo4j_vector_graphrag.database.schema.text import fitted, schema_text
from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.tools.calls import answered, plain_tool
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_any_database
from mcp_neo4j_vector_graphrag.tools.search import LISTED, Argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_neo4j_vector_graphrag.tools.family import Context

NAME = "get-schema"
"""The tool's name before the namespace."""

_DESCRIPTION = (
    "Show what the Neo4j graph holds: labels and relationship types with counts, properties and what they join, vector "
    "and full-text indexes with the tool that searches each, constraints."
)

Labels = Annotated[list[str] | None, Field(description="Only these labels, whole."), LISTED]
Types = Annotated[list[str] | None, Field(description="Only these relationship types, whole."), LISTED]


def build(context: Context) -> Served:
    """Return the tool; the database is read at each call.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    settings = context.settings

    backends = context.sources.backends
    arguments = (Argument("labels", Labels, None), Argument("types", Types, None), *_database_argument(list(backends)))

    def read(labels: list[str] | None, types: list[str] | None, name: str | None) -> Schema:
        database = backends[name].database()
        with database.translated():
            schema = read_schema(database, labels or (), types or ())
        tools = {index.name: context.search_tool("vector", index.name, name) for index in schema.vector_indexes}
        tools |= {index.name: context.search_tool("fulltext", index.name, name) for index in schema.fulltext_indexes}
        return fitted(schema, settings.response_tokens, {index: tool for index, tool in tools.items() if tool})

    async def get_schema(**given: Any) -> ToolResult:  # noqa: ANN401 - as the signature says, which is made below
        name = given.get("database", next(iter(backends)))
        seconds = settings.read_timeout + CALL_OVERHEAD_SECONDS
        schema = await answered(seconds, read, given["labels"], given["types"], name)
        return ToolResult(content=schema_text(schema), structured_content=schema.model_dump(mode="json"))

    get_schema.__annotations__ = {argument.name: argument.type for argument in arguments}
    get_schema.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # which `inspect` reads
        [argument.as_parameter() for argument in arguments]
    )
    name = tool_name(NAME, settings.namespace)
    tool = plain_tool(get_schema, name, title(NAME), _DESCRIPTION, Schema)
    return Served([tool], prepare=context.sources.prepare)


def _database_argument(names: Sequence[str | None]) -> Sequence[Argument]:
    """Return the argument that chooses one of several databases; the environment's, `None`, needs no choice."""
    if len(names) == 1:
        return ()
    named = [name for name in names if name is not None]
    chosen: Any = Literal.__getitem__(tuple(named))  # the names are known at the start alone
    if None in names:
        kind = Annotated[chosen | None, Field(description="The database; by default the main one.")]
        return [Argument("database", kind, None)]
    return [Argument("database", Annotated[chosen, Field(description="The database.")])]


FAMILY = Family(
    "schema",
    tools=lambda _: (NAME,),
    is_default=lambda settings: not settings.names_retrievers,
    build=build,
    missing=missing_any_database,
)
