"""What a walk found as a model reads it, and how that is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.budget import tokens
from mcp_neo4j_vector_graphrag.retrieval.neighbours import (
    Neighbour,
    Neighbours,
    Relation,
    Surroundings,
    neighbours_text,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def near(place: int, text: str = "", hop: int = 1) -> Neighbour:
    relation = Relation(type="KNOWS", direction="in", via="s" if hop == 1 else "m", properties={"w": 1})
    return Neighbour(
        start="s", hop=hop, relationships=[relation], id=f"n{place}", labels=["A", "B"], properties={"t": text}
    )


def around(*neighbours: Neighbour, beyond_limit: Sequence[str] = (), others: Sequence[str] = ()) -> Surroundings:
    return Surroundings([*neighbours], [*beyond_limit], [*others])


def test_the_text_is_a_line_for_each_neighbour_below_its_element_and_hop():
    found = Neighbours(neighbours=[near(1, "é"), near(2, hop=2)], notice="More.")
    assert neighbours_text(found) == (
        'From s, hop 1:\n<-[:KNOWS {"w":1}]- (n1 :A:B {"t":"é"})\n'
        'From s, hop 2:\n(m)<-[:KNOWS {"w":1}]- (n2 :A:B {"t":""})\nMore.'
    )


def test_whole_neighbours_are_left_out_at_the_end():
    found = around(*(near(place, "x" * 100) for place in range(10)), others=["Before."])
    size = tokens(near(0, "x" * 100).as_text())
    cut = together([found], 3 * size)

    assert cut.neighbours == found.neighbours[:3]
    assert cut.notice == (
        f"Before. Only 3 of 10 neighbours are shown, to keep to {3 * size} tokens (RESPONSE_TOKEN_LIMIT): "
        "ask for fewer ids, name relationship_types, or lower limit."
    )
    assert together([found], 10 * size) == Neighbours(neighbours=found.neighbours, notice="Before.")


@pytest.mark.parametrize("limit", [100, 40])
def test_a_first_one_that_is_too_long_has_its_texts_cut(limit: int):
    cut = together([around(near(1, "x" * 10_000), near(2))], limit)
    [kept] = cut.neighbours
    assert tokens(kept.as_text()) <= limit
    assert kept.properties["t"].startswith("x")
    assert kept.properties["t"].endswith("…")
    assert cut.notice == (
        f"Only one of 2 neighbours is shown, and cut, to keep to {limit} tokens (RESPONSE_TOKEN_LIMIT): "
        "ask for fewer ids, name relationship_types, or lower limit."
    )


def test_a_first_one_that_no_cut_makes_short_loses_its_largest_properties():
    long = near(1).model_copy(update={"properties": {"list": list(range(1000)), "name": "Ann"}})
    cut = together([around(long)], 50)
    [kept] = cut.neighbours
    assert (kept.id, kept.properties, kept.relationships[0].properties) == ("n1", {"name": "Ann"}, {"w": 1})
    assert str(cut.notice).endswith("or lower limit. Too long to be shown: 'list'.")


def test_what_is_too_long_may_stand_on_a_relationship():
    relation = Relation(type="KNOWS", direction="in", via="s", properties={"list": list(range(1000)), "w": 1})
    cut = together([around(near(1, "x").model_copy(update={"relationships": [relation]}))], 50)
    [kept] = cut.neighbours
    assert (kept.properties, kept.relationships[0].properties) == ({"t": "x"}, {"w": 1})


def test_a_name_with_line_breaks_or_backticks_can_not_pass_for_a_line():
    relation = Relation(type="IS\nNEAR", direction="out", via="s")
    odd = Neighbour(start="s", hop=1, relationships=[relation], id="n", labels=["A`B", "C\nD"], properties={})
    assert odd.as_text() == r"-[:`IS\u000ANEAR`]-> (n :`A``B`:`C\u000AD` {})"


def test_what_is_cut_to_the_budget_is_not_told_to_raise_the_limit():
    raised = "Hop 1 from the id 's': only 10 neighbours are shown, there are more: raise limit."
    first = around(*(near(place, "x" * 100) for place in range(10)), beyond_limit=[raised], others=["After."])
    found = [first, around(near(11), others=["Last."])]
    size = tokens(near(0, "x" * 100).as_text())

    assert together(found, 100 * size).notice == f"{raised} After. Last."
    assert str(together(found, 3 * size).notice).startswith("After. Last. Only 3 of 11 neighbours are shown")
