"""What a search answers: entries with their scores, as a model reads them and as structured content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeGuard, TypeVar

from pydantic import BaseModel, Field

from mcp_neo4j_vector_graphrag.budget import (
    RESPONSE_TOKENS,
    as_notice,
    beside,
    bytes_of,
    compact_json,
    cut,
    cut_until_it_fits,
    fitting,
    to_keep_to,
    too_long,
    without_largest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neo4j_graphrag.types import RetrieverResultItem

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

    def shortened(self, size: int) -> tuple[Self, list[str]]:
        """Return the entry with a text of at most about `size` bytes, and the names of what had to be left out."""
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
        from mcp_neo4j_vector_graphrag.retrieval.row import similarity_and_metadata  # noqa: PLC0415 - 0.8 s

        score, metadata = similarity_and_metadata(given)
        text = given.content if isinstance(given.content, str) else compact_json(given.content)
        return cls(text=text, score=score, metadata=metadata)

    def shortened(self, size: int) -> tuple[Self, list[str]]:
        """Return the item with its text cut, and without its largest metadata where those are what is too long."""
        metadata: dict[str, Any] = self.metadata
        left_out: list[str] = []
        if self._beside(metadata) >= size:
            metadata, left_out = without_largest(metadata, lambda left: self._beside(left) <= size // 2)
        text = cut(self.text, max(size - self._beside(metadata), 0))
        return self.model_copy(update={"text": text, "metadata": metadata}), left_out

    def _beside(self, metadata: dict[str, Any]) -> int:
        """Return how many bytes stand beside the text."""
        return bytes_of(self.model_copy(update={"metadata": metadata, "text": ""}).as_text())

    def _notes(self) -> list[str]:
        return [compact_json(self.metadata)] if self.metadata else []

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

    def shortened(self, size: int) -> tuple[Self, list[str]]:
        """Return the document with its long texts cut, and without its largest values where that is not enough."""
        identity = self.id if bytes_of(self.id or "") <= size // 2 else None
        doc, left_out = cut_until_it_fits(
            self.doc,
            size,
            lambda left: bytes_of(self.model_copy(update={"doc": left, "id": identity}).as_text()) <= size,
        )
        without_id = [] if identity == self.id else ["id"]
        return self.model_copy(update={"doc": doc, "id": identity}), [*without_id, *left_out]

    def _notes(self) -> list[str]:
        return [f"id: {self.id}"] if self.id else []

    def _body(self) -> str:
        return compact_json(self.doc)


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
        """Return a retriever's items, in order, as far as the text of the answer fits `limit` tokens.

        Whole items are left out at the end; only a first one that is too long by itself is cut. The notice says so.
        """
        given: list[Any] = [cls.entry.of(item) for item in items]

        def told(shown: int, left_out: list[str] | None) -> str | None:
            left = _left_out(shown, len(given), limit, is_cut=left_out is not None)
            return as_notice(beside(notice, limit), left, too_long(left_out or (), limit))

        return fitting(
            given,
            limit,
            whole=cls(results=given, notice=as_notice(notice)),
            shorter=lambda taken, left_out: cls(results=list(taken), notice=told(len(taken), left_out)),
            text=as_text,
        )


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


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value can be a score."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _score(value: Any) -> float | None:  # noqa: ANN401 - whatever a retriever gives
    return float(value) if is_number(value) else None


def _left_out(shown: int, found: int, limit: int, *, is_cut: bool) -> str | None:
    if shown < found:
        return (
            f"Only the first {shown} of {found} results are shown, {to_keep_to(limit)}: "
            "ask a narrower question, or for fewer results, for the others."
        )
    return f"Cut, {to_keep_to(limit)}." if is_cut else None
