"""What entities of many labels or relationship types look like, from a bounded sample of each, in few statements."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.cypher import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import neo4j

    from mcp_neo4j_vector_graphrag.database.connection import Database

LOOKED_AT = 5_000
"""Entities that one look at all labels, or all types, takes together, as far as each gets the least."""
_LEAST, _MOST = 10, 1_000
"""Entities of one label or type."""

_BATCH = 50
"""Labels or types in one statement, where each must stand in its text: planning them is what costs."""
_AT_ONCE = 4
_ENDS_LOOKED_FOR = 100
_VECTOR = re.compile(r"VECTOR<.*>\((\d+)\)")

_SHAPE = (
    " WITH place, starts, ends, properties(found) AS found WITH place, starts, ends, keys(found) AS keys, "
    "[key IN keys(found) | CASE WHEN valueType(found[key]) STARTS WITH 'LIST<FLOAT' "
    "AND size(found[key]) IN $dimensions THEN 'VECTOR(' + size(found[key]) + ')' "
    "ELSE valueType(found[key]) END] AS types "
    "RETURN place, starts, ends, keys, types, count(*) AS count"
)
"""Ends both kinds of statement. Entities of the same shape become one row, which is what makes it quick."""


@dataclass(frozen=True)
class Kind:
    """How entities of one kind are matched, with the place of the name left open."""

    match: str
    columns: str


NODES = Kind("MATCH (n:{})", "n AS found, null AS starts, null AS ends")
RELATIONSHIPS = Kind("MATCH (a)-[r:{}]->(b)", "r AS found, labels(a) AS starts, labels(b) AS ends")

Pairs = frozenset[tuple[str | None, str | None]]
"""Labels at the start and the end of a relationship; `None` for a node without any."""


@dataclass
class Shape:
    """What was seen of one label or type."""

    properties: dict[str, Counter[str]] = field(default_factory=dict)
    """Each property with its types, and how many of the sample have them."""
    pairs: set[tuple[str | None, str | None]] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row of a sample."""
        for key, kind in zip(row["keys"], row["types"], strict=True):
            self.properties.setdefault(key, Counter())[type_name(kind)] += row["count"]
        self.pairs |= _pairs(row)

    def types(self) -> dict[str, tuple[str, ...]]:
        """Return the properties with their types, the commonest first."""
        ranked = sorted(self.properties.items(), key=lambda item: (-item[1].total(), item[0]))
        return {
            name: tuple(kind for kind, _ in sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0])))
            for name, kinds in ranked
        }


def type_name(value_type: str) -> str:
    """Return Cypher's name of a type, without `NOT NULL`, and a vector's with its dimensions alone."""
    vector = _VECTOR.match(value_type)
    return f"VECTOR({vector[1]})" if vector else value_type.replace(" NOT NULL", "")


def sample_size(names: int) -> int:
    """Return how many entities of each label or type are looked at, by how many labels or types there are."""
    return max(_LEAST, min(LOOKED_AT // max(names, 1), _MOST))


def read_shapes(
    database: Database, kind: Kind, names: Sequence[str], dimensions: Collection[int], end: float
) -> dict[str, Shape]:
    """Return what a sample of each label or type looks like; its cost does not grow with the data.

    Args:
        database: Where.
        kind: Of nodes or of relationships.
        names: The labels or types.
        dimensions: Lists of floats of these lengths are vectors.
        end: When to give up, by the monotonic clock.
    """
    shapes = {name: Shape() for name in names}
    if not names:
        return shapes
    parameters = {"size": sample_size(len(names)), "dimensions": sorted(dimensions)}
    if _looks_up(database, kind):
        rows = read_until(database, dynamic_statement(kind), {**parameters, "names": list(names)}, end)
    else:
        branches = [
            f"{kind.match.format(quote(name))} RETURN {place} AS place, {kind.columns} LIMIT $size"
            for place, name in enumerate(names)
        ]
        rows = read_branches(database, branches, parameters, end, _SHAPE)
    for row in rows:
        shapes[names[row["place"]]].add(row.data())
    return shapes


def dynamic_statement(kind: Kind) -> str:
    """Return the one statement for any labels or types, planned once, for servers that look them up by a parameter."""
    return (
        "UNWIND range(0, size($names) - 1) AS place "
        f"CALL (place) {{ {kind.match.format('$($names[place])')} RETURN {kind.columns} LIMIT $size }}{_SHAPE}"
    )


def read_branches(
    database: Database, branches: Sequence[str], parameters: Mapping[str, Any], end: float, tail: str = ""
) -> list[neo4j.Record]:
    """Return the rows of many small statements, run as few large ones, some at once.

    Args:
        database: Where.
        branches: Statements of the same columns.
        parameters: Of all of them.
        end: When to give up, by the monotonic clock.
        tail: What is done with their rows.
    """
    texts = [" UNION ALL ".join(branches[first : first + _BATCH]) for first in range(0, len(branches), _BATCH)]
    statements = [f"CALL () {{ {text} }}{tail}" if tail else text for text in texts]
    rows: list[neo4j.Record] = []
    for first in range(0, len(statements), _AT_ONCE):
        together = statements[first : first + _AT_ONCE]
        running = [deadline.start(read_until, database, each, parameters, end) for each in together]
        rows += [row for each in running for row in each.result()]
    return rows


def read_until(database: Database, statement: str, parameters: Mapping[str, Any], end: float) -> list[neo4j.Record]:
    """Return the rows of a statement, which the database ends at a time by the monotonic clock."""
    return database.read(statement, parameters, max(end - time.monotonic(), 0.1))


def read_pairs(database: Database, looks: Collection[tuple[str, str, bool]], end: float) -> dict[str, set[Any]]:
    """Return the pairs of labels that some relationship types join, from nodes of the labels that a sample missed.

    Args:
        database: Where.
        looks: Each a label, a type, and whether the label is at its start.
        end: When to give up, by the monotonic clock.
    """
    chosen = sorted(looks)[:_ENDS_LOOKED_FOR]
    branches = [
        f"MATCH (n:{quote(label)}) WITH n LIMIT {_MOST} MATCH "
        f"{'(n)-[r:{}]->(m)' if is_start else '(m)-[r:{}]->(n)'} ".replace("{}", quote(kind))
        + f"RETURN {place} AS place, labels({'n' if is_start else 'm'}) AS starts, "
        f"labels({'m' if is_start else 'n'}) AS ends LIMIT $size"
        for place, (label, kind, is_start) in enumerate(chosen)
    ]
    found: dict[str, set[Any]] = {}
    if branches:
        tail = " RETURN DISTINCT place, starts, ends"
        for row in read_branches(database, branches, {"size": sample_size(len(branches))}, end, tail):
            found.setdefault(chosen[row["place"]][1], set()).update(_pairs(row))
    return found


def certain_pairs(total: int, starts: Mapping[str, int], ends: Mapping[str, int]) -> Pairs:
    """Return the pairs of labels that must occur, by counting alone: two shares of a whole that together exceed it.

    Args:
        total: How many relationships of a type there are.
        starts: How many of them start at each label.
        ends: How many of them end at each label.
    """
    return frozenset(
        (start, end) for start, some in starts.items() for end, others in ends.items() if some + others > total
    )


def _pairs(row: Mapping[str, Any]) -> set[tuple[str | None, str | None]]:
    """Return the pairs of labels that a row of relationships joins; none for a row of nodes."""
    if row["starts"] is None:
        return set()
    return {(start, end) for start in row["starts"] or [None] for end in row["ends"] or [None]}


def _looks_up(database: Database, kind: Kind) -> bool:
    """Whether a server looks up a label that is no part of the text: since 2025; before, it goes through all nodes."""
    try:
        # Without parameters, so that its plan is kept.
        plan = database.explain(f"UNWIND ['name'] AS name {kind.match.format('$(name)')} RETURN name LIMIT 1").plan
    except Neo4jError as error:
        if not (error.code or "").startswith("Neo.ClientError.Statement."):
            raise
        return False
    return any(operator.startswith("Dynamic") for operator in _operators(plan))


def _operators(plan: Any) -> Iterable[str]:  # noqa: ANN401 - a tree of maps
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from _operators(child)
