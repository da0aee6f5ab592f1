"""What is kept for a database is made once, and anew when another database stands in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.errors import UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.kept import Kept

if TYPE_CHECKING:
    import neo4j


class Replaced:
    """Hands out a database that a test replaces."""

    def __init__(self) -> None:
        self.replace()

    def replace(self) -> None:
        self.now: Database | None = Database(cast("neo4j.Driver", None))

    def database(self) -> Database:
        if self.now is None:
            raise UnavailableError("starting")
        return self.now


@pytest.fixture
def backend() -> Replaced:
    return Replaced()


@pytest.fixture
def kept(backend: Replaced) -> Kept[tuple[Database, Any]]:
    return Kept(backend)


def made(kept: Kept[tuple[Database, Any]], key: str) -> tuple[Database, Any]:
    return kept.get(key, lambda database: (database, object()))


def test_each_key_is_made_once(kept: Kept[tuple[Database, Any]]):
    assert made(kept, "a") is made(kept, "a")
    assert made(kept, "a") is not made(kept, "b")


def test_only_what_is_made_is_seen(kept: Kept[tuple[Database, Any]], backend: Replaced):
    assert kept.peek("a") is None
    assert made(kept, "a") is kept.peek("a")
    backend.replace()
    assert kept.peek("a") is None


def test_another_database_has_everything_made_anew(kept: Kept[tuple[Database, Any]], backend: Replaced):
    before = made(kept, "a")
    backend.replace()
    after = made(kept, "a")

    assert after is not before
    assert after[0] is backend.now
    assert made(kept, "a") is after


def test_what_is_kept_is_not_given_out_while_there_is_no_database(kept: Kept[tuple[Database, Any]], backend: Replaced):
    made(kept, "a")
    backend.now = None
    with pytest.raises(UnavailableError):
        made(kept, "a")
