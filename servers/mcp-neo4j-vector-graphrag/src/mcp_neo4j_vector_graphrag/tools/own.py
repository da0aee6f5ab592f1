"""The tools of retrievers that the operator wrote, or took from neo4j-graphrag."""

from __future__ import annotations

import inspect
import logging
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS, Background
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError, one_line
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.tools.calls import READ_ONLY, UNCHECKED
from mcp_neo4j_vector_graphrag.tools.changing import DiscoveredTools, Look, TellNews, TellWhenKnown
from mcp_neo4j_vector_graphrag.tools.configured import describe
from mcp_neo4j_vector_graphrag.tools.family import Family, Served, missing_database
from mcp_neo4j_vector_graphrag.tools.search import DEFAULT_TOP_K, SearchTool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastmcp.tools import Tool
    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.tools.family import Context


_START_SECONDS = 10.0
"""So long the start waits for a factory, which may ask a database that is down; then the first list waits for it."""
_LONGEST = 300

_logger = logging.getLogger(__name__)


def search_tools(
    retrievers: Mapping[str, Retriever], namespace: str | None, descriptions: Mapping[str, str]
) -> list[SearchTool]:
    """Return a tool for each retriever, by its name without the namespace.

    Args:
        retrievers: By name.
        namespace: Prefix of each name.
        descriptions: What each searches, by its name; without one, its class says it.

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
            description=descriptions.get(name) or _about(name, retriever),
            retriever=_constant(retriever),
            annotations=READ_ONLY if _is_ours(retriever) else UNCHECKED,
        )
        for name, retriever in retrievers.items()
    ]


def _about(name: str, retriever: Retriever) -> str:
    """Return what a retriever says of itself: the index that it searches, else how its class is described."""
    index = None
    with suppress(Exception):  # an attribute of somebody else's class
        index = getattr(retriever, "index_name", None)
    if isinstance(index, str) and index:
        return f"{title(name)}: {describe(index)}"
    documented = type(retriever).__doc__
    said = inspect.cleandoc(documented) if isinstance(documented, str) else "Searches a Neo4j graph."
    first = said.split("\n\n", 1)[0]
    return f"{title(name)}: {one_line(first, _LONGEST)}"


def _is_ours(retriever: Retriever) -> bool:
    """Whether a retriever is of a class of this package, which only reads."""
    return type(retriever).__module__.startswith("mcp_neo4j_vector_graphrag.")


def _constant(retriever: Retriever) -> Callable[[], Retriever]:
    return lambda: retriever


def build(context: Context) -> Served:
    """Return the tools of the retrievers that the factory makes.

    A factory that asks a database which is down holds up the start for a while only: then its tools are looked for when
    they are listed.

    Raises:
        SetupError: The factory fails, or makes something else, or the operator chooses a tool that it does not make.
    """
    made = Background(lambda: _made(context))
    try:
        return Served(list(made.get(_START_SECONDS).values()))
    except (FutureTimeoutError, UnavailableError) as error:
        _logger.warning("The retrievers of --retriever are not there yet: %s", error or "the factory takes long.")
        tools = DiscoveredTools(lambda: Look(made.get(None)))
        return Served(providers=[tools], middleware=[TellNews(tools), TellWhenKnown(tools)])


def _made(context: Context) -> dict[str, Tool]:
    from mcp_neo4j_vector_graphrag.retrieval.own import load_retrievers  # noqa: PLC0415 - 0.8 s

    settings = context.settings
    connection = None if missing_database(settings) else context.backend.database
    retrievers = load_retrievers(settings.retriever or "", connection)
    context.check_names(list(retrievers))
    seen = {name: retriever for name, retriever in retrievers.items() if context.sees(name)}
    about = f"{settings.tool_description.rstrip('.')}. " if settings.tool_description else ""
    tools = [
        replace(
            tool,
            description=f"{about}{tool.description}",
            default_top_k=settings.top_k or DEFAULT_TOP_K,
            response_tokens=settings.response_tokens,
            seconds=settings.read_timeout + CALL_OVERHEAD_SECONDS,
        )
        for tool in search_tools(seen, settings.namespace, {})
    ]
    return {tool.name: tool.build() for tool in tools}


FAMILY = Family(
    "own",
    tools=lambda sources: ("*",) if sources.settings.retriever else (),
    is_default=lambda settings: bool(settings.retriever),
    build=build,
    missing=lambda settings: "" if settings.retriever else "--retriever",
)
