"""The items of any retriever's answer: stock, custom or ours."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neo4j_graphrag.types import RetrieverResultItem

from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.retrieval.row import item_from_row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import neo4j
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult

_PLAIN = PlainJson()


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
    """
    arguments = {"query_text": question, **arguments}
    accepted = inspect.signature(retriever.get_search_results).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    known = {name: value for name, value in arguments.items() if (takes_any or name in accepted) and value is not None}

    found = retriever.get_search_results(**known)
    return Found(items_of(retriever, found), (found.metadata or {}).get("notice"))


def items_of(retriever: Retriever, found: RawSearchResult) -> list[RetrieverResultItem]:
    """Return what a retriever found as items of plain values, without vectors.

    The library's own formatters write Python's notation (`<Record …>`), so ours stands in for them; a formatter that
    somebody gave or wrote is used as it is.
    """
    formatter = _formatter(retriever)
    return [_plain(formatter(record)) for record in found.records]


def _formatter(retriever: Retriever) -> Callable[[neo4j.Record], RetrieverResultItem]:
    chosen = retriever.get_result_formatter()
    # By its module and not by the retriever's class: the library's classes share one cache of what `isinstance` says.
    if getattr(chosen, "__module__", "").startswith("neo4j_graphrag."):
        return lambda record: item_from_row(_PLAIN.row(record))
    return chosen


def _plain(item: RetrieverResultItem) -> RetrieverResultItem:
    return RetrieverResultItem(content=_PLAIN.value(item.content), metadata=_PLAIN.value(item.metadata))
