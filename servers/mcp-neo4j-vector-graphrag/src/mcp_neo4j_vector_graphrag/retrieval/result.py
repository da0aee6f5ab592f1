"""What a search answers: entries with their scores, as a model reads them and as structured content."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neo4j_graphrag.types import RetrieverResultItem

RESPONSE_LIMIT = 40_000
"""Characters of text in one answer, about 10,000 tokens; what is left out is told."""

NO_RESULTS = "No results: the search ran, and nothing was found."


class Entry(BaseModel):
    """One result of a search."""

    score: float | None = Field(default=None, description="Similarity to the question, higher is closer.")

    @classmethod
    def of(cls, given: RetrieverResultItem) -> Self:
        """Return a retriever's item as an entry."""
        raise NotImplementedError

    def as_text(self) -> str:
        """Return the entry as a model reads it."""
        score = [f"score: {self.score:.4f}"] if self.score is not None else []
        heading = " ".join([*score, *self._notes()])
        return f"{heading}\n{self._body()}" if heading else self._body()

    def shortened(self, limit: int) -> Self:
        """Return the entry with a text of at most about `limit` characters."""
        raise NotImplementedError

    def _notes(self) -> list[str]:
        return []

    def _body(self) -> str:
        raise NotImplementedError


class Item(Entry):
    """One result."""

    text: str = Field(description="What the retrieval query returned as text, or its row as compact JSON.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="What else was returned with the text.")

    @classmethod
    def of(cls, given: RetrieverResultItem) -> Self:
        """Return a retriever's item as text, score and metadata."""
        metadata = dict(given.metadata or {})
        score = metadata.pop("score", None)
        text = given.content if isinstance(given.content, str) else _json(given.content)
        return cls(text=text, score=_score(score), metadata=metadata)

    def shortened(self, limit: int) -> Self:
        """Return the item with its text cut, and without its metadata where that is what is too long."""
        kept = self if len(self.as_text()) - len(self.text) < limit else self.model_copy(update={"metadata": {}})
        room = max(limit - (len(kept.as_text()) - len(kept.text)), 0)
        return kept.model_copy(update={"text": kept.text[:room]})

    def _notes(self) -> list[str]:
        return [_json(self.metadata)] if self.metadata else []

    def _body(self) -> str:
        return self.text


class Document(Entry):
    """One result."""

    doc: dict[str, Any] = Field(description="The properties that were found, or the retrieval query's row.")
    id: str | None = Field(default=None, description="The element id of what was found.")

    @classmethod
    def of(cls, given: RetrieverResultItem) -> Self:
        """Return a retriever's item whose content is a map."""
        metadata = given.metadata or {}

        return cls(doc=given.content, id=metadata.get("id"), score=_score(metadata.get("score")))

    def shortened(self, limit: int) -> Self:
        """Return the document with its long texts cut."""
        for length in (limit // 2, limit // 10, limit // 100, 20):
            cut = self.model_copy(update={"doc": with_short_texts(self.doc, length)})
            if len(cut.as_text()) <= limit:
                return cut
        return self.model_copy(update={"doc": {}})

    def _body(self) -> str:
        return _json(self.doc)


EntryType = TypeVar("EntryType", bound=Entry)


class Results(BaseModel, Generic[EntryType]):
    """The results of one search, best first."""

    results: list[EntryType]
    notice: str | None = Field(default=None, description="What was cut, left out or is uncertain, if anything is.")


class SearchResult(Results[Item]):
    """The results of one search, best first."""


class DocumentResult(Results[Document]):
    """The results of one search, best first."""


def collect(
    items: Iterable[RetrieverResultItem], limit: int = RESPONSE_LIMIT, notice: str | None = None
) -> SearchResult:
    """Return a retriever's items, in order, as far as their text fits `limit` characters.

    Whole items are left out at the end; only a first one that is too long by itself is cut. The notice says so.
    """
    taken, cut = _fitting([Item.of(item) for item in items], limit)
    return SearchResult(results=taken, notice=_joined(notice, cut))


def collect_documents(
    items: Iterable[RetrieverResultItem], limit: int = RESPONSE_LIMIT, notice: str | None = None
) -> DocumentResult:
    """Return a retriever's items as documents, as `collect` does."""
    taken, cut = _fitting([Document.of(item) for item in items], limit)
    return DocumentResult(results=taken, notice=_joined(notice, cut))


def as_text(result: Results[Any]) -> str:
    """Return all results, one after another, as text for a model."""
    numbered = [f"[{place}] {entry.as_text()}" for place, entry in enumerate(result.results, start=1)]
    return "\n\n".join([*(numbered or [NO_RESULTS]), *([result.notice] if result.notice else [])])


def is_number(value: object) -> bool:
    """Whether a value can be a score."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _score(value: Any) -> float | None:  # noqa: ANN401 - whatever a retriever gives
    return float(value) if is_number(value) else None


def _fitting(given: list[EntryType], limit: int) -> tuple[list[EntryType], str | None]:
    """Return the entries that fit, and what to say of the others."""
    ends = accumulate(len(entry.as_text()) for entry in given)
    taken = [entry for entry, end in zip(given, ends, strict=True) if end <= limit]
    if len(taken) == len(given):
        return given, None
    if not taken:
        taken = [given[0].shortened(limit)]
    shown = f"Only the first {len(taken)} of {len(given)} results are shown" if len(taken) < len(given) else "Cut"
    return taken, f"{shown}, to keep to {limit} characters."


def _joined(*notices: str | None) -> str | None:
    return " ".join(notice for notice in notices if notice) or None


def with_short_texts(value: Any, length: int) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value with each text in it cut to `length` characters, with a mark."""
    match value:
        case str():
            return value if len(value) <= length else f"{value[: length - 1]}…"
        case dict():
            return {key: with_short_texts(item, length) for key, item in value.items()}
        case list():
            return [with_short_texts(item, length) for item in value]
    return value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
