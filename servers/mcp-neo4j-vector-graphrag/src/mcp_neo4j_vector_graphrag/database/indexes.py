"""The indexes that a search can use, as the database describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mcp_neo4j_vector_graphrag.errors import MissingIndexError, SetupError, UnavailableError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database

ENTITY_VARIABLE: dict[str, Literal["node", "relationship"]] = {"NODE": "node", "RELATIONSHIP": "relationship"}

_SHOWN_NAMES = 20
_SHOWN_CHARACTERS = 80
"""Of a name that a caller sent."""

_SHOW_INDEXES = """\
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, state
WHERE type IN ['VECTOR', 'FULLTEXT']
RETURN name, type, entityType, labelsOrTypes, properties, options.indexConfig AS config, state
ORDER BY name"""


@dataclass(frozen=True)
class VectorIndex:
    """A vector index on nodes or relationships."""

    name: str
    variable: Literal["node", "relationship"]
    """What a retrieval query calls the entity that was found."""
    labels: tuple[str, ...]
    """All labels, or relationship types."""
    property: str
    """The property that holds the vector."""
    filter_properties: tuple[str, ...]
    """The properties that the index itself can filter by."""
    dimensions: int | None
    """`None` where the index was created without; it then takes vectors of any length."""
    similarity: str
    """`cosine` or `euclidean`."""
    state: str
    """`ONLINE`, `POPULATING` or `FAILED`."""
    quantised: bool = True
    """Whether it compares compressed vectors, which makes its near end less complete."""


@dataclass(frozen=True)
class Indexes:
    """The vector indexes of one database by name, and the names of its full-text indexes."""

    vector: Mapping[str, VectorIndex]
    fulltext: tuple[str, ...]

    def searchable(self, name: str, setting: str | None = None) -> VectorIndex:
        """Return the vector index of that name.

        Args:
            name: Its name.
            setting: The setting that names it, if one does.

        Raises:
            MissingIndexError: It does not exist, or is of another kind.
            SetupError: It has failed.
            UnavailableError: It is still being populated.
        """
        index = self.vector.get(name)
        if index is None:
            raise MissingIndexError(f"{self.why_not(name, setting)[:-1]}: {_names(self.vector)}")
        if index.state == "POPULATING":
            raise UnavailableError(f"The vector index '{name}' is still being populated: ask again when it is online.")
        if index.state != "ONLINE":
            raise SetupError(f"The vector index '{name}' is in state {index.state}: drop it and create it again.")
        return index

    def why_not(self, name: str, setting: str | None = None) -> str:
        """Return a sentence that says why a name is no vector index."""
        what = "is a full-text index" if name in self.fulltext else "does not exist in this database"
        named_by = f" ({setting})" if setting else ""
        return f"The vector index '{one_line(name, _SHOWN_CHARACTERS)}'{named_by} {what}."

    @property
    def online(self) -> list[VectorIndex]:
        """The vector indexes that answer searches, by name."""
        return [index for _, index in sorted(self.vector.items()) if index.state == "ONLINE"]

    @property
    def waiting(self) -> str:
        """What to say of the vector indexes that answer no search yet, or no more; empty if there are none."""
        states = [
            f"'{name}' is {index.state}" for name, index in sorted(self.vector.items()) if index.state != "ONLINE"
        ]
        return f"The vector index {', '.join(states)}." if states else ""

    @property
    def vector_properties(self) -> frozenset[str]:
        """The names of all properties that hold vectors."""
        return frozenset(index.property for index in self.vector.values())

    @property
    def vector_dimensions(self) -> frozenset[int]:
        """The lengths of all vectors in the indexes, as far as they are known."""
        return frozenset(index.dimensions for index in self.vector.values() if index.dimensions)


def read_indexes(database: Database) -> Indexes:
    """Return the indexes of a database that answer searches, in one round trip."""
    rows = [row.data() for row in database.read(_SHOW_INDEXES)]
    return Indexes(
        vector={row["name"]: _vector_index(row) for row in rows if row["type"] == "VECTOR"},
        fulltext=tuple(row["name"] for row in rows if row["type"] == "FULLTEXT"),
    )


def _vector_index(row: Mapping[str, Any]) -> VectorIndex:
    config = row["config"] or {}
    embedding, *filters = row["properties"]
    return VectorIndex(
        name=row["name"],
        variable=ENTITY_VARIABLE[row["entityType"]],
        labels=tuple(row["labelsOrTypes"]),
        property=embedding,
        filter_properties=tuple(filters),
        dimensions=config.get("vector.dimensions"),
        similarity=str(config.get("vector.similarity_function", "cosine")).lower(),
        quantised=_is_quantised(config),
        state=row["state"],
    )


def _is_quantised(config: Mapping[str, Any]) -> bool:
    """Whether an index is quantised: told by its type since 2026, by a switch before, which is on unless told."""
    kind = config.get("vector.quantization.type")
    return kind != "NONE" if kind is not None else config.get("vector.quantization.enabled") is not False


def _names(names: Iterable[str]) -> str:
    known = sorted(names)
    more = f" and {len(known) - _SHOWN_NAMES} more" if len(known) > _SHOWN_NAMES else ""
    listed = ", ".join(f"'{name}'" for name in known[:_SHOWN_NAMES]) + more

    return f"its vector indexes are {listed}." if listed else "it has no vector index; create one first."
