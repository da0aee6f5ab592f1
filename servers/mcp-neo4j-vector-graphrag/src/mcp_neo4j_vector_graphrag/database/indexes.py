"""The indexes that a search can use, as the database describes them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.errors import MissingIndexError, SetupError, UnavailableError, listed, one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database

ENTITY_VARIABLE: dict[str, Literal["node", "relationship"]] = {"NODE": "node", "RELATIONSHIP": "relationship"}

Kind = Literal["vector", "full-text"]

_SHOWN_CHARACTERS = 80
"""Of a name that a caller sent."""

_SHOW_INDEXES = """\
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, state
WHERE {}
RETURN name, type, entityType, labelsOrTypes, properties, options.indexConfig AS config, state
ORDER BY name"""
_SHOW_SEARCHED = _SHOW_INDEXES.format("type IN ['VECTOR', 'FULLTEXT']")
SHOW_ALL_INDEXES = _SHOW_INDEXES.format("type <> 'LOOKUP'")
"""All but the look-up ones, which are on no label or type of their own."""


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
class FulltextIndex:
    """A full-text index on nodes or relationships."""

    name: str
    variable: Literal["node", "relationship"]
    """What a retrieval query calls the entity that was found."""
    labels: tuple[str, ...]
    """All labels, or relationship types."""
    properties: tuple[str, ...]
    """The properties whose texts it holds."""
    analyzer: str | None
    """How it makes words of texts, and of questions; `None` where the database does not tell."""
    state: str
    """`ONLINE`, `POPULATING` or `FAILED`."""


AnyIndex = VectorIndex | FulltextIndex
_OneIndex = TypeVar("_OneIndex", bound=AnyIndex)


@dataclass(frozen=True)
class IndexPair:
    """A vector index and a full-text index that can find the same entities."""

    vector: VectorIndex
    fulltext: FulltextIndex

    @property
    def variable(self) -> Literal["node", "relationship"]:
        """What a retrieval query calls the entity that was found."""
        return self.vector.variable

    @property
    def name(self) -> str:
        """The name of the vector index."""
        return self.vector.name


@dataclass(frozen=True)
class Indexes:
    """The vector indexes of one database and its full-text indexes, by name."""

    vector: Mapping[str, VectorIndex]
    fulltext: Mapping[str, FulltextIndex]

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
        return self._searchable("vector", self.vector, name, setting)

    def searchable_fulltext(self, name: str, setting: str | None = None) -> FulltextIndex:
        """Return the full-text index of that name, as `searchable` does the vector index."""
        return self._searchable("full-text", self.fulltext, name, setting)

    def searchable_pair(
        self, vector: str, fulltext: str, setting: str | None = None, fulltext_setting: str | None = None
    ) -> IndexPair:
        """Return the vector index and the full-text index of these names.

        Args:
            vector: The name of the vector index.
            fulltext: The name of the full-text index.
            setting: The setting that names the vector index, if one does.
            fulltext_setting: The setting that names the full-text index, if one does.

        Raises:
            MissingIndexError: One of them does not exist, or is of another kind.
            SetupError: One of them has failed, or they are on different labels or types.
            UnavailableError: One of them is still being populated.
        """
        pair = IndexPair(self.searchable(vector, setting), self.searchable_fulltext(fulltext, fulltext_setting))
        if not find_the_same(pair.vector, pair.fulltext):
            raise SetupError(
                f"The vector index {_about(pair.vector)} and the full-text index {_about(pair.fulltext)}: "
                "choose two indexes on the same label or type."
            )
        return pair

    def vectors_of(self, index: FulltextIndex) -> tuple[str, ...]:
        """Return the properties that hold vectors of the entities of a full-text index, as far as indexes tell."""
        return tuple(sorted({known.property for known in self.vector.values() if find_the_same(known, index)}))

    def why_not(self, kind: Kind, name: str, setting: str | None = None) -> str:
        """Return why a name is no index of a kind, as a sentence without its end."""
        other, others = ("full-text", self.fulltext) if kind == "vector" else ("vector", self.vector)
        what = f"is a {other} index" if name in others else "does not exist in this database"
        named_by = f" ({setting})" if setting else ""
        return f"The {kind} index '{one_line(name, _SHOWN_CHARACTERS)}'{named_by} {what}"

    @property
    def online(self) -> list[VectorIndex]:
        """The vector indexes that answer searches, by name."""
        return _online(self.vector)

    @property
    def online_fulltext(self) -> list[FulltextIndex]:
        """The full-text indexes that answer searches, by name."""
        return _online(self.fulltext)

    @property
    def online_pairs(self) -> list[IndexPair]:
        """The vector indexes that answer searches, each with each full-text index that can find the same entities."""
        pairs = product(self.online, self.online_fulltext)
        return [IndexPair(vector, fulltext) for vector, fulltext in pairs if find_the_same(vector, fulltext)]

    @property
    def waiting(self) -> str:
        """What to say of the indexes that answer no search yet, or no more; empty if there are none."""
        vector = {name: index.state for name, index in self.vector.items()}
        states = {name: index.state for name, index in self.fulltext.items()} | vector
        told = [f"'{name}' is {state}" for name, state in sorted(states.items()) if state != "ONLINE"]
        return f"The index {', '.join(told)}." if told else ""

    @property
    def plain(self) -> PlainJson:
        """What turns this database's values into plain JSON, without its vectors."""
        return PlainJson(self.vector_properties, self.vector_dimensions)

    @property
    def vector_properties(self) -> frozenset[str]:
        """The names of all properties that hold vectors."""
        return frozenset(index.property for index in self.vector.values())

    @property
    def vector_dimensions(self) -> frozenset[int]:
        """The lengths of all vectors in the indexes, as far as they are known."""
        return frozenset(index.dimensions for index in self.vector.values() if index.dimensions)

    def _searchable(self, kind: Kind, known: Mapping[str, _OneIndex], name: str, setting: str | None) -> _OneIndex:
        index = known.get(name)
        if index is None:
            raise MissingIndexError(f"{self.why_not(kind, name, setting)}: {_names(kind, known)}")
        _check_state(kind, index)
        return index


def find_the_same(one: AnyIndex, other: AnyIndex) -> bool:
    """Whether two indexes are on nodes that share a label, or on relationships that share a type."""
    return one.variable == other.variable and not set(one.labels).isdisjoint(other.labels)


def read_indexes(database: Database) -> Indexes:
    """Return the indexes of a database that answer searches, in one round trip."""
    return indexes_in([row.data() for row in database.read(_SHOW_SEARCHED)])


def indexes_in(rows: Collection[Mapping[str, Any]]) -> Indexes:
    """Return the indexes that answer searches, from rows that show them and maybe others."""
    return Indexes(
        vector={row["name"]: _vector_index(row) for row in rows if row["type"] == "VECTOR"},
        fulltext={row["name"]: _fulltext_index(row) for row in rows if row["type"] == "FULLTEXT"},
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


def _fulltext_index(row: Mapping[str, Any]) -> FulltextIndex:
    return FulltextIndex(
        name=row["name"],
        variable=ENTITY_VARIABLE[row["entityType"]],
        labels=tuple(row["labelsOrTypes"]),
        properties=tuple(row["properties"]),
        analyzer=(row["config"] or {}).get("fulltext.analyzer"),
        state=row["state"],
    )


def _is_quantised(config: Mapping[str, Any]) -> bool:
    """Whether an index is quantised: told by its type since 2026, by a switch before, which is on unless told."""
    kind = config.get("vector.quantization.type")
    return kind != "NONE" if kind is not None else config.get("vector.quantization.enabled") is not False


def _online(known: Mapping[str, _OneIndex]) -> list[_OneIndex]:
    return [index for _, index in sorted(known.items()) if index.state == "ONLINE"]


def _check_state(kind: Kind, index: AnyIndex) -> None:
    if index.state == "POPULATING":
        raise UnavailableError(
            f"The {kind} index '{index.name}' is still being populated: ask again when it is online."
        )
    if index.state != "ONLINE":
        raise SetupError(f"The {kind} index '{index.name}' is in state {index.state}: drop it and create it again.")


def _about(index: AnyIndex) -> str:
    return f"'{index.name}' is on {index.variable}s {one_line(', '.join(index.labels), _SHOWN_CHARACTERS)}"


def _names(kind: Kind, names: Collection[str]) -> str:
    return (
        f"its {kind} indexes are {listed(sorted(names), _SHOWN_CHARACTERS)}."
        if names
        else f"it has no {kind} index; create one first."
    )
