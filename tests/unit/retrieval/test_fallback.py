"""A filtered full-text search looks at more and more texts, and says what it could not look at."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex
from mcp_neo4j_vector_graphrag.errors import UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.fallback import FilteredFulltext, Hits
from mcp_neo4j_vector_graphrag.retrieval.filters import Condition

INDEX = FulltextIndex("texts", "node", ("Doc",), ("text",), "english", "ONLINE")


class Texts:
    """A database of so many texts that match a question, of which some meet the condition; slow beyond a size."""

    read_timeout = 30.0

    def __init__(self, size: int, matching: list[int], slow_beyond: int | None = None) -> None:
        self._size, self._matching, self._slow_beyond = size, matching, slow_beyond
        self.asked: list[int] = []

    def read(self, _text: str, parameters: dict[str, Any], _seconds: float) -> list[dict[str, Any]]:
        limit = parameters["fulltext_candidates"]
        self.asked.append(limit)
        if self._slow_beyond is not None and limit > self._slow_beyond:
            raise UnavailableError("too slow")
        hits = [[str(place), 1.0] for place in self._matching if place < limit]
        return [{"looked_at": min(limit, self._size), "hits": hits[: parameters["fulltext_wanted"]]}]


def run(texts: Texts, wanted: int = 2) -> Hits:
    condition = Condition("year", "=", 1)
    return FilteredFulltext(texts, INDEX, "search", [condition], "shark", wanted, 100).run()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "matching", "asked", "found"),
    [
        (50, [], [100], []),
        (5_000, [3, 7, 9], [100], ["3", "7"]),
        (5_000, [3, 700], [100, 1_000], ["3", "700"]),
        (5_000, [3], [100, 1_000, 10_000], ["3"]),
        (50_000, [3, 40_000], [100, 1_000, 10_000, 2**31 - 1], ["3", "40000"]),
    ],
)
def test_it_looks_further_until_enough_match_or_all_are_seen(
    size: int, matching: list[int], asked: list[int], found: list[str]
):
    texts = Texts(size, matching)
    hits = run(texts)
    assert ([row[0] for row in hits.rows], hits.notice) == (found, None)
    assert texts.asked == asked


def test_what_was_found_in_time_is_returned_with_a_notice():
    hits = run(Texts(50_000, [3, 40_000], slow_beyond=1_000))
    assert [row[0] for row in hits.rows] == ["3"]
    assert hits.notice == (
        "Incomplete: only the best 1000 entries could be filtered within the time limit (NEO4J_READ_TIMEOUT); "
        "more may match."
    )


def test_no_first_answer_in_time_is_an_error():
    with pytest.raises(UnavailableError):
        run(Texts(50_000, [3], slow_beyond=10))
