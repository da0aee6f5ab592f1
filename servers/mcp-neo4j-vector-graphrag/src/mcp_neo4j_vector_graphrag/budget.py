"""How much of a model's context a text takes, how to keep an answer within a limit, and how to tell what that cut."""

from __future__ import annotations

import json
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar

from mcp_neo4j_vector_graphrag.errors import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    _Path: TypeAlias = tuple[str, ...]

BYTES_A_TOKEN = 4
"""Of UTF-8: about what models make of English; of other languages they make more tokens."""

RESPONSE_TOKENS = 8_000
"""Tokens of text in one answer, as `tokens` estimates them; what is left out is told."""

_MARK = " …"
_SHOWN_CHARACTERS = 40
"""Of the name of a property that is left out."""


class Readable(Protocol):
    """One of the things that an answer lists."""

    def as_text(self) -> str:
        """Return it as a model reads it."""

    def shortened(self, size: int) -> tuple[Self, list[str]]:
        """Return it with a text of at most about `size` bytes, and the names of what had to be left out."""


ReadableT = TypeVar("ReadableT", bound=Readable)
AnswerT = TypeVar("AnswerT")


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


def cut_until_it_fits(
    fields: dict[str, Any], size: int, fits: Callable[[dict[str, Any]], bool]
) -> tuple[dict[str, Any], list[str]]:
    """Return a map with the texts in it cut step by step, until it fits, and the names of what had to be left out.

    Where no cut is enough, the largest values are left out, one by one, and the texts of the others cut no more than
    they need.

    Args:
        fields: Of JSON values; those of maps within it are cut and left out one by one as well.
        size: About how many bytes there are.
        fits: Whether a map is short enough.
    """
    lengths = (size // 2, size // 10, size // 100, 20)
    for length in lengths:
        shorter = with_short_texts(fields, length)
        if fits(shorter):
            return shorter, []
    shortest = min(lengths)
    gone = _largest_until(with_short_texts(fields, shortest), fits)
    kept = _without(fields, frozenset(gone))
    shorter = {}
    for length in (size, *lengths, shortest):
        shorter = with_short_texts(kept, length)
        if fits(shorter):
            break
    return shorter, _names(gone)


def without_largest(fields: dict[str, Any], fits: Callable[[dict[str, Any]], bool]) -> tuple[dict[str, Any], list[str]]:
    """Return a map without its largest values, as few as it takes to fit, and their names, the largest first."""
    gone = _largest_until(fields, fits)
    return _without(fields, frozenset(gone)), _names(gone)


def _largest_until(fields: dict[str, Any], fits: Callable[[dict[str, Any]], bool]) -> list[_Path]:
    """Return where the largest values are without which a map fits; all, if it never does."""
    sizes = {path: bytes_of(compact_json(value)) for path, value in _leaves(fields)}
    largest = sorted(sizes, key=lambda path: sizes[path], reverse=True)
    count = bisect_left(
        range(len(largest)), x=True, key=lambda count: fits(_without(fields, frozenset(largest[:count])))
    )
    return largest[:count]


def _leaves(fields: dict[str, Any], within: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Yield what a map and the maps in it hold, each with the names that lead there."""
    for name, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*within, name))
        else:
            yield (*within, name), value


def _without(fields: dict[str, Any], gone: Collection[_Path], within: _Path = ()) -> dict[str, Any]:
    """Return a map without some of its values, and without the maps in it that lost all of theirs."""
    kept = {}
    for name, value in fields.items():
        path = (*within, name)
        left = _without(value, gone, path) if isinstance(value, dict) else value
        if path not in gone and (left or left == value):
            kept[name] = left
    return kept


def _names(paths: Iterable[_Path]) -> list[str]:
    return list(dict.fromkeys(path[-1] for path in paths))


def fitting(
    entries: Sequence[ReadableT],
    limit: int,
    whole: AnswerT,
    shorter: Callable[[Sequence[ReadableT], list[str] | None], AnswerT],
    text: Callable[[AnswerT], str],
) -> AnswerT:
    """Return the answer with as many whole entries, from the first on, as keep its text within `limit` tokens.

    Only a first one that is too long by itself is shortened.

    Args:
        entries: What there is to show.
        limit: In tokens; from 200 on there is room for an entry and for what is told of the others.
        whole: The answer with all entries.
        shorter: Returns the answer that tells it has some entries only, or with all of them tells less beside them; it
            is also given the names of what a first one that was shortened has lost, else `None`.
        text: Returns an answer as a model reads it.
    """
    room = limit * BYTES_A_TOKEN
    ends = accumulate(bytes_of(entry.as_text()) for entry in entries)
    most = sum(end <= room for end in ends)
    if most == len(entries) and bytes_of(text(whole)) <= room:
        return whole
    count = bisect_left(
        range(1, most + 1), x=True, key=lambda count: bytes_of(text(shorter(entries[:count], None))) > room
    )
    if count or not entries:
        return shorter(entries[:count], None)
    return _with_one(entries[0], room, lambda entry, left_out: shorter([entry], left_out), text)


def _with_one(
    entry: ReadableT, room: int, made: Callable[[ReadableT, list[str]], AnswerT], text: Callable[[AnswerT], str]
) -> AnswerT:
    """Return the answer with one entry that is shortened until the text of all takes `room` bytes."""
    size = room
    while True:
        shorter, left_out = entry.shortened(size)
        answer = made(shorter, left_out)
        over = bytes_of(text(answer)) - room
        if over <= 0 or size == 0:
            return answer
        size = max(min(size, bytes_of(shorter.as_text())) - over, 0)


def beside(notice: str | None, limit: int) -> str | None:
    """Return what else there is to tell, cut to a quarter of an answer of `limit` tokens that is short of room."""
    return notice and cut(notice, limit * BYTES_A_TOKEN // 4)


def too_long(names: Collection[str], limit: int) -> str | None:
    """Return what is told of properties that were left out of an answer of `limit` tokens; `None` if none was."""
    if not names:
        return None
    return f"Too long to be shown: {cut(listed(names, _SHOWN_CHARACTERS), limit * BYTES_A_TOKEN // 8)}."


def to_keep_to(limit: int) -> str:
    """Return why an answer was cut, as a part of a sentence."""
    return f"to keep to {limit} tokens (RESPONSE_TOKEN_LIMIT)"


def as_notice(*sentences: str | None) -> str | None:
    """Return what there is to tell beside an answer as one text; `None` if it is nothing."""
    return " ".join(sentence for sentence in sentences if sentence) or None
