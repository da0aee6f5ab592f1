"""What is made for a database once, and made anew when another database stands in its place."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from mcp_neo4j_vector_graphrag.database.connection import Database

T = TypeVar("T")


class HasDatabase(Protocol):
    """Where a database comes from, which may be another at each call: the demo's can end and start again."""

    def database(self) -> Database:
        """Return the database that is there now."""


class Kept(Generic[T]):
    """Keeps what was made for the database that is there now, such as its retrievers.

    Args:
        backend: Is asked for the database at each call.
    """

    def __init__(self, backend: HasDatabase) -> None:
        self._backend = backend
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._made: dict[Hashable, T] = {}

    def get(self, key: Hashable, make: Callable[[Database], T]) -> T:
        """Return what is kept under a key, the same for every call while the database is the same.

        Args:
            key: Any.
            make: Makes it; asks nothing of the database.

        Raises:
            SetupError: The database can't be had with these settings.
            UnavailableError: It is still starting.
        """
        database = self._backend.database()
        with self._lock:
            self._forget_others(database)
            if key not in self._made:
                self._made[key] = make(database)
            return self._made[key]

    def peek(self, key: Hashable) -> T | None:
        """Return what is kept under a key, if it is made already.

        Raises:
            SetupError: The database can't be had with these settings.
            UnavailableError: It is still starting.
        """
        database = self._backend.database()
        with self._lock:
            self._forget_others(database)
            return self._made.get(key)

    def _forget_others(self, database: Database) -> None:
        if self._database is not database:
            self._database = database
            self._made.clear()
