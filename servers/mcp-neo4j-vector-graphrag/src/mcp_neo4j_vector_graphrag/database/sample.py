"""What the entities in an index look like, from a sample of at most 100 of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mcp_neo4j_vector_graphrag.database.cypher import quote
from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex

SAMPLE_SIZE = 100
_SIDES = 4
_LOOKED_AT = 1_000
"""Entities looked at for a vector where the index does not tell its dimensions."""
_LONGEST_EXAMPLE = 80

SCALAR_TYPES = frozenset(
    {
        *("INTEGER", "FLOAT", "STRING", "BOOLEAN", "DATE", "DURATION"),
        *("ZONED DATETIME", "LOCAL DATETIME", "ZONED TIME", "LOCAL TIME"),
    }
)


_DESCRIPTION = (
    "WITH collect(n) AS sample UNWIND sample AS n "
    "UNWIND [key IN keys(n) WHERE key <> $vector] AS key "
    "WITH size(sample) AS size, key, replace(valueType(n[key]), ' NOT NULL', '') AS type, n[key] AS value "
    f"WITH size, key, type, CASE WHEN type = 'STRING' THEN left(value, {_LONGEST_EXAMPLE}) "
    "WHEN type STARTS WITH 'LIST' OR type STARTS WITH 'VECTOR' THEN null ELSE value END AS value "
    "WITH size, key, type, value, count(*) AS count ORDER BY count DESC, toStringOrNull(value) "
    "RETURN size, key, type, sum(count) AS count, collect(value) AS values ORDER BY key, count DESC"
)
"""From entities `n` to a row for each property and type, without `$vector`."""


@dataclass(frozen=True)
class Property:
    """One property of the sampled entities."""

    name: str
    types: tuple[str, ...]
    """Cypher's names of the stored types, the commonest first."""
    in_index: bool = False
    """Whether the index itself can filter by it."""
    count: int = 0
    """How many entities of the sample have it."""
    values: tuple[Any, ...] = ()
    """Distinct values of the sample, the commonest first; long texts are cut."""

    @property
    def is_scalar(self) -> bool:
        """Whether all its values are of types that can be filtered by."""
        return bool(self.types) and SCALAR_TYPES.issuperset(self.types)

    @property
    def is_long_text(self) -> bool:
        """Whether it holds texts rather than names or categories."""
        return "STRING" in self.types and any(
            isinstance(value, str) and len(value) >= _LONGEST_EXAMPLE for value in self.values
        )

    @property
    def can_be_filtered(self) -> bool:
        """Whether a filter may name it: the index holds it, or its values are all scalars."""
        return self.in_index or self.is_scalar


@dataclass(frozen=True)
class Sample:
    """The properties of a sample's entities, without the vector, and how many entities those were."""

    size: int
    properties: Mapping[str, Property]


def pattern(index: VectorIndex | FulltextIndex, variable: str = "n") -> str:
    """Return the pattern that matches every entity an index may hold: one of its labels, or of its types."""
    names = "|".join(quote(label) for label in index.labels)
    return f"({variable}:{names})" if index.variable == "node" else f"()-[{variable}:{names}]->()"


def sample_statement(variable: Literal["node", "relationship"]) -> str:
    """Return the statement that describes a sample, a row for each property and type.

    Its text is the same for all indexes of a kind, so that a server plans it once; its entities come from the index
    itself, from several sides, so that it looks at no more than it returns, however much data there is.
    """
    procedure = "queryNodes" if variable == "node" else "queryRelationships"
    return (
        f"UNWIND $sides AS side CALL db.index.vector.{procedure}($index, $size, side) YIELD {variable} "
        f"WITH DISTINCT {variable} AS n {_DESCRIPTION}"
    )


def fulltext_sample_statement(index: FulltextIndex) -> str:
    """Return the statement that describes a sample of what a full-text index may hold: the first entities there are."""
    return f"MATCH {pattern(index)} WITH n LIMIT $size {_DESCRIPTION}"


def read_sample(database: Database, index: VectorIndex | FulltextIndex) -> Sample:
    """Return what a sample of an index's entities looks like, in one round trip whose cost is bounded."""
    rows = [row.data() for row in database.read(*_sampling(database, index))]
    inside = index.filter_properties if isinstance(index, VectorIndex) else ()
    found: dict[str, Property] = {}
    for row in rows:
        known = found.get(row["key"]) or Property(row["key"], ())
        found[row["key"]] = Property(
            name=row["key"],
            types=(*known.types, row["type"]),
            in_index=row["key"] in inside,
            count=known.count + row["count"],
            values=(*known.values, *row["values"]),
        )
    for name in inside:
        found.setdefault(name, Property(name, (), in_index=True))
    return Sample(rows[0]["size"] if rows else 0, found)


def _sampling(database: Database, index: VectorIndex | FulltextIndex) -> tuple[str, dict[str, Any]]:
    if not isinstance(index, VectorIndex):
        return fulltext_sample_statement(index), {"size": SAMPLE_SIZE, "vector": ""}
    parameters = {
        "sides": _sides(index.dimensions or _any_dimensions(database, index)),
        "size": SAMPLE_SIZE // _SIDES,
        "index": index.name,
        "vector": index.property,
    }
    return sample_statement(index.variable), parameters


def _sides(dimensions: int) -> list[list[float]]:
    """Return vectors that point in different directions: alternating signs, in longer and longer runs."""
    return [[1.0 if (place >> side) % 2 else -1.0 for place in range(dimensions)] for side in range(_SIDES)]


def _any_dimensions(database: Database, index: VectorIndex) -> int:
    """Return the commonest length of the vectors found, for an index that was made without; 1 if none is found."""
    vector = f"n.{quote(index.property)}"
    is_vector = f"valueType({vector}) STARTS WITH 'LIST<FLOAT' OR valueType({vector}) STARTS WITH 'LIST<INTEGER'"
    text = (
        f"MATCH {pattern(index)} WITH n LIMIT {_LOOKED_AT} WITH CASE WHEN {is_vector} THEN size({vector}) END AS size "
        "WHERE size > 0 WITH size, count(*) AS count ORDER BY count DESC LIMIT 1 RETURN size"
    )
    return next((row["size"] for row in database.read(text)), 1)
