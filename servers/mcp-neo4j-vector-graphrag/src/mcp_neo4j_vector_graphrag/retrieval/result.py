"""What a search answers: items of text with score and metadata, as a model reads them and as structured content."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neo4j_graphrag.types import RetrieverResultItem

RESPONSE_LIMIT = 40_000
"""Characters of text in one answer, about 10,000 tokens; what is left out is told."""

NO_RESULTS = "No results: the search ran, and nothing was found."


class Item(BaseModel):
    """One result."""

    text: str = Field(description="What the retrieval query returned as text, or its row as compact JSON.")
    score: float | None = Field(default=None, description="Similarity to the question, higher is closer.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="What else was returned with the text.")


class SearchResult(BaseModel):
    """The results of one search, best first."""

    results: list[Item]
    notice: str | None = Field(default=None, description="What was cut or left out, if anything was.")


def collect(items: Iterable[RetrieverResultItem], limit: int = RESPONSE_LIMIT) -> SearchResult:
    """Return a retriever's items, in order, as far as their text fits `limit` characters.

    Whole items are left out at the end; only a first one that is too long by itself is cut. The notice says so.
    """
    given = [_item(item) for item in items]
    ends = accumulate(len(as_text(item)) for item in given)
    taken = [item for item, end in zip(given, ends, strict=True) if end <= limit]
    if len(taken) == len(given):
        return SearchResult(results=given)
    if not taken:
        taken = [_shortened(given[0], limit)]
    shown = f"Only the first {len(taken)} of {len(given)} results are shown" if len(taken) < len(given) else "Cut"
    return SearchResult(results=taken, notice=f"{shown}, to keep to {limit} characters.")


def as_text(result: Item | SearchResult) -> str:
    """Return an item, or all of them one after another, as text for a model."""
    if isinstance(result, SearchResult):
        numbered = [f"[{place}] {as_text(item)}" for place, item in enumerate(result.results, start=1)]
        return "\n\n".join([*numbered, *([result.notice] if result.notice else [])]) or NO_RESULTS
    score = [f"score: {result.score:.4f}"] if result.score is not None else []
    metadata = [json.dumps(result.metadata, ensure_ascii=False, separators=(",", ":"))] if result.metadata else []
    heading = " ".join([*score, *metadata])
    return f"{heading}\n{result.text}" if heading else result.text


def _item(given: RetrieverResultItem) -> Item:
    metadata = dict(given.metadata or {})
    score = metadata.pop("score", None)
    text = given.content if isinstance(given.content, str) else json.dumps(given.content, ensure_ascii=False)
    return Item(text=text, score=float(score) if is_number(score) else None, metadata=metadata)


def is_number(value: object) -> bool:
    """Whether a value can be a score."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shortened(item: Item, limit: int) -> Item:
    """Return an item whose text fits, without its metadata where that is what is too long."""
    kept = item if len(as_text(item)) - len(item.text) < limit else item.model_copy(update={"metadata": {}})
    room = max(limit - (len(as_text(kept)) - len(kept.text)), 0)
    return kept.model_copy(update={"text": kept.text[:room]})
