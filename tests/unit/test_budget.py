"""What a text takes, and how an answer is kept within a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from mcp_neo4j_vector_graphrag.budget import as_notice, cut, cut_until_it_fits, fitting, tokens


@dataclass(frozen=True)
class Line:
    """An entry of one map; its text is the values."""

    fields: dict[str, Any]

    def as_text(self) -> str:
        return "".join(map(str, self.fields.values()))

    def shortened(self, size: int) -> Line:
        return cut_until_it_fits(size, lambda cut_texts: Line(cut_texts(self.fields)))


def line(text: str) -> Line:
    return Line({"text": text})


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("one two", 7, "one two"),
        ("one two three", 12, "one two …"),
        ("a" * 20, 10, "aaaaaa …"),
        ("a " + "b" * 20, 10, "a bbbb …"),
        ("äöü" * 9, 10, "äöü …"),
        ("\ud800" * 6, 5, "? …"),
    ],
)
def test_a_text_is_cut_to_bytes_after_a_word_unless_that_loses_most_of_it(text: str, size: int, expected: str):
    assert cut(text, size) == expected


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("a", 1), ("abcde", 2), ("日本", 2)])
def test_a_token_is_four_bytes(text: str, expected: int):
    assert tokens(text) == expected


def test_entries_are_taken_whole_from_the_first_on():
    entries = [line("a" * 400), line("b" * 600), line("c")]
    assert fitting(entries, 251) == (entries, False)
    assert fitting(entries, 250) == (entries[:2], False)
    assert fitting(entries, 249) == (entries[:1], False), "the last one would fit, but is behind one that does not"
    assert fitting([], 0) == ([], False)


def test_only_a_first_entry_that_is_too_long_by_itself_is_shortened():
    assert fitting([line("a" * 401), line("b")], 100) == ([line("a" * 196 + " …")], True)


@pytest.mark.parametrize(
    ("texts", "kept"),
    [(1, 500), (5, 100), (100, 10), (101, 0)],
)
def test_texts_are_cut_shorter_until_the_entry_fits(texts: int, kept: int):
    entry = Line({str(place): "a" * 2000 for place in range(texts)})
    assert {len(text.encode()) for text in entry.shortened(1000).fields.values()} == ({kept} if kept else set())


def test_a_map_that_no_cut_makes_short_is_emptied():
    assert Line({"numbers": [*range(1000)]}).shortened(1000) == Line({})


def test_a_notice_is_its_sentences_or_nothing():
    assert as_notice(None, "One.", "", "Two.") == "One. Two."
    assert as_notice(None) is None
