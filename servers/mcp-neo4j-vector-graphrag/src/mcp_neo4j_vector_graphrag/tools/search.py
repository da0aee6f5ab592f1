"""A search tool: a retriever with a name, a description and an input model."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp.tools import Tool, ToolResult
from pydantic import BeforeValidator, Field, WithJsonSchema

from mcp_neo4j_vector_graphrag.budget import RESPONSE_TOKENS
from mcp_neo4j_vector_graphrag.database.connection import DEFAULT_READ_TIMEOUT
from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.errors import QuestionError
from mcp_neo4j_vector_graphrag.retrieval.hybrid_statement import DEFAULT_ALPHA, DEFAULT_RANKER, Ranker
from mcp_neo4j_vector_graphrag.retrieval.result import Results, SearchResult, as_text
from mcp_neo4j_vector_graphrag.tools.calls import READ_ONLY, answered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp_types import ToolAnnotations
    from neo4j_graphrag.retrievers.base import Retriever

MAX_TOP_K = 50
DEFAULT_TOP_K = 5


@dataclass(frozen=True)
class Argument:
    """One argument of a search tool."""

    name: str
    type: Any
    """Its type with its description; what does not fit is refused before the search."""
    default: Any = inspect.Parameter.empty
    """Without one, a caller must give it."""
    use: Literal["search", "choice", "parameter"] = "search"
    """It goes to the retriever's search, to the choice of the retriever, or into the retrieval query."""

    def as_parameter(self) -> inspect.Parameter:
        """Return the argument as Python sees it."""
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=self.type)


def _as_list(given: object) -> object:
    """Return a list of texts that a client sent as its JSON text, or as its only text, as a list."""
    if not isinstance(given, str):
        return given
    if given.strip().startswith("["):
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return [given]
    return [given] if given.strip() else []


LISTED = BeforeValidator(_as_list)
"""Of an argument that is a list of texts; its schema asks for one all the same."""

Question = Annotated[str, Field(description="Natural language question to search for.")]

QUERY = Argument("query", Question)


_DEFAULT_ALPHAS = " and ".join(f"{alpha} with {ranker}" for ranker, alpha in DEFAULT_ALPHA.items())

LUCENE = Argument(
    "lucene",
    Annotated[bool, Field(description="Whether the query is in Lucene's own syntax, not a sentence.")],
    default=False,
)
ALPHA = Argument(
    "alpha",
    Annotated[
        float | None,
        Field(
            ge=0,
            le=1,
            description=f"Weight of meaning, 0 (words only) to 1 (meaning only); by default {_DEFAULT_ALPHAS}.",
        ),
    ],
    None,
)
RANKER = Argument(
    "ranker",
    Annotated[Ranker, Field(description="linear adds normalised scores, rrf (reciprocal rank fusion) ranks.")],
    DEFAULT_RANKER,
)


def top_k_argument(default: int, maximum: int) -> Argument:
    """Return the argument that says how many results are wanted."""
    description = f"How many results to return, 1 to {maximum}."
    return Argument("top_k", Annotated[int, Field(ge=1, le=maximum, description=description)], default)


def filters_argument(schema: Mapping[str, Any]) -> Argument:
    """Return the argument that restricts a search; its values are turned into stored types later."""
    return Argument("filters", Annotated[object, WithJsonSchema(dict(schema))], None)


@dataclass(frozen=True)
class SearchTool:
    """What a client sees of a retriever, and where the retriever comes from."""

    name: str
    """The whole name, with its namespace."""
    title: str
    description: str
    retriever: Callable[..., Retriever]
    """Called for each search, in a worker thread: it may wait for a database that is still starting.

    It is given the arguments whose use is the choice.
    """
    default_top_k: int = DEFAULT_TOP_K
    max_top_k: int = MAX_TOP_K
    arguments: tuple[Argument, ...] = ()
    """Those beside `query` and `top_k`."""
    bind: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    """Turns the arguments that go into the retrieval query into what it is given."""
    result: type[Results[Any]] = SearchResult
    """The answer's model."""
    response_tokens: int = RESPONSE_TOKENS
    seconds: float = DEFAULT_READ_TIMEOUT + CALL_OVERHEAD_SECONDS
    """A call is answered within this time, whatever it waits for; clients give up at 60 s."""
    annotations: ToolAnnotations = field(default_factory=lambda: READ_ONLY)
    """What a client may take for granted of a call."""

    def build(self) -> Tool:
        """Return the tool that FastMCP serves."""
        return Tool.from_function(
            self._handler(),
            name=self.name,
            title=self.title,
            description=self.description,
            annotations=self.annotations,
            output_schema=self.result.model_json_schema(),
        )

    def _handler(self) -> Callable[..., Awaitable[ToolResult]]:
        """Return the function whose arguments are the tool's."""

        async def handler(**given: Any) -> ToolResult:  # noqa: ANN401 - as the signature says, which is made below
            result = await answered(self.seconds, self._search, given)
            return ToolResult(content=as_text(result), structured_content=result.model_dump(mode="json"))

        arguments = (QUERY, top_k_argument(self.default_top_k, self.max_top_k), *self.arguments)
        handler.__annotations__ = {argument.name: argument.type for argument in arguments}
        parameters = [argument.as_parameter() for argument in arguments]
        handler.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # which `inspect` reads
        return handler

    def _search(self, given: dict[str, Any]) -> Results[Any]:
        from mcp_neo4j_vector_graphrag.retrieval.items import search  # noqa: PLC0415 - 0.8 s, for the first call

        question = given.pop("query")
        if not question.strip():
            raise QuestionError("The question is blank: ask for something in a few words.")
        choice = {argument.name: given.pop(argument.name) for argument in self.arguments if argument.use == "choice"}
        parameters = {each.name: given.pop(each.name) for each in self.arguments if each.use == "parameter"}
        bound = dict(self.bind(parameters)) or None
        found = search(self.retriever(**choice), question, {**given, "query_params": bound})
        return self.result.collect(found.items, self.response_tokens, found.notice)
