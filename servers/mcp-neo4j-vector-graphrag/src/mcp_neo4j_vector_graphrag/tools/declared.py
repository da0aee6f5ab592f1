"""The tools of the file of retrievers: one for each of its tables."""

from __future__ import annotations

import inspect
import logging
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import WithJsonSchema

from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.declared.parameters import bind, parameter_schema
from mcp_neo4j_vector_graphrag.errors import GraphRAGError
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.retrieval.result import DocumentResult, RankedResult, SearchResult
from mcp_neo4j_vector_graphrag.tools.family import Family, Served
from mcp_neo4j_vector_graphrag.tools.search import (
    ALPHA,
    DEFAULT_TOP_K,
    LUCENE,
    RANKER,
    Argument,
    SearchTool,
    filters_argument,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_neo4j_vector_graphrag.declared.sources import Source, Sources
    from mcp_neo4j_vector_graphrag.declared.tables import ParameterTable, RetrieverTable
    from mcp_neo4j_vector_graphrag.retrieval.result import Results
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Context, IndexKind

_logger = logging.getLogger(__name__)

_ANY_VALUE: list[dict[str, Any]] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_BOUND = {"anyOf": _ANY_VALUE[:2]}
_FILTER = {
    "anyOf": [
        *_ANY_VALUE,
        {"type": "array", "items": {"anyOf": _ANY_VALUE}},
        {"type": "object", "properties": {"min": _BOUND, "max": _BOUND}, "additionalProperties": False},
    ],
    "description": "A value, a list of values, or min and max, both inclusive.",
}


def build(context: Context) -> Served:
    """Return the tools that the operator shows.

    Raises:
        SetupError: The file has faults: a line for each. Or the namespace makes names that clients refuse.
    """
    seen = [source for source in context.sources.declared if context.sees(source.table.name)]

    def prepare() -> None:
        for source in seen:
            _prepare(source)

    def require() -> None:
        for source in seen:
            source.retriever().prepare()

    tools = [_tool(source, context.settings).build() for source in seen]
    return Served(tools, prepare=prepare, require=require)


def _prepare(source: Source) -> None:
    """See that the table's indexes and its query can be searched with; what is wrong goes to the log."""
    try:
        source.retriever().prepare()
    except GraphRAGError as error:
        _logger.warning("The retriever '%s' can't be searched: %s", source.table.name, error)


def _tool(source: Source, settings: Settings) -> SearchTool:
    """Return the tool of one table."""
    table = source.table
    return SearchTool(
        name=tool_name(table.name, settings.namespace),
        title=table.title or title(table.name),
        description=table.description,
        retriever=source.retriever,
        default_top_k=table.top_k or settings.top_k or DEFAULT_TOP_K,
        arguments=_arguments(table),
        bind=partial(bind, table.parameters),
        result=_result(table),
        response_tokens=settings.response_tokens,
        seconds=settings.read_timeout + CALL_OVERHEAD_SECONDS,
    )


def _arguments(table: RetrieverTable) -> tuple[Argument, ...]:
    by_kind = {"vector": (), "fulltext": (LUCENE,), "hybrid": (ALPHA, RANKER)}
    filters = (filters_argument(_filters(table.filters)),) if table.filters else ()
    return (*map(_parameter, table.parameters.items()), *filters, *by_kind[table.kind])


def _parameter(named: tuple[str, ParameterTable]) -> Argument:
    name, parameter = named
    schema = parameter_schema(parameter)
    default = schema.get("default", inspect.Parameter.empty)
    return Argument(name, Annotated[object, WithJsonSchema(schema)], default, use="parameter")


def _filters(names: Sequence[str]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "description": "Restrict the search; all given filters must hold.",
        "properties": dict.fromkeys(names, _FILTER),
        "additionalProperties": False,
    }


def _result(table: RetrieverTable) -> type[Results[Any]]:
    if table.retrieval_query:
        return SearchResult
    return RankedResult if table.kind == "hybrid" else DocumentResult


def search_tool(sources: Sources, kind: IndexKind, index_name: str, database: str | None = None) -> str | None:
    """Return the first table that searches an index.

    Args:
        sources: What there is to search.
        kind: Of the index.
        index_name: Its name.
        database: The file's name of its database; `None` is the environment's.
    """
    if not sources.file:
        return None
    for table in sources.tables:
        searched = table.index if kind == "vector" else table.fulltext_index
        if searched == index_name and sources.file.database_name(table) == database:
            return table.name
    return None


FAMILY = Family(
    "declared",
    tools=lambda sources: [table.name for table in sources.tables],
    is_default=lambda settings: bool(settings.retrievers_file),
    build=build,
    missing=lambda settings: "" if settings.retrievers_file else "RETRIEVERS_FILE",
    search_tool=search_tool,
)
