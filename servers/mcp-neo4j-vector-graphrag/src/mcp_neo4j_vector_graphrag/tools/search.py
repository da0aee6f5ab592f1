"""A search tool: a retriever with a name, a description and an input model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.tools import Tool, ToolResult
from mcp_types import ToolAnnotations
from pydantic import Field, WithJsonSchema

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.connection import DEFAULT_READ_TIMEOUT
from mcp_neo4j_vector_graphrag.errors import QuestionError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.result import RESPONSE_LIMIT, Results, SearchResult, as_text, collect
from mcp_neo4j_vector_graphrag.tools.faults import to_tool_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.retrieval.items import Found

MAX_TOP_K = 50
DEFAULT_TOP_K = 5
CALL_OVERHEAD_SECONDS = 15.0
"""What a call may take beside its query: the embedding and, at the first call, the look at the index."""

READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True)

Question = Annotated[str, Field(description="Natural language question to search for.")]

IndexName = Annotated[
    str | None, Field(description="The vector index to search; may be left out where there is only one.")
]


@dataclass(frozen=True)
class SearchTool:
    """What a client sees of a retriever, and where the retriever comes from."""

    name: str
    """The whole name, with its namespace."""
    title: str
    description: str
    retriever: Callable[..., Retriever]
    """Called for each search, in a worker thread: it may wait for a database that is still starting.

    With `takes_index_name` it is given the index's name, or `None`.
    """
    default_top_k: int = DEFAULT_TOP_K
    max_top_k: int = MAX_TOP_K
    filters: Mapping[str, Any] | None = None
    """The JSON schema of the argument `filters`; without one, there is no such argument."""
    takes_index_name: bool = False
    """Whether there is an argument `index_name`."""
    collect: Callable[..., Results[Any]] = collect
    """Makes the answer of a retriever's items."""
    result: type[Results[Any]] = SearchResult
    """The answer's model."""
    response_limit: int = RESPONSE_LIMIT
    seconds: float = DEFAULT_READ_TIMEOUT + CALL_OVERHEAD_SECONDS
    """A call is answered within this time, whatever it waits for; clients give up at 60 s."""

    def build(self) -> Tool:
        """Return the tool that FastMCP serves."""
        return Tool.from_function(
            self._handler(),
            name=self.name,
            title=self.title,
            description=self.description,
            annotations=READ_ONLY,
            output_schema=self.result.model_json_schema(),
        )

    def _handler(self) -> Callable[..., Awaitable[ToolResult]]:
        """Return the function whose arguments are the tool's."""
        top_k = Annotated[
            int, Field(ge=1, le=self.max_top_k, description=f"How many results to return, 1 to {self.max_top_k}.")
        ]

        async def plain(query: str, top_k: int = self.default_top_k) -> ToolResult:
            return await self._answer(query, top_k)

        async def filtered(query: str, top_k: int = self.default_top_k, filters: object = None) -> ToolResult:
            return await self._answer(query, top_k, filters)

        async def any_index(
            query: str, index_name: str | None = None, top_k: int = self.default_top_k, filters: object = None
        ) -> ToolResult:
            return await self._answer(query, top_k, filters, index_name)

        annotations: dict[str, Any] = {"query": Question, "top_k": top_k, "index_name": IndexName}
        annotations["filters"] = Annotated[object, WithJsonSchema(dict(self.filters or {}))]
        handler: Callable[..., Awaitable[ToolResult]] = plain if self.filters is None else filtered
        handler = any_index if self.takes_index_name else handler
        handler.__annotations__ |= {name: annotations[name] for name in handler.__annotations__ if name in annotations}
        return handler

    async def _answer(
        self, query: str, top_k: int, filters: object = None, index_name: str | None = None
    ) -> ToolResult:
        try:
            result = await self._found(query, top_k, filters, index_name)
        except Exception as error:  # noqa: BLE001 - all of them are told apart there
            raise to_tool_error(error) from None
        return ToolResult(content=as_text(result), structured_content=result.model_dump(mode="json"))

    async def _found(self, query: str, top_k: int, filters: object, index_name: str | None) -> Results[Any]:
        if not query.strip():
            raise QuestionError("The question is blank: ask for something in a few words.")
        # In a thread of its own: a slow embedder or database holds up no other call, nor the end of the process.
        running = asyncio.wrap_future(deadline.start(self._search, query, top_k, filters, index_name))
        try:
            found = await asyncio.wait_for(running, self.seconds)
        except TimeoutError:
            raise UnavailableError(
                f"The search gave no answer within {self.seconds:g} s: ask again later, or for fewer results."
            ) from None
        return self.collect(found.items, self.response_limit, found.notice)

    def _search(self, query: str, top_k: int, filters: object, index_name: str | None) -> Found:
        from mcp_neo4j_vector_graphrag.retrieval.items import search  # noqa: PLC0415 - 0.8 s, for the first call

        retriever = self.retriever(index_name) if self.takes_index_name else self.retriever()
        return search(retriever, query, top_k, filters)
