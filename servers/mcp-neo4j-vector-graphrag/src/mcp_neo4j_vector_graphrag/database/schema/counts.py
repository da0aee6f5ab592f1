"""How many nodes and relationships there are, without a look at them where the user may read statistics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag.database.cypher import quote
from mcp_neo4j_vector_graphrag.database.schema.queries import read_branches, read_until

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mcp_neo4j_vector_graphrag.database.connection import Database

_COUNT_STORE = """\
CALL db.stats.retrieve('GRAPH COUNTS') YIELD data
RETURN data.nodes AS nodes, data.relationships AS relationships"""
_REFUSALS = (
    "Neo.ClientError.Security.Forbidden",
    "Neo.ClientError.Procedure.",
    "Neo.ClientError.Statement.",
)
"""Of a user who may not read the count store, or a server without it."""
_LABELS = "CALL db.labels() YIELD label AS name RETURN name"
_TYPES = "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name"


@dataclass(frozen=True)
class Counts:
    """How many nodes have each label, and how many relationships each type."""

    labels: dict[str, int]
    types: dict[str, int]
    starts: dict[str, dict[str, int]] = field(default_factory=dict)
    """For each type, how many of its relationships start at a label."""
    ends: dict[str, dict[str, int]] = field(default_factory=dict)
    complete: bool = True
    """Whether `starts` and `ends` are known."""

    def with_names(self, labels: Iterable[str], types: Iterable[str]) -> Counts:
        """Return the counts with these names as well; of those that are new there is nothing."""
        return replace(self, labels=dict.fromkeys(labels, 0) | self.labels, types=dict.fromkeys(types, 0) | self.types)

    def touching(self, labels: Collection[str]) -> set[str]:
        """Return the types with one of the labels at an end, or all of them where that is not known."""
        return {kind for kind in self.types if not self.complete or not self.at_ends(kind).isdisjoint(labels)}

    def at_ends(self, kind: str) -> set[str]:
        """Return the labels that are known to be at an end of a type."""
        return {*self.starts.get(kind, ()), *self.ends.get(kind, ())}


def read_counts(database: Database, end: float) -> Counts:
    """Return the counts in one round trip, or with one for each fifty names where the user may not read statistics.

    Args:
        database: Where.
        end: When to give up, by the monotonic clock.
    """
    try:
        (row,) = read_until(database, _COUNT_STORE, {}, end)
    except Neo4jError as error:
        if not (error.code or "").startswith(_REFUSALS):
            raise
        return _counted(database, end)
    return _stored(row["nodes"], row["relationships"])


def _stored(nodes: Iterable[Mapping[str, Any]], relationships: Iterable[Mapping[str, Any]]) -> Counts:
    """Return the counts from the rows of the count store, of which some are sums over all names."""
    labels = {known["label"]: known["count"] for known in nodes if known["count"] and "label" in known}
    types: dict[str, int] = {}
    starts: dict[str, dict[str, int]] = {}
    ends: dict[str, dict[str, int]] = {}
    for known in relationships:
        kind = known.get("relationshipType")
        if not known["count"] or kind is None:
            continue
        if "startLabel" in known:
            starts.setdefault(kind, {})[known["startLabel"]] = known["count"]
        elif "endLabel" in known:
            ends.setdefault(kind, {})[known["endLabel"]] = known["count"]
        else:
            types[kind] = known["count"]
    return Counts(labels, types, starts, ends)


def _counted(database: Database, end: float) -> Counts:
    labels, types = ([row["name"] for row in read_until(database, text, {}, end)] for text in (_LABELS, _TYPES))
    nodes, relationships = _count(database, "(n:?)", labels, end), _count(database, "()-[n:?]->()", types, end)
    return Counts(nodes, relationships, complete=False)


def _count(database: Database, pattern: str, names: Sequence[str], end: float) -> dict[str, int]:
    parts = [
        f"MATCH {pattern.replace('?', quote(name))} RETURN {place} AS place, count(n) AS count"
        for place, name in enumerate(names)
    ]
    rows = read_branches(database, parts, {}, end)
    return {names[row["place"]]: row["count"] for row in rows if row["count"]}
