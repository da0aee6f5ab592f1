"""One row of a retrieval query as an item of text, score and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neo4j_graphrag.types import RetrieverResultItem

from mcp_neo4j_vector_graphrag.budget import compact_json
from mcp_neo4j_vector_graphrag.retrieval.result import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping


class OwnScoreItem(RetrieverResultItem):
    """An item of a row with a `score` of its own, which is no similarity.

    In its metadata, as in those of the library's own items, the similarity is the `score` where there is one.
    """

    similarity: float | None
    own_score: Any


def item_from_row(row: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> RetrieverResultItem:
    """Return a row of plain values as a retriever's item.

    The text is the column `text`, else the only column that holds text, else the whole row as compact JSON. A number in
    the column `score` is the similarity. The map in `metadata` is the metadata, and what is in no other place joins it,
    so that nothing is lost: a column `year` as `year`, or as `year_column` where the map has a `year` of its own.

    Args:
        row: The plain values.
        given: The row as it came, in which a date is no text yet; by default the same.
    """
    rest = dict(row)
    score, own = rest.pop("score", None), rest.pop("metadata", None)
    if set(rest) == {"doc"} and isinstance(rest["doc"], dict):
        rest = rest["doc"]  # without a retrieval query
    column = None if rest is row.get("doc") else _text_column({name: (given or row)[name] for name in rest})
    text = rest.pop(column) if column else compact_json(rest)
    beside = rest if column else {}
    similarity = score if is_number(score) else None
    if score is not None and similarity is None:
        beside = {**beside, "score": score}
    return _item(text, similarity, _joined(beside, own))


def similarity_and_metadata(item: RetrieverResultItem) -> tuple[float | None, dict[str, Any]]:
    """Return what an item of any retriever has as its similarity, and its other metadata.

    The similarity is a number in the metadata's `score`, unless a row says that this is its own.
    """
    metadata = dict(item.metadata or {})
    if isinstance(item, OwnScoreItem):
        return item.similarity, {**metadata, "score": item.own_score}
    score = metadata.get("score")
    if score is not None and not is_number(score):
        return None, metadata
    metadata.pop("score", None)
    return score, metadata


def _item(text: str, similarity: float | None, metadata: dict[str, Any]) -> RetrieverResultItem:
    scored = metadata if similarity is None else {**metadata, "score": similarity}
    if "score" not in metadata:
        return RetrieverResultItem(content=text, metadata=scored)
    return OwnScoreItem(content=text, metadata=scored, similarity=similarity, own_score=metadata["score"])


def _joined(columns: Mapping[str, Any], own: object) -> dict[str, Any]:
    """Return columns and the value of `metadata` in one map, with another name for a column whose name is taken."""
    known = own if isinstance(own, dict) else {} if own is None else {"metadata": own}
    named: dict[str, Any] = {}
    for column, value in columns.items():
        name = column
        while name in known or name in named or (name != column and name in columns):
            name += "_column"
        named[name] = value
    return {**named, **known}


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
    """Return a row of a retrieval query as an item whose content is the row; `id` and the similarity stand beside it.

    The similarity is a number in the column `score`, which is not repeated in the content; anything else there stays.
    """
    rest, identity = dict(row), row.get("id")
    score = rest.pop("score", None) if row.get("score") is None or is_number(row["score"]) else None
    return RetrieverResultItem(
        content=rest, metadata={"score": score, "id": None if identity is None else str(identity)}
    )


_ENDS = ("type", "start", "end")
