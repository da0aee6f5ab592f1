"""The indexes and the constraints of a database, and what they are on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.database.indexes import ENTITY_VARIABLE, SHOW_ALL_INDEXES, indexes_in
from mcp_neo4j_vector_graphrag.database.schema.queries import read_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import Indexes
    from mcp_neo4j_vector_graphrag.database.schema.entries import Entities

_SHOW_CONSTRAINTS = """\
SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties
RETURN name, type, entityType, labelsOrTypes, properties ORDER BY name"""


@dataclass(frozen=True)
class Entry:
    """An index of any type, or a constraint."""

    name: str
    type: str
    variable: Entities
    labels: tuple[str, ...]
    """All labels, or relationship types."""
    properties: tuple[str, ...]


@dataclass(frozen=True)
class Catalogue:
    """All indexes and constraints of a database, each by name."""

    indexes: Indexes
    """Those that answer searches."""
    all_indexes: Sequence[Entry]
    """The same, and those that don't."""
    constraints: Sequence[Entry]

    def names(self, on: Entities) -> set[str]:
        """Return the labels, or the relationship types, that something is on."""
        return {name for entry in self._entries() if entry.variable == on for name in entry.labels}

    def properties(self, on: Entities, name: str) -> list[str]:
        """Return the properties of a label, or of a relationship type, that something is on."""
        entries = [entry for entry in self._entries() if entry.variable == on and name in entry.labels]
        return list(dict.fromkeys(key for entry in entries for key in entry.properties))

    def dimensions(self, on: Entities, name: str) -> dict[str, int | None]:
        """Return the properties of a label, or of a relationship type, that hold vectors, with the vectors' lengths."""
        indexes = [index for index in self.indexes.vector.values() if index.variable == on and name in index.labels]
        return {index.property: index.dimensions for index in indexes}

    def _entries(self) -> Iterator[Entry]:
        yield from self.all_indexes
        yield from self.constraints


def read_catalogue(database: Database, end: float) -> Catalogue:
    """Return the indexes and constraints of a database, in two round trips.

    Args:
        database: Where.
        end: When to give up, by the monotonic clock.
    """
    indexes = [row.data() for row in read_until(database, SHOW_ALL_INDEXES, {}, end)]
    constraints = [row.data() for row in read_until(database, _SHOW_CONSTRAINTS, {}, end)]
    return Catalogue(indexes_in(indexes), [_entry(row) for row in indexes], [_entry(row) for row in constraints])


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(
        name=row["name"],
        type=row["type"],
        variable=ENTITY_VARIABLE[row["entityType"]],
        labels=tuple(row["labelsOrTypes"]),
        properties=tuple(row["properties"] or ()),  # a constraint on labels has none
    )
