"""One row of a retrieval query as an item of text, score and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neo4j_graphrag.types import RetrieverResultItem

from mcp_neo4j_vector_graphrag.budget import compact_json
from mcp_neo4j_vector_graphrag.retrieval.result import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping


def item_from_row(row: Mapping[str, Any]) -> RetrieverResultItem:
    """Return a row of plain values as a retriever's item.

    The text is the column `text`, else the only column that holds text, else the whole row as compact JSON. `score` and
    `metadata` are what they say; columns beside the text join the metadata, so none is lost.
    """
    rest = dict(row)
    score, metadata = rest.pop("score", None), rest.pop("metadata", None)
    if set(rest) == {"doc"} and isinstance(rest["doc"], dict):
        rest = rest["doc"]  # without a retrieval query
    column = None if rest is row.get("doc") else _text_column(rest)
    text = rest.pop(column) if column else compact_json(rest)
    extra = rest if column else {}
    if metadata is not None:
        extra = {**extra, **(metadata if isinstance(metadata, dict) else {"metadata": metadata})}
    return RetrieverResultItem(content=text, metadata={**extra, "score": score} if is_number(score) else extra)


def _text_column(row: Mapping[str, Any]) -> str | None:
    if isinstance(row.get("text"), str):
        return "text"
    texts = [column for column, value in row.items() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else None


def entity_as_document(row: Mapping[str, Any]) -> RetrieverResultItem:
    """Return a row of `default_query` as an item whose content is the entity's properties.

    Of a relationship it is a map of its type, its properties and the properties of both ends. What else is known of the
    hit, such as the ranks of a hybrid search, stands beside it.
    """
    about, doc = row["metadata"], row["doc"]
    if "type" in about:
        doc = {**{key: about[key] for key in _ENDS}, "properties": doc}
    beside = {key: value for key, value in about.items() if key not in (*_ENDS, "labels")}
    return RetrieverResultItem(content=doc, metadata={"score": row["score"], **beside})


def row_as_document(row: Mapping[str, Any]) -> RetrieverResultItem:
    """Return a row of a retrieval query as an item whose content is the whole row; `score` and `id` stand beside it."""
    rest = dict(row)
    score, identity = rest.pop("score", None), rest.get("id")
    return RetrieverResultItem(
        content=rest, metadata={"score": score, "id": None if identity is None else str(identity)}
    )


_ENDS = ("type", "start", "end")
