"""What `expand` refuses before it walks, and what it tells of what it does not show."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.errors import QuestionError
from mcp_neo4j_vector_graphrag.retrieval.walk import expand


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


@pytest.mark.parametrize("written", ["HAS SPACE", "`HAS SPACE`", ":`HAS SPACE`", " `HAS SPACE` "])
def test_types_are_taken_as_the_schema_writes_them(written: str):
    asked: list[str] = []

    class Knows(Unasked):
        def read(self, statement: str, *_: Any, **__: Any) -> list[Any]:
            asked.append(statement)
            if "relationshipType" in statement:
                return [{"type": "HAS SPACE"}]
            if "walk" in statement:
                return []
            return [neo4j.Record({"id": "s", "is_node": True, "type": None, "properties": None, "ends": []})]

    database = Knows()
    expand(database, ["s"], relationship_types=[written], plain=PlainJson())
    database.close()
    assert "[step:`HAS SPACE`]" in asked[-1]


def node(identity: str, turn: int = 0, parallel: int = 1) -> dict[str, Any]:
    return {
        "id": identity,
        "labels": ["B", "A"],
        "properties": {"emb": None},
        "turn": turn,
        "parallel": parallel,
        "relationships": [{"type": "KNOWS", "direction": "out", "via": "s", "properties": {}}],
    }


def test_what_a_higher_limit_would_show_is_told_apart_from_all_else():
    class Hub(Unasked):
        def read(self, _: str, parameters: Any = None, **__: Any) -> list[Any]:
            if "ids" in parameters:
                rest = {"type": None, "properties": None, "ends": []}
                known = {"s": True, "t": True, "gone": False}
                return [neo4j.Record({"id": each, "is_node": known[each], **rest}) for each in parameters["ids"]]
            found = {"s": [node("a"), node("b"), node("c")], "t": [node("d", turn=200, parallel=201)]}
            return [neo4j.Record({"start": start, "found": nears}) for start, nears in found.items()]

    database = Hub()
    found = expand(database, ["s", "t", "gone"], limit=2, plain=PlainJson(frozenset({"emb"})))
    database.close()

    assert [(each.start, each.id, each.labels, each.properties) for each in found.neighbours] == [
        ("s", "a", ["A", "B"], {}),
        ("s", "b", ["A", "B"], {}),
        ("t", "d", ["A", "B"], {}),
    ]
    [beyond] = found.beyond_limit
    assert beyond == (
        "Hop 1 from the id 's': only 2 neighbours are shown, there are more: name relationship_types or a direction, "
        "or raise limit (at most 100)."
    )
    [unread, parallel, gone] = found.others
    assert unread == (
        "Hop 1 from the id 't': only 200 relationships of a node were read, there are more: name relationship_types "
        "or a direction."
    )
    assert parallel == "Of a neighbour with more relationships than 10, the first 10 are shown."
    assert gone == "No element has the id 'gone': search again and take the ids of its results."
