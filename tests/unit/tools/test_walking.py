"""Which database has the elements that a walk begins at."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import neo4j
import pytest
from neo4j.exceptions import ServiceUnavailable

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools.walking import build, owners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.tools.family import Context


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


def asked(databases: Sequence[Holds], ids: str) -> tuple[list[tuple[str, str]], list[str]]:
    found, told = owners(cast("list[Backend]", databases), list(ids))
    return [(cast("Any", database).ids, "".join(some)) for database, some in found.items()], told


def owned(databases: Sequence[Holds], ids: str) -> list[tuple[str, str]]:
    found, told = asked(databases, ids)
    assert told == []
    return found


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


UNREACHABLE = "Neo4j can't be reached: check that it is running and that NEO4J_URI is right, then ask again."


def test_ids_are_called_gone_only_where_all_databases_were_asked(caplog: pytest.LogCaptureFixture):
    down = Holds("a", ServiceUnavailable("bolt://neo4j:pw@host"))
    found, told = asked([down, Holds("b"), Holds("c", SetupError("Broken.")), down], "axb")

    assert found == [("b", "b")]
    assert told == [f"The ids 'a', 'x' could not be looked for in all databases: {UNREACHABLE} Broken."]
    assert caplog.messages == [
        f"A database could not be asked: {each}" for each in (UNREACHABLE, "Broken.", UNREACHABLE)
    ]


def test_a_database_that_cannot_be_asked_goes_to_the_log_where_nothing_is_left(caplog: pytest.LogCaptureFixture):
    assert owned([Holds("b", SetupError("Broken.")), Holds("a")], "a") == [("a", "a")]
    assert caplog.messages == ["A database could not be asked: Broken."]


def test_what_is_raised_is_logged_where_it_is_answered(caplog: pytest.LogCaptureFixture):
    with pytest.raises(SetupError, match=r"^One\.$"):
        owned([Holds("a", SetupError("One.")), Holds("b", SetupError("Two."))], "c")
    assert caplog.messages == ["A database could not be asked: Two."]


class Walked(Holds):
    """A database whose elements have no neighbours."""

    def read(self, statement: str, parameters: Any = None, seconds: float | None = None) -> list[Any]:
        if statement.startswith("SHOW INDEXES"):
            return []
        if "walks" in parameters:
            return [neo4j.Record({"start": walk["start"], "found": []}) for walk in parameters["walks"]]
        there = super().read(statement, parameters, seconds)
        if "is_node" not in statement:
            return there
        known = {each["id"] for each in there}
        return [
            neo4j.Record({"id": each, "is_node": each in known, "type": None, "properties": None, "ends": []})
            for each in parameters["ids"]
        ]


def test_a_walk_tells_what_could_not_be_looked_for():
    down = Walked("a", ServiceUnavailable("bolt://neo4j:pw@host"))
    sources = SimpleNamespace(backends={"down": down, "up": Walked("b")}, prepare=None)
    settings = Settings(**cast("dict[str, Any]", {"NEO4J_URI": "bolt://127.0.0.1:1"}))
    [tool] = build(cast("Context", SimpleNamespace(settings=settings, sources=sources))).tools

    answer = asyncio.run(tool.run({"ids": ["a", "b"]}))
    assert answer.structured_content == {
        "neighbours": [],
        "notice": f"The id 'a' could not be looked for in all databases: {UNREACHABLE}",
    }


def test_a_database_that_is_not_set_up_is_told_where_nothing_is_found():
    with pytest.raises(SetupError, match=r"^broken$"):
        owned([Holds("b", SetupError("broken")), Holds("a")], "b")
