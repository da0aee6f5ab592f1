"""Search on any index, which is named in the call or is the only one: by meaning, by words, or by both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from pydantic import Field

from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.retrieval.filters import OPERATORS
from mcp_neo4j_vector_graphrag.retrieval.result import DocumentResult, RankedResult
from mcp_neo4j_vector_graphrag.tools.discovered import DEFAULT_TOP_K, MAX_TOP_K
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_database
from mcp_neo4j_vector_graphrag.tools.index_choice import IndexChoice
from mcp_neo4j_vector_graphrag.tools.search import ALPHA, LUCENE, RANKER, Argument, SearchTool, filters_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import mcp_types
    from fastmcp.tools import ToolResult
    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Context

VECTOR, FULLTEXT, HYBRID = "vector-search", "fulltext-search", "hybrid-search"
TOOLS = (VECTOR, FULLTEXT, HYBRID)
"""The tools' names before the namespace."""


def _name_argument(name: str, kind: str) -> Argument:
    description = f"The {kind} index to search; may be left out where there is only one."
    return Argument(name, Annotated[str | None, Field(description=description)], None, use="choice")


VECTOR_INDEX = _name_argument("index_name", "vector")
FULLTEXT_INDEX = _name_argument("index_name", "full-text")
PAIRED_INDEX = _name_argument("fulltext_index_name", "full-text")

_CAMEL_CASE = {"indexName": "index_name", "fulltextIndexName": "fulltext_index_name", "topK": "top_k"}
_FILTERS: dict[str, Any] = {
    "type": "array",
    "description": "Restrict the search; all must hold.",
    "items": {
        "type": "object",
        "properties": {
            "property": {"type": "string"},
            "operator": {"type": "string", "enum": list(OPERATORS)},
            "value": {"description": "One value; a list for IN; none for IS NULL and IS NOT NULL."},
        },
        "required": ["property", "operator"],
    },
}


FILTERS = filters_argument(_FILTERS)


def build(context: Context) -> Served:
    """Return the tools; what depends on the database is found at each call.

    Raises:
        SetupError: The namespace makes a name that clients refuse.
    """
    choice = IndexChoice(context.settings, context.backend, context.sources.embedder)
    tools = [vector_tool, fulltext_tool, hybrid_tool]
    seen = [make for make, name in zip(tools, TOOLS, strict=True) if context.sees(name)]
    return Served(
        [make(context.settings, choice).build() for make in seen],
        middleware=[CamelCaseArguments(tool_name(name, context.settings.namespace) for name in TOOLS)],
        prepare=context.backend.database,
    )


def vector_tool(settings: Settings, choice: IndexChoice) -> SearchTool:
    """Return the search by meaning on any vector index.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    description = (
        "Search a Neo4j vector index by meaning: embeds the question, returns the nearest entities with their "
        "properties, best first. Without index_name the only index is taken; with several, the answer lists them."
    )
    return _tool(settings, VECTOR, description, choice.vector, (VECTOR_INDEX, FILTERS))


def fulltext_tool(settings: Settings, choice: IndexChoice) -> SearchTool:
    """Return the search by words on any full-text index.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    description = (
        "Search a Neo4j full-text index by words: best for names, codes and rare words. Returns the entities whose "
        "texts match best with their properties. Without index_name the only index is taken; with several, the answer "
        "lists them."
    )
    return _tool(settings, FULLTEXT, description, choice.fulltext, (FULLTEXT_INDEX, FILTERS, LUCENE))


def hybrid_tool(settings: Settings, choice: IndexChoice) -> SearchTool:
    """Return the search by meaning and words on any two indexes that belong together.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    description = (
        "Search a Neo4j vector index and the full-text index on the same entities at once, by meaning and by words: "
        "returns the best of both with their properties, scores and ranks. Index names may be left out where only one "
        "pair fits."
    )
    arguments = (VECTOR_INDEX, PAIRED_INDEX, FILTERS, ALPHA, RANKER)
    return _tool(settings, HYBRID, description, choice.hybrid, arguments, RankedResult)


def _tool(  # noqa: PLR0913 - what makes one search differ from another
    settings: Settings,
    name: str,
    description: str,
    retriever: Callable[..., Retriever],
    arguments: tuple[Argument, ...],
    result: type[DocumentResult | RankedResult] = DocumentResult,
) -> SearchTool:
    about = f"{settings.tool_description.rstrip('.')}. " if settings.tool_description else ""
    return SearchTool(
        name=tool_name(name, settings.namespace),
        title=title(name),
        description=f"{about}{description}",
        retriever=retriever,
        default_top_k=settings.top_k or DEFAULT_TOP_K,
        max_top_k=MAX_TOP_K,
        arguments=arguments,
        result=result,
        response_tokens=settings.response_tokens,
        seconds=settings.read_timeout + CALL_OVERHEAD_SECONDS,
    )


class CamelCaseArguments(Middleware):
    """Takes `indexName` and `topK`, the published names, for `index_name` and `top_k`.

    Args:
        tools: The names of the tools that do so.
    """

    def __init__(self, tools: Iterable[str]) -> None:
        self._tools = frozenset(tools)

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Rename the arguments of a call, then answer it."""
        if context.message.name not in self._tools:
            return await call_next(context)
        renamed = {_CAMEL_CASE.get(name, name): value for name, value in (context.message.arguments or {}).items()}
        message = context.message.model_copy(update={"arguments": renamed})
        return await call_next(context.copy(message=message))


FAMILY = Family(
    "generic",
    tools=lambda _: TOOLS,
    is_default=lambda settings: bool(settings.embedding_provider) and not settings.names_retrievers,
    build=build,
    missing=missing_database,
    search_tool=lambda _, kind, __: VECTOR if kind == "vector" else FULLTEXT,
)
