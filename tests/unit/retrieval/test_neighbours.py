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


def told(shown: str, limit: int) -> str:
    asked = "ask for fewer ids, name relationship_types, or lower limit."
    return f"{shown}, to keep to {limit} tokens (RESPONSE_TOKEN_LIMIT): {asked}"


@pytest.mark.parametrize(("limit", "shown"), [(353, None), (352, 8), (200, 4)])
def test_whole_neighbours_are_left_out_at_the_end(limit: int, shown: int | None):
    # A heading of 14 bytes, lines of 138 and their ends, and " Before." are 1,412 bytes, of which 353 tokens are made.
    # What is told of the others is 150 bytes with "Before.", so that four take 721 of 800, and eight 1,277 of 1,408.
    found = around(*(near(place, "x" * 100) for place in range(10)), others=["Before."])
    cut = together([found], limit)

    assert cut.neighbours == found.neighbours[:shown]
    expected = f"Before. {told(f'Only {shown} of 10 neighbours are shown', limit)}" if shown else "Before."
    assert cut.notice == expected
    assert tokens(neighbours_text(cut)) <= limit


@pytest.mark.parametrize("limit", [200, 100])
def test_a_first_one_that_is_too_long_has_its_texts_cut(limit: int):
    cut = together([around(near(1, "x" * 10_000), near(2))], limit)
    [kept] = cut.neighbours
    assert tokens(neighbours_text(cut)) <= limit
    assert kept.properties["t"].startswith("x")
    assert kept.properties["t"].endswith("…")
    assert cut.notice == told("Only one of 2 neighbours is shown, and cut", limit)


def test_a_first_one_that_no_cut_makes_short_loses_its_largest_properties():
    long = near(1).model_copy(update={"properties": {"list": list(range(1000)), "name": "Ann"}})
    cut = together([around(long)], 200)
    [kept] = cut.neighbours
    assert (kept.id, kept.properties, kept.relationships[0].properties) == ("n1", {"name": "Ann"}, {"w": 1})
    assert cut.notice == f"{told('Only one of 1 neighbours is shown, and cut', 200)} Too long to be shown: 'list'."


def test_what_is_too_long_may_stand_on_a_relationship():
    relation = Relation(type="KNOWS", direction="in", via="s", properties={"list": list(range(1000)), "w": 1})
    cut = together([around(near(1, "x").model_copy(update={"relationships": [relation]}))], 200)
    [kept] = cut.neighbours
    assert (kept.properties, kept.relationships[0].properties) == ({"t": "x"}, {"w": 1})


ID = "4:01234567-89ab-cdef-0123-456789abcdef:12345"


@pytest.mark.parametrize("limit", [200, 1000])
@pytest.mark.parametrize(
    "given",
    [
        [Neighbour(start=ID, hop=1, relationships=[], id=ID, labels=["A"], properties={})] * 300,
        [near(place, "é" * place) for place in range(300)],
        [
            Neighbour(
                start=ID,
                hop=2,
                relationships=[Relation(type="IS_NEAR" * 9, direction="in", via=ID[:-1], properties={"w": [1] * 99})]
                * 10,
                id=ID,
                labels=["Label" * 9] * 20,
                properties={f"list{place}" * 20: [1] * 99 for place in range(50)},
            )
        ]
        * 2,
    ],
    ids=["short", "longer", "long"],
)
def test_the_whole_text_keeps_to_the_limit_whatever_else_is_told(given: list[Neighbour], limit: int):
    gone = f"No element has the ids {', '.join([f'{ID!r}'] * 19)}: search again and take the ids of its results."
    found = together([around(*given, beyond_limit=[gone], others=[gone])], limit)

    assert found.neighbours
    assert tokens(neighbours_text(found)) <= limit
    assert str(found.notice).startswith("No element has the ids '4:")
    assert told("", limit) in str(found.notice)


def test_what_is_told_alone_keeps_to_the_limit():
    found = together([around(others=["word " * 500])], 200)
    assert neighbours_text(found) == f"No neighbours.\n{'word ' * 38}word …"


def test_a_name_with_line_breaks_or_backticks_can_not_pass_for_a_line():
    relation = Relation(type="IS\nNEAR", direction="out", via="s")
    odd = Neighbour(start="s", hop=1, relationships=[relation], id="n", labels=["A`B", "C\nD"], properties={})
    assert odd.as_text() == r"-[:`IS\u000ANEAR`]-> (n :`A``B`:`C\u000AD` {})"


def test_what_is_cut_to_the_budget_is_not_told_to_raise_the_limit():
    raised = "Hop 1 from the id 's': only 10 neighbours are shown, there are more: raise limit."
    first = around(*(near(place, "x" * 100) for place in range(10)), beyond_limit=[raised], others=["After."])
    found = [first, around(near(11), others=["Last."])]

    assert together(found, 3500).notice == f"{raised} After. Last."
    assert str(together(found, 200).notice).startswith("After. Last. Only 4 of 11 neighbours are shown")
