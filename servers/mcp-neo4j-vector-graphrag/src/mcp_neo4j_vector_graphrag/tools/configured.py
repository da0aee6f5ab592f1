"""The tool of the one index that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.tools.family import Family, Served
from mcp_neo4j_vector_graphrag.tools.search import DEFAULT_TOP_K, SearchTool

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Context

NAME = "neo4j_vector"
"""The tool's name before the namespace."""


def build(context: Context) -> Served:
    """Return the tool; its retriever is made at the first call.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    settings, backend = context.settings, context.backend
    made: dict[Database, VectorGraphRetriever] = {}

    def retriever() -> VectorGraphRetriever:
        database = backend.database()
        if database not in made:
            made[database] = _retriever(settings, database)
        return made[database]

    tool = SearchTool(
        name=tool_name(NAME, settings.namespace),
        title=title(NAME),
        description=describe(settings.index_name, settings.tool_description),
        retriever=retriever,
        default_top_k=settings.top_k or DEFAULT_TOP_K,
        response_tokens=settings.response_tokens,
        seconds=settings.read_timeout + CALL_OVERHEAD_SECONDS,
    )
    return Served([tool.build()], prepare=retriever, require=lambda: retriever().prepare())


def describe(index_name: str | None, about: str | None = None) -> str:
    """Return the description of a search tool, for a model that chooses between tools."""
    where = f"the Neo4j index '{index_name}'" if index_name else "a Neo4j graph"
    what = f"{about.rstrip('.')}. " if about else ""
    return (
        f"{what}Search by meaning: embeds the question, finds the nearest entries of {where} and returns their text "
        "with what the graph says about them, best first."
    )


def _retriever(settings: Settings, database: Database) -> VectorGraphRetriever:
    from mcp_neo4j_vector_graphrag.retrieval.configured import configured_retriever  # noqa: PLC0415 - 0.8 s

    return configured_retriever(settings, database, configured_embedder(settings))


VECTOR = Family(
    "configured",
    tools=lambda _: (NAME,),
    is_default=lambda settings: bool(settings.index_name),
    build=build,
    missing=lambda settings: "" if settings.index_name else "INDEX_NAME",
)
