"""What a text takes, and how an answer is kept within a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from mcp_neo4j_vector_graphrag.budget import (
    as_notice,
    beside,
    bytes_of,
    cut,
    cut_until_it_fits,
    fitting,
    tokens,
    too_long,
    without_largest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Line:
    """An entry of one map; its text is the values."""

    fields: dict[str, Any]

    def as_text(self) -> str:
        return "".join(map(str, self.fields.values()))

    def shortened(self, size: int) -> tuple[Line, list[str]]:
        fields, left_out = cut_until_it_fits(self.fields, size, lambda kept: bytes_of(Line(kept).as_text()) <= size)
        return Line(fields), left_out


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


def answer(entries: Sequence[Line], limit: int) -> str:
    """Return what keeps to a limit: a line for each entry, and one that says what is left out."""

    def shorter(taken: Sequence[Line], left_out: list[str] | None) -> str:
        left = [] if left_out is None and len(taken) == len(entries) else [f"{len(taken)} {left_out}"]
        return "\n".join([*(entry.as_text() for entry in taken), *left])

    return fitting(entries, limit, "\n".join([*(entry.as_text() for entry in entries), "all"]), shorter, str)


def test_entries_are_taken_whole_from_the_first_on():
    # The second answer is 5 bytes longer than the first, "1 None" takes 7 of a line of its own, and "all" 4.
    entries = [line("a" * 40), line("b" * 60), line("cccc")]
    assert answer(entries, 28) == "a" * 40 + "\n" + "b" * 60 + "\ncccc\nall"
    assert answer(entries, 27) == "a" * 40 + "\n" + "b" * 60 + "\ncccc", "with less beside them"
    assert answer(entries, 26) == "a" * 40 + "\n1 None", "the last one would fit, but is behind one that does not"
    assert answer([], 0) == ""


def test_only_a_first_entry_that_is_too_long_by_itself_is_shortened():
    # Of 400 bytes "1 None" and the end of a line take 7.
    assert answer([line("a" * 401), line("b")], 100) == "a" * 196 + " …\n1 []"
    assert answer([line("a" * 394), line("b" * 20)], 100) == "a" * 196 + " …\n1 []"
    assert answer([line("a" * 393), line("b" * 20)], 100) == "a" * 393 + "\n1 None"


def test_what_fits_alone_but_not_with_what_is_told_is_shortened():
    # The list takes three bytes for each number: 397 of 400 with the text, to which "1 []" and the end of a line come.
    assert answer([Line({"text": "a", "list": [7] * 132}), line("b" * 20)], 100) == "a\n1 ['list']"


def test_what_else_there_is_to_tell_takes_a_quarter_of_an_answer_that_is_short_of_room():
    assert beside(None, 100) is None
    assert beside("a" * 100, 100) == "a" * 100
    assert beside("a" * 101, 100) == "a" * 96 + " …"


@pytest.mark.parametrize(("texts", "kept"), [(1, 500), (5, 100), (100, 10)])
def test_texts_are_cut_shorter_until_the_entry_fits(texts: int, kept: int):
    shorter, left_out = Line({str(place): "a" * 2000 for place in range(texts)}).shortened(1000)
    assert [len(text.encode()) for text in shorter.fields.values()] == [kept] * texts
    assert left_out == []


def test_of_texts_that_are_too_many_only_so_many_are_left_out():
    shorter, left_out = Line({str(place): "a" * 2000 for place in range(103)}).shortened(1000)
    assert {len(text.encode()) for text in shorter.fields.values()} == {10}
    assert [*shorter.fields] == [str(place) for place in range(3, 103)]
    assert left_out == ["0", "1", "2"]


def test_the_largest_values_are_left_out_and_the_others_stay_whole():
    fields = {"title": "Jaws", "few": [1, 2], "samples": [7] * 20_000, "text": "word " * 100, "more": [8] * 10_000}
    kept = {"title": "Jaws", "few": [1, 2], "text": "word " * 100}
    assert Line(fields).shortened(1000) == (Line(kept), ["samples", "more"])
    assert Line(fields).shortened(40_000) == (Line({**kept, "more": [8] * 10_000}), ["samples"]), "as few as it takes"


def test_where_values_are_left_out_a_long_text_is_cut_no_more_than_it_must():
    shorter, left_out = Line({"text": "a" * 2000, "samples": [7] * 1000}).shortened(1000)
    assert shorter == Line({"text": "a" * 996 + " …"})
    assert left_out == ["samples"]


def test_values_of_maps_within_are_left_out_one_by_one():
    fields = {"film": {"title": "Jaws", "samples": [7] * 1000}, "by": {"samples": [7] * 500}, "none": {}}
    assert Line(fields).shortened(100) == (Line({"film": {"title": "Jaws"}, "none": {}}), ["samples"])


def test_a_map_of_which_nothing_fits_is_emptied():
    assert without_largest({"a": 1, "b": {"c": [1, 2]}}, lambda _: False) == ({}, ["c", "a"])


def test_what_was_left_out_is_told_in_an_eighth_of_the_answer():
    assert too_long([], 100) is None
    assert too_long(["samples", "x" * 50], 1000) == f"Too long to be shown: 'samples', '{'x' * 39}…'."
    # 400 bytes, of which 50 are an eighth: five names of seven bytes, each with a comma and a blank, and the mark.
    assert too_long([f"name{place}" for place in range(30)], 100) == (
        "Too long to be shown: 'name0', 'name1', 'name2', 'name3', 'name4', …."
    )


def test_a_notice_is_its_sentences_or_nothing():
    assert as_notice(None, "One.", "", "Two.") == "One. Two."
    assert as_notice(None) is None
