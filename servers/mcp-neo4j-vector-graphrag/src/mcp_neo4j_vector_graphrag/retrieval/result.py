"""What a search answers: entries with their scores, as a model reads them and as structured content."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, Field

from mcp_neo4j_vector_graphrag.budget import BYTES_A_TOKEN, bytes_of, cut, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neo4j_graphrag.types import RetrieverResultItem

RESPONSE_TOKENS = 8_000
"""Tokens of text in one answer, as `tokens` estimates them; what is left out is told."""

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

    def shortened(self, size: int) -> Self:
        """Return the entry with a text of at most about `size` bytes."""
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

    def shortened(self, size: int) -> Self:
        """Return the item with its text cut, and without its metadata where that is what is too long."""
        beside = bytes_of(self.as_text()) - bytes_of(self.text)
        kept = self if beside < size else self.model_copy(update={"metadata": {}})
        room = max(size - (bytes_of(kept.as_text()) - bytes_of(kept.text)), 0)
        return kept.model_copy(update={"text": cut(kept.text, room)})

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

    def shortened(self, size: int) -> Self:
        """Return the document with its long texts cut."""
        for length in (size // 2, size // 10, size // 100, 20):
            shorter = self.model_copy(update={"doc": with_short_texts(self.doc, length)})
            if bytes_of(shorter.as_text()) <= size:
                return shorter
        return self.model_copy(update={"doc": {}})

    def _notes(self) -> list[str]:
        return [f"id: {self.id}"] if self.id else []

    def _body(self) -> str:
        return _json(self.doc)


class RankedDocument(Document):
    """One result of a hybrid search."""

    score: float | None = Field(default=None, description="Of both halves together, higher is better.")
    vector_score: float | None = Field(default=None, description="Similarity; null if not found by meaning.")
    vector_rank: int | None = Field(default=None, description="Place by meaning, from 1.")
    text_score: float | None = Field(default=None, description="How well its words match; null if not found by them.")
    text_rank: int | None = Field(default=None, description="Place by words, from 1.")

    @classmethod
    def of(cls, given: RetrieverResultItem) -> Self:
        """Return a retriever's item whose content is a map, with what its metadata says of both halves."""
        metadata = given.metadata or {}
        known = {name: metadata.get(name) for name in ("vector_score", "vector_rank", "text_score", "text_rank")}
        return super().of(given).model_copy(update=known)

    def _notes(self) -> list[str]:
        by_meaning = [f"by meaning: {self.vector_rank} ({self.vector_score:.4f})"] if self.vector_rank else []
        by_words = [f"by words: {self.text_rank} ({self.text_score:.4f})"] if self.text_rank else []
        return [*by_meaning, *by_words, *super()._notes()]


EntryType = TypeVar("EntryType", bound=Entry)


class Results(BaseModel, Generic[EntryType]):
    """The results of one search, best first."""

    entry: ClassVar[type[Entry]]
    """What they consist of."""

    results: list[EntryType]
    notice: str | None = Field(default=None, description="What was cut, left out or is uncertain, if anything is.")

    @classmethod
    def collect(
        cls, items: Iterable[RetrieverResultItem], limit: int = RESPONSE_TOKENS, notice: str | None = None
    ) -> Self:
        """Return a retriever's items, in order, as far as their text fits `limit` tokens.

        Whole items are left out at the end; only a first one that is too long by itself is cut. The notice says so.
        """
        taken, left = _fitting([cls.entry.of(item) for item in items], limit)
        return cls(results=taken, notice=_joined(notice, left))


class SearchResult(Results[Item]):
    """The results of one search, best first."""

    entry = Item


class DocumentResult(Results[Document]):
    """The results of one search, best first."""

    entry = Document


class RankedResult(Results[RankedDocument]):
    """The results of one hybrid search, best first."""

    entry = RankedDocument


def as_text(result: Results[Any]) -> str:
    """Return all results, one after another, as text for a model."""
    numbered = [f"[{place}] {entry.as_text()}" for place, entry in enumerate(result.results, start=1)]
    return "\n\n".join([*(numbered or [NO_RESULTS]), *([result.notice] if result.notice else [])])


def is_number(value: object) -> bool:
    """Whether a value can be a score."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _score(value: Any) -> float | None:  # noqa: ANN401 - whatever a retriever gives
    return float(value) if is_number(value) else None


def _fitting(given: list[Entry], limit: int) -> tuple[list[Any], str | None]:
    """Return the entries that fit, and what to say of the others."""
    ends = accumulate(tokens(entry.as_text()) for entry in given)
    taken = [entry for entry, end in zip(given, ends, strict=True) if end <= limit]
    if len(taken) == len(given):
        return given, None
    if not taken:
        taken = [given[0].shortened(limit * BYTES_A_TOKEN)]
    within = f"to keep to {limit} tokens (RESPONSE_TOKEN_LIMIT)"
    if len(taken) == len(given):
        return taken, f"Cut, {within}."
    left = f"Only the first {len(taken)} of {len(given)} results are shown, {within}"
    return taken, f"{left}: ask a narrower question, or one with filters, for the others."


def _joined(*notices: str | None) -> str | None:
    return " ".join(notice for notice in notices if notice) or None


def with_short_texts(value: Any, size: int) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value with each text in it cut to `size` bytes, with a mark."""
    match value:
        case str():
            return cut(value, size)
        case dict():
            return {key: with_short_texts(item, size) for key, item in value.items()}
        case list():
            return [with_short_texts(item, size) for item in value]
    return value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
