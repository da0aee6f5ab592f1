"""`vector-search`: one search tool for any vector index, which is named in the call or is the only one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from neo4j.exceptions import DriverError, Neo4jError
from pydantic import Field

from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.retrieval.filters import OPERATORS
from mcp_neo4j_vector_graphrag.retrieval.result import DocumentResult, collect_documents
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.tools.discovered import DEFAULT_TOP_K, MAX_TOP_K
from mcp_neo4j_vector_graphrag.tools.family import Family, Served
from mcp_neo4j_vector_graphrag.tools.search import Argument, SearchTool, filters_argument

if TYPE_CHECKING:
    import mcp_types
    from fastmcp.tools import ToolResult

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered
    from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Context

NAME = "vector-search"
"""The tool's name before the namespace."""

INDEX_NAME = Argument(
    "index_name",
    Annotated[str | None, Field(description="The vector index to search; may be left out where there is only one.")],
    None,
    use="choice",
)

_CAMEL_CASE = {"indexName": "index_name", "topK": "top_k"}
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


def build(context: Context) -> Served:
    """Return the tool; what depends on the database is found at each call.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    choice = IndexChoice(context.settings, context.backend)
    return Served(
        [vector_tool(context.settings, choice).build()],
        middleware=[CamelCaseArguments()],
        prepare=context.backend.database,
        require=choice.require,
    )


def vector_tool(settings: Settings, choice: IndexChoice) -> SearchTool:
    """Return the search on any vector index.

    Raises:
        SetupError: The namespace makes a name of it that clients refuse.
    """
    about = f"{settings.tool_description.rstrip('.')}. " if settings.tool_description else ""
    return SearchTool(
        name=tool_name(NAME, settings.namespace),
        title=title(NAME),
        description=(
            f"{about}Search a Neo4j vector index by meaning: embeds the question, returns the nearest entities with "
            "their properties, best first. Without index_name the only index is taken; with several, the answer lists "
            "them."
        ),
        retriever=choice.retriever,
        default_top_k=settings.top_k or DEFAULT_TOP_K,
        max_top_k=MAX_TOP_K,
        arguments=(INDEX_NAME, filters_argument(_FILTERS)),
        collect=collect_documents,
        result=DocumentResult,
        response_tokens=settings.response_tokens,
        seconds=settings.read_timeout + CALL_OVERHEAD_SECONDS,
    )


class IndexChoice:
    """Finds the index of a call, and keeps the retriever of each between calls.

    Args:
        settings: The operator's.
        backend: The database.
    """

    def __init__(self, settings: Settings, backend: Backend) -> None:
        self._settings = settings
        self._backend = backend
        self._embedder = configured_embedder(settings)
        self._retrievers: dict[str, VectorGraphRetriever] = {}

    def retriever(self, index_name: str | None = None) -> VectorGraphRetriever:
        """Return the retriever of the index that a call names, or of the only one.

        Raises:
            QuestionError: There are several; the text lists them.
            SetupError: There is none, or the database can't be asked before an operator has changed something.
            UnavailableError: The database can't be asked now, or no index is online yet.
        """
        from mcp_neo4j_vector_graphrag.retrieval.configured import discovered_retriever  # noqa: PLC0415 - 0.8 s

        database = self._backend.database()
        name = index_name if index_name in self._retrievers else self._chosen(database, index_name or None)
        if name not in self._retrievers:
            self._retrievers[name] = discovered_retriever(self._settings, database, self._embedder, name)
        return self._retrievers[name]

    def require(self) -> None:
        """See that there is an index to search.

        Raises:
            SetupError: There is none.
            UnavailableError: The database can't be asked now.
        """
        with suppress(QuestionError):  # there are several
            self._chosen(self._backend.database(), None)

    def _chosen(self, database: Database, name: str | None) -> str:
        from mcp_neo4j_vector_graphrag.retrieval.discovery import discover, how_to_begin  # noqa: PLC0415 - 0.8 s

        try:
            indexes = read_indexes(database)
            if name and (name in indexes.vector or not indexes.online):
                return indexes.searchable(name).name
            if not indexes.online and indexes.waiting:
                raise UnavailableError(f"No vector index is online. {indexes.waiting} Ask again when it is.")
            if not indexes.online:
                raise SetupError(f"The database has no vector index. {how_to_begin(database)}")
            if name is None and len(indexes.online) == 1:
                return indexes.online[0].name
            known = "; ".join(map(_candidate, discover(database, indexes.online)))
        except (Neo4jError, DriverError) as error:
            raise database.fault(error) from error
        which = f"{indexes.why_not('vector', name)}. N" if name else "N"
        raise QuestionError(f"{which}ame one of the vector indexes as index_name: {known}.")


class CamelCaseArguments(Middleware):
    """Takes `indexName` and `topK`, the published names, for `index_name` and `top_k`."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Rename the arguments of a call, then answer it."""
        renamed = {_CAMEL_CASE.get(name, name): value for name, value in (context.message.arguments or {}).items()}
        message = context.message.model_copy(update={"arguments": renamed})
        return await call_next(context.copy(message=message))


def _candidate(found: Discovered) -> str:
    """Return what a caller must know of an index to choose it."""
    index = found.index
    size = f"{index.dimensions} dimensions" if index.dimensions else "any dimensions"
    kind = "relationships " if index.variable == "relationship" else ""
    holds = f", texts in {', '.join(found.texts)}" if found.texts else ""
    return f"'{index.name}' ({found.count} {kind}{' and '.join(index.labels)}, {index.property}, {size}{holds})"


VECTOR = Family(
    "generic",
    tools=lambda _: (NAME,),
    is_default=lambda settings: bool(settings.embedding_provider) and not settings.names_retrievers,
    build=build,
)
