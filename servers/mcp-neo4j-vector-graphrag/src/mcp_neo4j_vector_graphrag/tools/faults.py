"""The one translator of errors to MCP."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pydantic
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from neo4j.exceptions import DriverError, Neo4jError
from neo4j_graphrag.exceptions import (
    EmbeddingsGenerationError,
    FilterValidationError,
    LLMGenerationError,
    Neo4jGraphRagError,
    SearchQueryParseError,
    SearchValidationError,
    Text2CypherRetrievalError,
)

from mcp_neo4j_vector_graphrag.database.faults import translate
from mcp_neo4j_vector_graphrag.errors import (
    GraphRAGError,
    OwnRetrieverError,
    QuestionError,
    SetupError,
    one_line,
    sendable,
)
from mcp_neo4j_vector_graphrag.logs import without_secrets

if TYPE_CHECKING:
    import mcp_types
    from fastmcp.tools import ToolResult
    from pydantic_core import ErrorDetails

_logger = logging.getLogger(__name__)

_LIBRARY: dict[type[Neo4jGraphRagError], tuple[type[GraphRAGError], str]] = {
    # These quote the provider, which may quote the key.
    EmbeddingsGenerationError: (
        SetupError,
        "The retriever's embedder failed: check its model, its key and its network.",
    ),
    LLMGenerationError: (
        SetupError,
        "The retriever's language model failed: check its model, its key and its network.",
    ),
    # These quote the arguments, as Python writes them.
    SearchValidationError: (QuestionError, "The retriever can't search for this question: rephrase it."),
    FilterValidationError: (QuestionError, "The retriever can't search with these filters: choose others."),
    SearchQueryParseError: (
        QuestionError,
        "The retriever's full-text search can't read this question: rephrase it, without special characters.",
    ),
}
"""What a stock retriever means by errors whose own text is not for a caller."""


class FaultError(ToolError):
    """The answer to a call that failed, and the fault behind it."""

    def __init__(self, fault: GraphRAGError) -> None:
        super().__init__(sendable(str(fault)), log_level=logging.DEBUG)
        self.fault = fault


class ArgumentFaults(Middleware):
    """Takes null as left out, and tells a caller what is wrong with its arguments in one line, without quoting them."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Answer a call whose arguments fit, or raise the `ToolError` that FastMCP answers with."""
        try:
            return await call_next(_without_nulls(context))
        except ValidationError as error:
            fault = to_tool_error(error.__cause__ or error)
        raise fault


def _without_nulls(
    context: MiddlewareContext[mcp_types.CallToolRequestParams],
) -> MiddlewareContext[mcp_types.CallToolRequestParams]:
    """Return a call without the arguments that are null: some clients send all they know, the optional ones as null."""
    given = {name: value for name, value in (context.message.arguments or {}).items() if value is not None}
    return context.copy(message=context.message.model_copy(update={"arguments": given}))


def to_tool_error(error: BaseException) -> FaultError:
    """Return the error that a caller is answered with; what an operator must see goes to the log, once."""
    fault = as_fault(error)
    if not isinstance(fault, QuestionError):
        _logger.warning("%s", fault)
    return FaultError(fault)


def as_fault(error: BaseException) -> GraphRAGError:
    """Return what is told in place of any exception; a fault of this server's own goes to the log with its trace."""
    if isinstance(error, OwnRetrieverError):
        _logger.error("A retriever that is not this server's own failed.", exc_info=error.__cause__)
    if isinstance(error, GraphRAGError):
        return error
    if isinstance(error, (Neo4jError, DriverError)):
        return translate(error)
    if isinstance(error, Neo4jGraphRagError):
        return _of_the_library(error)
    if isinstance(error, pydantic.ValidationError):
        return QuestionError(one_line(f"Invalid arguments: {_argument_faults(error)}."))
    _logger.error("A tool call failed through a fault of this server.", exc_info=error)
    return GraphRAGError(f"The search failed inside the server ({type(error).__name__}); its log has the details.")


def _of_the_library(error: Neo4jGraphRagError) -> GraphRAGError:
    """Return what a stock retriever means: the cause where the driver is behind it, else its own first line."""
    if isinstance(error, Text2CypherRetrievalError):  # quotes the query that the language model wrote
        return QuestionError(
            "The question led to no query that reads the graph: rephrase it, with the graph's own words."
        )
    if isinstance(error.__cause__, (Neo4jError, DriverError)):
        return translate(error.__cause__)
    for kind in type(error).__mro__:
        if kind in _LIBRARY:
            fault, text = _LIBRARY[kind]
            return fault(text)
    return SetupError(f"The retriever can't search ({type(error).__name__}): {one_line(without_secrets(str(error)))}")


def _argument_faults(error: pydantic.ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {_told(fault)}" for fault in faults)


def _told(fault: ErrorDetails) -> str:
    """Return what is wrong with one argument; how Python passes it is no caller's matter."""
    return "It must be given" if fault["type"].startswith("missing") else fault["msg"]
