"""The schema of a database: what there is to search and to walk, read in bounded time and without any plugin."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, Literal

from neo4j.exceptions import Neo4jError
from pydantic import BaseModel, Field

from mcp_neo4j_vector_graphrag.database.cypher import quote
from mcp_neo4j_vector_graphrag.database.indexes import ENTITY_VARIABLE
from mcp_neo4j_vector_graphrag.database.schema_sample import (
    NODES,
    RELATIONSHIPS,
    Shape,
    certain_pairs,
    read_branches,
    read_pairs,
    read_shapes,
    read_until,
)
from mcp_neo4j_vector_graphrag.database.values import USUAL_DIMENSIONS
from mcp_neo4j_vector_graphrag.errors import QuestionError, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database

UNSEEN = "unknown"
"""The type of a property that an index or a constraint names and the sample lacks."""

_SECONDS = 25.0
"""For the whole schema."""
_SHOWN_CHARACTERS = 80
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")

_INDEXES = """\
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, state
WHERE type <> 'LOOKUP'
RETURN name, type, entityType, labelsOrTypes, properties, options.indexConfig AS config, state ORDER BY name"""
_CONSTRAINTS = """\
SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties
RETURN name, type, entityType, labelsOrTypes, properties ORDER BY name"""
_COUNTS = """\
CALL db.stats.retrieve('GRAPH COUNTS') YIELD data
RETURN data.nodes AS nodes, data.relationships AS relationships"""
_NO_COUNTS = "The database lets this user read no statistics: labels at relationships come from a sample alone."

Entities = Literal["node", "relationship"]


class _OnEntities(BaseModel):
    """What stands on nodes or relationships."""

    name: str
    on: Entities
    labels: list[str] = Field(description="Labels, or relationship types.")


class VectorIndexSchema(_OnEntities):
    """A vector index."""

    property: str = Field(description="The property that holds the vector.")
    dimensions: int | None
    similarity: str
    filter_properties: list[str] = Field(description="Properties that the index itself can filter by.")
    state: str
    search_tool: str | None = Field(default=None, description="The tool that searches it.")


class FulltextIndexSchema(_OnEntities):
    """A full-text index."""

    properties: list[str]
    analyzer: str | None
    state: str
    search_tool: str | None = Field(default=None, description="The tool that searches it.")


class ConstraintSchema(_OnEntities):
    """A constraint."""

    type: str
    properties: list[str]


class EntitySchema(BaseModel):
    """What the nodes of a label, or the relationships of a type, look like."""

    name: str
    count: int
    sampled: int = Field(description="How many were looked at; where not all were, there may be more properties.")
    properties: dict[str, str] = Field(
        description=f"Each with its stored types, the commonest first; '{UNSEEN}' where the sample has no value."
    )
    more_properties: int = Field(default=0, description="How many were left out.")
    search_tools: list[str] = Field(default_factory=list, description="The tools that search them.")


class LabelSchema(EntitySchema):
    """A label."""


class Pair(BaseModel):
    """Labels at the two ends of a relationship; null for a node without any."""

    start: str | None
    end: str | None


class RelationshipTypeSchema(EntitySchema):
    """A relationship type."""

    pairs: list[Pair] = Field(description="Labels that it really joins.")
    more_pairs: int = Field(default=0, description="How many were left out.")
    other_starts: list[str] = Field(default_factory=list, description="Labels at its start, in no pair that was seen.")
    other_ends: list[str] = Field(default_factory=list, description="Labels at its end, in no pair that was seen.")


class Schema(BaseModel):
    """What a database holds."""

    vector_indexes: list[VectorIndexSchema]
    fulltext_indexes: list[FulltextIndexSchema]
    labels: list[LabelSchema]
    relationship_types: list[RelationshipTypeSchema]
    constraints: list[ConstraintSchema]
    other_labels: dict[str, int] = Field(default_factory=dict, description="More labels, with their counts alone.")
    other_types: dict[str, int] = Field(default_factory=dict, description="More types, with their counts alone.")
    notice: str | None = Field(default=None, description="What was left out or is uncertain, if anything is.")


class _Counts(BaseModel):
    """How many nodes and relationships there are, from the count store."""

    labels: dict[str, int]
    types: dict[str, int]
    starts: dict[str, dict[str, int]] = Field(default_factory=dict)
    """For each type, how many of its relationships start at a label."""
    ends: dict[str, dict[str, int]] = Field(default_factory=dict)
    complete: bool = True
    """Whether `starts` and `ends` are known."""


def read_schema(database: Database, labels: Collection[str] = (), types: Collection[str] = ()) -> Schema:
    """Return the schema; its cost grows with the labels and types, and not with the nodes and relationships.

    Args:
        database: Where.
        labels: Only these, with the relationship types that touch them unless `types` are given.
        types: Only these relationship types.

    Raises:
        QuestionError: There is no such label or type.
        Neo4jError: Neo4j refused to be asked, or took too long.
        DriverError: The connection failed.
        UnavailableError: No answer came in time.
    """
    end = time.monotonic() + _SECONDS
    indexes = [row.data() for row in read_until(database, _INDEXES, {}, end)]
    constraints = [row.data() for row in read_until(database, _CONSTRAINTS, {}, end)]
    counts = _read_counts(database, end)
    named = [*indexes, *constraints]
    all_labels = counts.labels | {name: 0 for name in _names(named, "NODE") if name not in counts.labels}
    all_types = counts.types | {name: 0 for name in _names(named, "RELATIONSHIP") if name not in counts.types}

    some_labels, some_types = _chosen(labels, types, all_labels, all_types)
    narrowed = bool(some_labels or some_types)
    shown_labels = some_labels if narrowed else set(all_labels)
    looked_types = (some_types or _touching(counts, some_labels)) if narrowed else set(all_types)

    vectors = {index["name"]: index for index in indexes if index["type"] == "VECTOR"}
    dimensions = USUAL_DIMENSIONS | {size for index in vectors.values() if (size := _dimensions(index))}
    nodes = read_shapes(database, NODES, _counted(shown_labels, all_labels), dimensions, end)
    joined = read_shapes(database, RELATIONSHIPS, _counted(looked_types, all_types), dimensions, end)
    _complete_pairs(database, joined, counts, end)
    if narrowed and not some_types:
        looked_types = {name for name in looked_types if _touches(joined.get(name), counts, name, some_labels)}

    shown = {"NODE": shown_labels, "RELATIONSHIP": looked_types}
    there = [row for row in named if not narrowed or shown[row["entityType"]].intersection(row["labelsOrTypes"])]
    return Schema(
        vector_indexes=[_vector_index(row) for row in there if row.get("type") == "VECTOR"],
        fulltext_indexes=[_fulltext_index(row) for row in there if row.get("type") == "FULLTEXT"],
        labels=[
            LabelSchema(**_entity(name, all_labels[name], nodes, _on(named, "NODE", name)))
            for name in _by_count(shown_labels, all_labels)
        ],
        relationship_types=[
            RelationshipTypeSchema(
                **_entity(name, all_types[name], joined, _on(named, "RELATIONSHIP", name)),
                **_joins(joined.get(name, Shape()), counts, name),
            )
            for name in _by_count(looked_types, all_types)
        ],
        constraints=[_constraint(row) for row in there if "config" not in row],
        notice=None if counts.complete else _NO_COUNTS,
    )


def _read_counts(database: Database, end: float) -> _Counts:
    """Return the counts in one round trip, or with one for each fifty names where the user may not read statistics."""
    try:
        (row,) = read_until(database, _COUNTS, {}, end)
    except Neo4jError as error:
        if not (error.code or "").startswith(_REFUSALS):
            raise
        return _count(database, end)
    counts = _Counts(labels={}, types={})
    for known in row["nodes"]:
        if known["count"] and "label" in known:
            counts.labels[known["label"]] = known["count"]
    for known in row["relationships"]:
        kind = known.get("relationshipType")
        if not known["count"] or kind is None:
            continue
        if "startLabel" in known:
            counts.starts.setdefault(kind, {})[known["startLabel"]] = known["count"]
        elif "endLabel" in known:
            counts.ends.setdefault(kind, {})[known["endLabel"]] = known["count"]
        else:
            counts.types[kind] = known["count"]
    return counts


_REFUSALS = (
    "Neo.ClientError.Security.Forbidden",
    "Neo.ClientError.Procedure.",
    "Neo.ClientError.Statement.",
)


def _count(database: Database, end: float) -> _Counts:
    labels = [row["name"] for row in read_until(database, "CALL db.labels() YIELD label AS name RETURN name", {}, end)]
    text = "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name"
    types = [row["name"] for row in read_until(database, text, {}, end)]

    def count(pattern: str, names: list[str]) -> dict[str, int]:
        parts = [
            f"MATCH {pattern.replace('?', quote(name))} RETURN {place} AS place, count(n) AS count"
            for place, name in enumerate(names)
        ]
        rows = read_branches(database, parts, {}, end)
        return {names[row["place"]]: row["count"] for row in rows if row["count"]}

    return _Counts(labels=count("(n:?)", labels), types=count("()-[n:?]->()", types), complete=False)


def _chosen(
    labels: Collection[str], types: Collection[str], all_labels: Collection[str], all_types: Collection[str]
) -> tuple[set[str], set[str]]:
    """Return the labels and types that a caller means.

    Raises:
        QuestionError: Some do not exist.
    """
    found: list[set[str]] = []
    faults: list[str] = []
    for what, asked, known in (("label", labels, all_labels), ("relationship type", types, all_types)):
        meant = {name: name if name in known else _unquoted(name) for name in asked}
        found.append({name for name in meant.values() if name in known})
        if missing := [given for given, name in meant.items() if name not in known]:
            missing = list(dict.fromkeys(name.strip() for name in missing))
            there_is = f"There is no {what}" if len(missing) == 1 else f"There are no {what}s"
            faults.append(f"{there_is} {_listed(missing)}: {_existing(what, known)}")
    if faults:
        raise QuestionError(" ".join(faults))
    return found[0], found[1]


def _unquoted(name: str) -> str:
    """Return a name without the colon, the backticks and the escapes that it has in Cypher."""
    bare = name.strip().removeprefix(":")
    if len(bare) < len("``") or not bare[0] == bare[-1] == "`":
        return bare
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), bare[1:-1].replace("``", "`"))


def _listed(names: Iterable[str]) -> str:
    return listed(sorted(names), _SHOWN_CHARACTERS)


def _existing(what: str, known: Collection[str]) -> str:
    if not known:
        return f"this database has no {what}s."
    return f"the {what} is {_listed(known)}." if len(known) == 1 else f"the {what}s are {_listed(known)}."


def _names(rows: Iterable[Mapping[str, Any]], kind: str) -> set[str]:
    return {name for row in rows if row["entityType"] == kind for name in row["labelsOrTypes"]}


def _on(rows: Iterable[Mapping[str, Any]], kind: str, name: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["entityType"] == kind and name in row["labelsOrTypes"]]


def _touching(counts: _Counts, labels: Collection[str]) -> set[str]:
    """Return the types with a label at one of their ends, or all of them where that is not known."""
    if not counts.complete:
        return set(counts.types)
    known = (counts.starts, counts.ends)
    return {kind for ends in known for kind, some in ends.items() if not some.keys().isdisjoint(labels)}


def _touches(shape: Shape | None, counts: _Counts, kind: str, labels: Collection[str]) -> bool:
    seen = {label for pair in shape.pairs for label in pair} if shape else set()
    return not {*seen, *counts.starts.get(kind, ()), *counts.ends.get(kind, ())}.isdisjoint(labels)


def _complete_pairs(database: Database, shapes: Mapping[str, Shape], counts: _Counts, end: float) -> None:
    """Add the pairs that must occur, and those of labels that are at a type's ends and not in its sample."""
    looks: set[tuple[str, str, bool]] = set()
    for kind, shape in shapes.items():
        starts, ends = counts.starts.get(kind, {}), counts.ends.get(kind, {})
        shape.pairs |= certain_pairs(counts.types[kind], starts, ends)
        looks |= {(label, kind, True) for label in starts.keys() - {start for start, _ in shape.pairs}}
        looks |= {(label, kind, False) for label in ends.keys() - {last for _, last in shape.pairs}}
    for kind, pairs in read_pairs(database, looks, end).items():
        shapes[kind].pairs |= pairs


def _by_count(names: Collection[str], counts: Mapping[str, int]) -> list[str]:
    return sorted(names, key=lambda name: (-counts[name], name))


def _counted(names: Iterable[str], counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in names if counts[name]}


def _entity(name: str, count: int, shapes: Mapping[str, Shape], on: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what labels and types have in common.

    Args:
        name: Of the label or type.
        count: Of its entities.
        shapes: What was seen.
        on: The indexes and constraints on it.
    """
    shape = shapes.get(name, Shape())
    seen = shape.types()
    rows = list(on)
    named = dict.fromkeys(key for row in rows for key in row["properties"])
    vectors = {row["properties"][0]: _dimensions(row) for row in rows if row["type"] == "VECTOR"}
    types = {key: seen.get(key, ()) for key in (*seen, *named)}
    return {
        "name": name,
        "count": count,
        "sampled": shape.seen,
        "properties": {
            key: " | ".join(_as_vector(kinds, vectors[key]) if key in vectors else kinds) or UNSEEN
            for key, kinds in types.items()
        },
    }


def _as_vector(types: Iterable[str], dimensions: int | None) -> tuple[str, ...]:
    """Return the types of a property that a vector index is on, where a list of numbers is a vector."""
    vector = f"VECTOR({dimensions})" if dimensions else "VECTOR"
    lists = ("LIST<FLOAT", "LIST<INTEGER")
    named = (vector if kind.startswith(lists) else kind for kind in types)
    return tuple(dict.fromkeys(named)) or (vector,)


def _joins(shape: Shape, counts: _Counts, kind: str) -> dict[str, Any]:
    pairs = sorted(shape.pairs, key=lambda pair: (pair[0] or "", pair[1] or ""))
    return {
        "pairs": [Pair(start=start, end=end) for start, end in pairs],
        "other_starts": sorted(counts.starts.get(kind, {}).keys() - {start for start, _ in pairs}),
        "other_ends": sorted(counts.ends.get(kind, {}).keys() - {end for _, end in pairs}),
    }


def _dimensions(row: Mapping[str, Any]) -> int | None:
    return (row["config"] or {}).get("vector.dimensions")


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": row["name"], "on": ENTITY_VARIABLE[row["entityType"]], "labels": row["labelsOrTypes"]}


def _vector_index(row: Mapping[str, Any]) -> VectorIndexSchema:
    embedding, *filters = row["properties"]
    return VectorIndexSchema(
        **_place(row),
        property=embedding,
        dimensions=_dimensions(row),
        similarity=str((row["config"] or {}).get("vector.similarity_function", "cosine")).lower(),
        filter_properties=filters,
        state=row["state"],
    )


def _fulltext_index(row: Mapping[str, Any]) -> FulltextIndexSchema:
    return FulltextIndexSchema(
        **_place(row),
        properties=row["properties"],
        analyzer=(row["config"] or {}).get("fulltext.analyzer"),
        state=row["state"],
    )


def _constraint(row: Mapping[str, Any]) -> ConstraintSchema:
    return ConstraintSchema(**_place(row), type=row["type"], properties=row["properties"])
