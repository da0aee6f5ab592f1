"""What `expand` refuses before it asks a database, its statements as text, and how its answer is cut."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest

from mcp_neo4j_vector_graphrag.budget import tokens
from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.errors import QuestionError
from mcp_neo4j_vector_graphrag.retrieval.neighbours import (
    Neighbour,
    Neighbours,
    Relation,
    expand,
    hop_statement,
    neighbours_text,
    together,
    within,
)


class Unasked(Database):
    """A database that must not be asked."""

    def __init__(self) -> None:
        super().__init__(neo4j.GraphDatabase.driver("bolt://127.0.0.1:1"))

    def read(self, *_: Any, **__: Any) -> list[neo4j.Record]:
        raise AssertionError("It was asked.")


@pytest.fixture
def unasked():
    database = Unasked()
    yield database
    database.close()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"ids": []}, "ids is empty: give the element ids of earlier results."),
        ({"ids": [f"4:x:{i}" for i in range(21)]}, "There are 21 ids: give at most 20 at a time."),
        ({"direction": "up"}, "direction is 'up': take out, in or both."),
        ({"depth": 0}, "depth is 0: take 1 or 2."),
        ({"depth": 3}, "depth is 3: take 1 or 2."),
        ({"limit": 0}, "limit is 0: take a number from 1 to 100."),
        ({"limit": 101}, "limit is 101: take a number from 1 to 100."),
    ],
)
def test_an_argument_out_of_range_is_one_line(unasked: Database, arguments: dict[str, Any], told: str):
    with pytest.raises(QuestionError) as caught:
        expand(unasked, **{"ids": ["4:x:1"], "plain": PlainJson(), **arguments})
    assert str(caught.value) == told


def test_the_same_id_twice_counts_once(unasked: Database):
    with pytest.raises(AssertionError, match="It was asked"):
        expand(unasked, ["4:x:1", " 4:x:1 "] * 20, plain=PlainJson())


@pytest.mark.parametrize(
    ("direction", "pattern"),
    [("out", "(via)-[step]->(near)"), ("in", "(via)<-[step]-(near)"), ("both", "(via)-[step]-(near)")],
)
def test_a_direction_is_one_of_three_fixed_patterns(direction: Any, pattern: str):
    assert f"MATCH {pattern}\n" in hop_statement(direction=direction)


def test_types_and_names_of_vectors_are_quoted():
    statement = hop_statement(["A", "b`]-() //"], vector_properties=["e`mb"])
    assert "-[step:`A`|`b``]-() //`]-" in statement
    assert "valueType(near.`e``mb`)" in statement
    assert "valueType(step.`e``mb`)" in statement


def near(place: int, text: str = "", hop: int = 1) -> Neighbour:
    relation = Relation(type="KNOWS", direction="in", via="s" if hop == 1 else "m", properties={"w": 1})
    return Neighbour(
        start="s", hop=hop, relationships=[relation], id=f"n{place}", labels=["A", "B"], properties={"t": text}
    )


def test_the_text_is_a_line_for_each_neighbour_below_its_element_and_hop():
    found = Neighbours(neighbours=[near(1, "é"), near(2, hop=2)], notice="More.")
    assert neighbours_text(found) == (
        'From s, hop 1:\n<-[:KNOWS {"w":1}]- (n1 :A:B {"t":"é"})\n'
        'From s, hop 2:\n(m)<-[:KNOWS {"w":1}]- (n2 :A:B {"t":""})\nMore.'
    )


def test_whole_neighbours_are_left_out_at_the_end():
    found = Neighbours(neighbours=[near(place, "x" * 100) for place in range(10)], notice="Before.")
    size = tokens(near(0, "x" * 100).as_text())
    cut = within(found, 3 * size)

    assert cut.neighbours == found.neighbours[:3]
    assert cut.notice == (
        f"Before. Only 3 of 10 neighbours are shown, to keep to {3 * size} tokens (RESPONSE_TOKEN_LIMIT): "
        "ask for fewer ids, name relationship_types, or lower limit."
    )
    assert within(found, 10 * size) is found


@pytest.mark.parametrize("limit", [100, 40])
def test_a_first_one_that_is_too_long_has_its_texts_cut(limit: int):
    cut = within(Neighbours(neighbours=[near(1, "x" * 10_000), near(2)]), limit)
    [kept] = cut.neighbours
    assert tokens(kept.as_text()) <= limit
    assert kept.properties["t"].startswith("x")
    assert kept.properties["t"].endswith("…")
    assert "with its texts cut" in str(cut.notice)


def test_a_first_one_that_no_cut_makes_short_loses_its_properties():
    long = near(1).model_copy(update={"properties": {"list": list(range(1000))}})
    [kept] = within(Neighbours(neighbours=[long]), 50).neighbours
    assert (kept.id, kept.properties) == ("n1", {})


def test_a_name_with_line_breaks_or_backticks_can_not_pass_for_a_line():
    relation = Relation(type="IS\nNEAR", direction="out", via="s")
    odd = Neighbour(start="s", hop=1, relationships=[relation], id="n", labels=["A`B", "C\nD"], properties={})
    assert odd.as_text() == r"-[:`IS\u000ANEAR`]-> (n :`A``B`:`C\u000AD` {})"


def test_what_is_cut_to_the_budget_is_not_told_to_raise_the_limit():
    raised = "Hop 1 from the id 's': only 10 neighbours are shown, there are more: raise limit."
    part = Neighbours(neighbours=[near(place, "x" * 100) for place in range(10)], notice=f"Before. {raised} After.")
    found = together([part.with_beyond_limit([raised]), Neighbours(neighbours=[near(11)], notice="Last.")])
    size = tokens(near(0, "x" * 100).as_text())

    assert within(found, 100 * size).notice == f"Before. {raised} After. Last."
    assert str(within(found, 3 * size).notice).startswith("Before. After. Last. Only 3 of 11 neighbours are shown")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["x", "x"], "There is no relationship type 'x': the type is 'KNOWS'."),
        (["x", "KNOWS", "y"], "There are no relationship types 'x', 'y': the type is 'KNOWS'."),
    ],
)
def test_types_that_do_not_exist_are_told_once_each(given: list[str], told: str):
    class Knows(Unasked):
        def read(self, *_: Any, **__: Any) -> list[Any]:
            return [{"type": "KNOWS"}]

    database = Knows()
    with pytest.raises(QuestionError) as caught:
        expand(database, ["4:x:1"], relationship_types=given, plain=PlainJson())
    database.close()
    assert str(caught.value) == told
