"""The tools of the indexes that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.retrieval.kept import Kept
from mcp_neo4j_vector_graphrag.tools.family import Family, Served
from mcp_neo4j_vector_graphrag.tools.search import ALPHA, DEFAULT_TOP_K, RANKER, SearchTool

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.retrieval.configured import AnyRetriever
    from mcp_neo4j_vector_graphrag.tools.family import Context
    from mcp_neo4j_vector_graphrag.tools.search import Argument

VECTOR_NAME, HYBRID_NAME = "neo4j_vector", "neo4j_hybrid"
"""The tools' names before the namespace."""


def build_vector(context: Context) -> Served:
    """Return the search by meaning; its retriever is made at the first call.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    return _served(context, VECTOR_NAME, describe(context.settings.index_name, context.settings.tool_description))


def build_hybrid(context: Context) -> Served:
    """Return the search by meaning and words; its retriever is made at the first call.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    settings = context.settings
    description = describe(settings.index_name, settings.tool_description, settings.fulltext_index_name)
    return _served(context, HYBRID_NAME, description, (ALPHA, RANKER))


def _served(context: Context, name: str, description: str, arguments: tuple[Argument, ...] = ()) -> Served:
    settings = context.settings
    made: Kept[AnyRetriever] = Kept(context.backend)

    def make(database: Database) -> AnyRetriever:
        from mcp_neo4j_vector_graphrag.retrieval.configured import configured_retriever  # noqa: PLC0415 - 0.8 s

        return configured_retriever(settings, database, context.sources.embedder, hybrid=name == HYBRID_NAME)

    def retriever() -> AnyRetriever:
        return made.get(name, make)

    tool = SearchTool(
        name=tool_name(name, settings.namespace),
        title=title(name),
        description=description,
        retriever=retriever,
        default_top_k=settings.top_k or DEFAULT_TOP_K,
        arguments=arguments,
        response_tokens=settings.response_tokens,
        seconds=settings.read_timeout + CALL_OVERHEAD_SECONDS,
    )
    return Served([tool.build()], prepare=retriever, require=lambda: retriever().prepare())


def describe(index_name: str | None, about: str | None = None, fulltext_index_name: str | None = None) -> str:
    """Return the description of a search tool, for a model that chooses between tools."""
    where = f"the Neo4j index '{index_name}'" if index_name else "a Neo4j graph"
    what = f"{about.rstrip('.')}. " if about else ""
    if fulltext_index_name:
        return (
            f"{what}Search by meaning and by words at once: finds the nearest entries of {where} and those whose texts "
            f"match in '{fulltext_index_name}', and returns the best of both with what the graph says about them."
        )
    return (
        f"{what}Search by meaning: embeds the question, finds the nearest entries of {where} and returns their text "
        "with what the graph says about them, best first."
    )


VECTOR = Family(
    "configured",
    tools=lambda _: (VECTOR_NAME,),
    is_default=lambda settings: bool(settings.index_name),
    build=build_vector,
    missing=lambda settings: "" if settings.index_name else "INDEX_NAME",
    search_tool=lambda sources, kind, name: (
        VECTOR_NAME if (kind, name) == ("vector", sources.settings.index_name) else None
    ),
)
HYBRID = Family(
    "configured",
    tools=lambda _: (HYBRID_NAME,),
    is_default=lambda settings: bool(settings.fulltext_index_name),
    build=build_hybrid,
    missing=lambda settings: "" if settings.fulltext_index_name else "INDEX_NAME and FULLTEXT_INDEX_NAME",
    search_tool=lambda sources, _, name: HYBRID_NAME if name == sources.settings.fulltext_index_name else None,
)
