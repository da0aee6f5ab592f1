"""A person's sentence as a Lucene query: any of its words, and nothing that acts as syntax."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CLAUSES = 1024
"""Lucene takes no query with more; a term is one clause for each property of the index."""

_LONGEST_TOKEN = 255
"""Characters; analyzers cut a longer run into several terms."""

_SYNTAX = re.compile(r'[-+!(){}\[\]^"~*?:\\/&|<>=]')
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True)
class LuceneQuery:
    """A Lucene query, and whether it leaves out words of the sentence that it was made of."""

    text: str
    is_cut: bool = False


def depth(query: str) -> int:
    """Return how deep the brackets of a query in Lucene's syntax are nested, at the most."""
    deepest = open_ones = 0
    for character in query:
        open_ones += {"(": 1, ")": -1}.get(character, 0)
        deepest = max(deepest, open_ones)
    return deepest


def from_sentence(sentence: str, properties: int = 1) -> LuceneQuery | None:
    """Return the query for texts that hold any of a sentence's words; `None` if it has no word.

    Punctuation around a word goes, so that `doc?` finds what `doc` finds; within a word the index's analyzer decides.

    Args:
        sentence: Any text.
        properties: How many properties the index holds, among which Lucene's number of clauses is divided.
    """
    room = max(MAX_CLAUSES // properties, 1)
    words = dict.fromkeys(word for written in sentence.split() if (word := _bare(written)))
    chosen: list[str] = []
    for word in words:
        fitting = word if (needed := _most_terms(word)) <= room else _bare(word[:room])
        room -= needed
        chosen += [fitting] if fitting else []
        if room < 0:
            return LuceneQuery(_any_of(chosen), is_cut=True)
    return LuceneQuery(_any_of(chosen)) if chosen else None


def _any_of(words: Iterable[str]) -> str:
    return " ".join(f'"{word}"' if word in _OPERATORS else _SYNTAX.sub(r"\\\g<0>", word) for word in words)


def _bare(word: str) -> str:
    """Return a word without the punctuation around it."""
    first, end = 0, len(word)
    while first < end and _is_punctuation(word[first]):
        first += 1
    while end > first and _is_punctuation(word[end - 1]):
        end -= 1
    return word[first:end]


def _is_punctuation(character: str) -> bool:
    """Whether no analyzer makes a term of a character: pictures, such as emoji, are terms."""
    category = unicodedata.category(character)
    return category[0] in "PZC" or category in ("Sm", "Sc", "Sk")


def _most_terms(word: str) -> int:
    """Return how many terms an analyzer makes of a word at the most.

    A run of letters that have a case, or of digits, is one term unless it is very long; of any other character, such
    as a Chinese one or a picture, each can be a term of its own.
    """
    runs = ((kind, sum(1 for _ in run)) for kind, run in groupby(word, _kind))
    return sum(-(-length // _LONGEST_TOKEN) if kind else length for kind, length in runs)


def _kind(character: str) -> str:
    """Return `letter` or `digit` for characters that join into one term, else nothing."""
    category = unicodedata.category(character)
    if category in ("Lu", "Ll", "Lt") or category[0] == "M":
        return "letter"
    return "digit" if category == "Nd" else ""
