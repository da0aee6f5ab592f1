"""Which database has the elements that a walk begins at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from neo4j.exceptions import ServiceUnavailable

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.tools.walking import owners

if TYPE_CHECKING:
    from collections.abc import Sequence

    import neo4j

    from mcp_neo4j_vector_graphrag.backend import Backend


class Holds(Database):
    """A database that has some elements, or can't be asked, and where it comes from."""

    def __init__(self, ids: str, error: Exception | None = None) -> None:
        super().__init__(cast("neo4j.Driver", None))
        self.ids = ids
        self.error = error
        self.asked: list[list[str]] = []

    def database(self) -> Holds:
        return self

    def read(self, _: str, parameters: Any = None, seconds: float | None = None) -> list[Any]:
        del seconds
        self.asked.append(parameters["ids"])
        if self.error:
            raise self.error
        return [{"id": each} for each in parameters["ids"] if each in self.ids]


def owned(databases: Sequence[Holds], ids: str) -> list[tuple[str, str]]:
    found = owners(cast("list[Backend]", databases), list(ids))
    return [(cast("Any", database).ids, "".join(some)) for database, some in found.items()]


def test_each_database_is_asked_for_what_is_not_found_yet():
    abc, cd = Holds("abc"), Holds("cd")

    assert owned([abc, cd], "dcab") == [("abc", "cab"), ("cd", "d")]
    assert abc.asked == [["d", "c", "a", "b"]]
    assert cd.asked == [["d"]]


def test_a_single_database_is_not_asked():
    only = Holds("abc")

    assert owned([only], "xa") == [("abc", "xa")]
    assert only.asked == []


def test_no_database_is_asked_once_all_are_found():
    second = Holds("b")

    assert owned([Holds("a"), second], "aa") == [("a", "a")]
    assert second.asked == []


def test_what_nobody_has_is_told_by_the_first_that_has_some():
    assert owned([Holds("a"), Holds("b"), Holds("c")], "xcb") == [("b", "bx"), ("c", "c")]


def test_what_nobody_has_at_all_is_a_question_to_put_right():
    with pytest.raises(QuestionError, match=r"^No element has the ids 'x', 'y': ids change when data is loaded anew"):
        owned([Holds("a"), Holds("b")], "xy")


def test_a_database_that_cannot_be_asked_holds_up_no_other():
    down = Holds("b", ServiceUnavailable("bolt://neo4j:pw@host"))

    assert owned([down, Holds("a")], "a") == [("a", "a")]
    with pytest.raises(UnavailableError, match=r"^Neo4j can't be reached"):
        owned([down, Holds("a")], "b")


def test_a_database_that_is_not_set_up_is_told_where_nothing_is_found():
    with pytest.raises(SetupError, match=r"^broken$"):
        owned([Holds("b", SetupError("broken")), Holds("a")], "b")
