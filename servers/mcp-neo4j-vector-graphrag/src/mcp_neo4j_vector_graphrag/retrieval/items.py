"""The items of any retriever's answer: stock, custom or ours."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import DriverError, Neo4jError
from neo4j_graphrag.exceptions import Neo4jGraphRagError
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.budget import compact_json
from mcp_neo4j_vector_graphrag.database.values import PlainJson, columns
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, OwnRetrieverError
from mcp_neo4j_vector_graphrag.retrieval.row import OwnScoreItem, item_from_row

if TYPE_CHECKING:
    from collections.abc import Callable

    import neo4j
    from neo4j_graphrag.retrievers.base import Retriever

_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Found:
    """What a retriever found, and what a reader should know of it."""

    items: list[RetrieverResultItem]
    notice: str | None = None


def search(retriever: Retriever, question: str, arguments: Mapping[str, Any]) -> Found:
    """Return what a retriever finds for a question.

    Args:
        retriever: Stock, custom or ours.
        question: The question.
        arguments: More for its search, by name, such as `top_k`. It is not given those that are `None`, and those that
            it does not take: without a `top_k` it decides itself how much it returns.

    Raises:
        OwnRetrieverError: A retriever that is not this project's failed in a way of its own.
    """
    arguments = {"query_text": question, **arguments}
    accepted = inspect.signature(retriever.get_search_results).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    known = {name: value for name, value in arguments.items() if (takes_any or name in accepted) and value is not None}

    try:
        found = retriever.get_search_results(**known)
        if inspect.isawaitable(found):
            found = deadline.result_of(found)
        items = items_of(retriever, found)
        notice = (found.metadata or {}).get("notice")
        return Found(items, notice if isinstance(notice, str) else None)
    except (GraphRAGError, Neo4jError, DriverError, Neo4jGraphRagError):
        raise
    except BaseException as error:  # one that exits must not take the server with it
        kind = type(retriever)
        if kind.__module__.startswith(f"{_PACKAGE}."):
            raise
        raise OwnRetrieverError(
            f"The retriever {kind.__name__} failed ({type(error).__name__}): check its index, its embedder and its "
            "connection; the server's log has the details."
        ) from error


def items_of(retriever: Retriever, found: RawSearchResult) -> list[RetrieverResultItem]:
    """Return what a retriever found as items of plain values, without vectors.

    The library's own formatters write Python's notation (`<Record …>`), so ours stands in for them; a formatter that
    somebody gave or wrote is used as it is, with a map or a list of its making as JSON text.

    Raises:
        OwnRetrieverError: It is not what a retriever returns.
    """
    if not isinstance(found, RawSearchResult):
        name, kind = type(retriever).__name__, type(found).__name__
        raise OwnRetrieverError(f"The retriever {name} returned {kind}: return a RawSearchResult.")
    plain = _plain_json(retriever)
    formatter = _formatter(retriever, plain)
    return [_plain(formatter(record), plain) for record in found.records]


def _plain_json(retriever: Retriever) -> PlainJson:
    """Return what knows the vectors of a retriever's index, as far as the library's classes tell."""
    name, size = (getattr(retriever, each, None) for each in ("_embedding_node_property", "_embedding_dimension"))
    return PlainJson(
        frozenset({name} if isinstance(name, str) else ()), frozenset({size} if isinstance(size, int) else ())
    )


def _formatter(retriever: Retriever, plain: PlainJson) -> Callable[[neo4j.Record], RetrieverResultItem]:
    chosen = retriever.get_result_formatter()
    # By its module and not by the retriever's class: the library's classes share one cache of what `isinstance` says.
    if getattr(chosen, "__module__", "").startswith("neo4j_graphrag."):
        return lambda record: item_from_row(plain.row(record), columns(record))
    if _is_ours(chosen):
        return chosen
    return lambda record: _with_text(chosen(record), plain)


def _is_ours(thing: object) -> bool:
    return (getattr(thing, "__module__", None) or "").startswith(f"{_PACKAGE}.")


def _with_text(item: RetrieverResultItem, plain: PlainJson) -> RetrieverResultItem:
    """Return an item whose content, if it is a map or a list, is JSON text."""
    if not isinstance(item.content, (Mapping, list, tuple)):
        return item
    return RetrieverResultItem(content=compact_json(plain.value(item.content)), metadata=item.metadata)


def _plain(item: RetrieverResultItem, plain: PlainJson) -> RetrieverResultItem:
    if isinstance(item, OwnScoreItem):
        return item.model_copy(update={name: plain.value(value) for name, value in item})
    return RetrieverResultItem(content=plain.value(item.content), metadata=plain.value(item.metadata))
