"""A database that has indexes and nothing else, without a Neo4j."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from logging import Logger

DRIVER = open_driver("bolt://127.0.0.1:1", "neo4j", None)
"""Connects to nothing."""
atexit.register(DRIVER.close)


def index(name: str, on: str, *properties: str, dimensions: int | None = 8, state: str = "ONLINE") -> dict[str, Any]:
    """Return a row of SHOW INDEXES; `on` is `(A|B)` or `[A|B]`."""
    return {
        "name": name,
        "type": "VECTOR",
        "entityType": "NODE" if on.startswith("(") else "RELATIONSHIP",
        "labelsOrTypes": on[1:-1].split("|"),
        "properties": list(properties),
        "config": {"vector.dimensions": dimensions} if dimensions else {},
        "state": state,
    }


def fulltext(name: str, on: str, *properties: str, state: str = "ONLINE") -> dict[str, Any]:
    """Return a row of SHOW INDEXES for a full-text index."""
    return {**index(name, on, *properties, state=state), "type": "FULLTEXT", "config": {}}


class FakeDatabase:
    """Has indexes and nothing else; asked for them, it may fail."""

    def __init__(self, indexes: Sequence[dict[str, Any]], failure: Exception | None = None) -> None:
        self._indexes = indexes
        self._failure = failure
        self.driver = DRIVER

    name = None
    read_timeout = 30.0
    translated = Database.translated

    def warn_once(self, logger: Logger, warning: str) -> None:
        logger.warning("%s", warning)

    def read(self, statement: str, _: object = None) -> list[Any]:
        if self._failure:
            raise self._failure
        if not statement.startswith("SHOW INDEXES"):
            return []
        return [_Row(row) for row in self._indexes]

    def fault(self, error: Exception) -> Exception:
        return UnavailableError(f"translated {type(error).__name__}")


class _Row(dict[str, Any]):
    def data(self) -> dict[str, Any]:
        return self


class FakeBackend:
    """Hands out a database."""

    def __init__(self, database: FakeDatabase) -> None:
        self.now = database

    def database(self) -> FakeDatabase:
        return self.now
