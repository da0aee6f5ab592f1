"""The tools of retrievers that the operator wrote, or took from neo4j-graphrag."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.tools.configured import describe
from mcp_neo4j_vector_graphrag.tools.family import Family, Served
from mcp_neo4j_vector_graphrag.tools.search import SearchTool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.tools.family import Context


def search_tools(
    retrievers: Mapping[str, Retriever], namespace: str | None, descriptions: Mapping[str, str]
) -> list[SearchTool]:
    """Return a tool for each retriever, by its name without the namespace.

    Raises:
        SetupError: A name that clients refuse, or something that is no retriever.
    """
    from neo4j_graphrag.retrievers.base import Retriever as AnyRetriever  # noqa: PLC0415 - 0.8 s, here already paid

    for name, retriever in retrievers.items():
        # Not isinstance: the library's classes share one cache of its answers, so asking spoils it for other classes.
        if AnyRetriever not in type(retriever).__mro__:
            raise SetupError(f"'{name}' is a {type(retriever).__name__}, not a retriever of neo4j-graphrag.")
    return [
        SearchTool(
            name=tool_name(name, namespace),
            title=title(name),
            description=descriptions.get(name) or describe(getattr(retriever, "index_name", None)),
            retriever=_constant(retriever),
        )
        for name, retriever in retrievers.items()
    ]


def _constant(retriever: Retriever) -> Callable[[], Retriever]:
    return lambda: retriever


def build(context: Context) -> Served:
    """Return the tools of the retrievers that the factory makes.

    Raises:
        SetupError: The factory fails, or makes something else, or the operator chooses a tool that it does not make.
        UnavailableError: It asks for the demo's database, which is still starting.
    """
    from mcp_neo4j_vector_graphrag.retrieval.own import load_retrievers  # noqa: PLC0415 - 0.8 s

    settings = context.settings
    made = load_retrievers(settings.retriever or "", context.backend.database)
    context.check_names(list(made))
    seen = {name: retriever for name, retriever in made.items() if context.sees(name)}
    about = settings.tool_description
    descriptions = dict.fromkeys(seen, about) if about and len(seen) == 1 else {}
    tools = search_tools(seen, settings.namespace, descriptions)
    seconds = settings.read_timeout + CALL_OVERHEAD_SECONDS
    return Served([replace(tool, response_tokens=settings.response_tokens, seconds=seconds).build() for tool in tools])


FAMILY = Family(
    "own",
    tools=lambda settings: ("*",) if settings.retriever else (),
    is_default=lambda settings: bool(settings.retriever),
    build=build,
    missing=lambda settings: "" if settings.retriever else "--retriever",
)
