"""How much of a model's context a text takes, how to keep an answer within a limit, and how to tell what that cut."""

from __future__ import annotations

import json
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BYTES_A_TOKEN = 4
"""Of UTF-8: about what models make of English; of other languages they make more tokens."""

RESPONSE_TOKENS = 8_000
"""Tokens of text in one answer, as `tokens` estimates them; what is left out is told."""

_MARK = " …"


class Readable(Protocol):
    """One of the things that an answer lists."""

    def as_text(self) -> str:
        """Return it as a model reads it."""

    def shortened(self, size: int) -> Self:
        """Return it with a text of at most about `size` bytes."""


ReadableT = TypeVar("ReadableT", bound=Readable)


def tokens(text: str) -> int:
    """Return about how many tokens a model reads in a text: one for four bytes of UTF-8."""
    return -(-bytes_of(text) // BYTES_A_TOKEN)


def bytes_of(text: str) -> int:
    """Return the length of a text in bytes of UTF-8."""
    return len(text.encode(errors="replace"))


def compact_json(value: object) -> str:
    """Return a plain value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cut(text: str, size: int) -> str:
    """Return a text of at most `size` bytes of UTF-8: a longer one ends after a whole word, with a mark."""
    if bytes_of(text) <= size:
        return text
    encoded = text.encode(errors="replace")
    kept = encoded[: max(size - bytes_of(_MARK), 0)].decode(errors="ignore")
    head = encoded.decode()[: len(kept) + 1]  # the character after it tells whether the last word is whole
    whole = head[: max(map(head.rfind, " \n\t"))].rstrip()
    return (whole if len(whole) > len(kept) // 2 else kept) + _MARK


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


def cut_until_it_fits(size: int, made: Callable[[Callable[[dict[str, Any]], dict[str, Any]]], ReadableT]) -> ReadableT:
    """Return an entry with the texts in its maps cut step by step, until it takes at most `size` bytes.

    Where no cut is enough, its maps are empty.

    Args:
        size: In bytes of UTF-8.
        made: Returns the entry after each of its maps went through the function that it is given.
    """
    for length in (size // 2, size // 10, size // 100, 20):
        shorter = made(partial(with_short_texts, size=length))
        if bytes_of(shorter.as_text()) <= size:
            return shorter
    return made(lambda _: {})


def fitting(entries: Sequence[ReadableT], limit: int) -> tuple[list[ReadableT], bool]:
    """Return as many whole entries, from the first on, as fit `limit` tokens of text, and whether one was shortened.

    Only a first one that is too long by itself is.
    """
    ends = accumulate(tokens(entry.as_text()) for entry in entries)
    whole = [entry for entry, end in zip(entries, ends, strict=True) if end <= limit]
    if whole or not entries:
        return whole, False
    return [entries[0].shortened(limit * BYTES_A_TOKEN)], True


def to_keep_to(limit: int) -> str:
    """Return why an answer was cut, as a part of a sentence."""
    return f"to keep to {limit} tokens (RESPONSE_TOKEN_LIMIT)"


def as_notice(*sentences: str | None) -> str | None:
    """Return what there is to tell beside an answer as one text; `None` if it is nothing."""
    return " ".join(sentence for sentence in sentences if sentence) or None
