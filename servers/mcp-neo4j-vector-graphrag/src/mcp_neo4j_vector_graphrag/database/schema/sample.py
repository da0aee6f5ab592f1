"""What entities of many labels or relationship types look like, from a bounded sample of each, in few statements."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag.database.cypher import quote
from mcp_neo4j_vector_graphrag.database.schema.pairs import pairs_in
from mcp_neo4j_vector_graphrag.database.schema.queries import BATCH, read_branches, read_until, sample_size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import neo4j

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.schema.pairs import Pair

_BY_ID = 10_000
"""Entities that are looked at by their ids, whatever their labels or types."""
_WHOLE = 20_000
"""Entities of rare labels or types that are looked at together, all of them."""
_VECTOR = re.compile(r"VECTOR<.*>\((\d+)\)")


@dataclass(frozen=True)
class Kind:
    """How entities of one kind are matched, with the place of the labels or types left open, and what is taken."""

    match: str
    entity: str
    names: str
    """Its labels or type, as a list."""
    ends: str


NODES = Kind("MATCH (n{})", "n", "labels(n)", "null AS starts, null AS ends")
RELATIONSHIPS = Kind("MATCH (a)-[r{}]->(b)", "r", "[type(r)]", "labels(a) AS starts, labels(b) AS ends")

_SHAPES = (
    " WITH names, starts, ends, properties(found) AS found WITH names, starts, ends, keys(found) AS keys, "
    "[key IN keys(found) | CASE WHEN valueType(found[key]) STARTS WITH 'LIST<FLOAT' "
    "AND size(found[key]) IN $dimensions THEN 'VECTOR(' + size(found[key]) + ')' "
    "ELSE valueType(found[key]) END] AS types "
    "RETURN names, starts, ends, keys, types, count(*) AS count"
)
"""Ends all statements. Entities of the same shape become one row, which is what makes it quick."""
_NAMED = " WITH [$names[place]] AS names, starts, ends, found"


@dataclass
class Shape:
    """What was seen of one label or type."""

    seen: int = 0
    """How many entities."""
    properties: dict[str, Counter[str]] = field(default_factory=dict)
    """Each property with its types, and how many of the sample have them."""
    pairs: set[Pair] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row of a sample."""
        self.seen += row["count"]
        for key, kind in zip(row["keys"], row["types"], strict=True):
            self.properties.setdefault(key, Counter())[type_name(kind)] += row["count"]
        self.pairs |= pairs_in(row)

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


def read_shapes(
    database: Database, kind: Kind, counts: Mapping[str, int], dimensions: Collection[int], end: float
) -> dict[str, Shape]:
    """Return what a sample of each label or type looks like; its cost does not grow with the data.

    Args:
        database: Where.
        kind: Of nodes or of relationships.
        counts: The labels or types, and how many entities have them.
        dimensions: Lists of floats of these lengths are vectors.
        end: When to give up, by the monotonic clock.
    """
    if not counts:
        return {}
    names, size = sorted(counts), sample_size(len(counts))
    look = _Look(database, kind, {"size": size, "dimensions": sorted(dimensions)}, end)
    if _looks_up(database, kind):
        return look.by_parameter(names)
    if len(names) <= BATCH:
        return look.by_text(names)
    shapes = look.by_id(names, sum(counts.values()))
    lacking = [name for name in names if shapes[name].seen < min(counts[name], size)]
    rare = rarest(lacking, counts)
    return shapes | look.whole(rare) | look.by_text([name for name in lacking if name not in rare])


def rarest(names: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    """Return the labels or types, rarest first, of which all entities can be looked at."""
    ranked = sorted(names, key=lambda name: (counts[name], name))
    totals = accumulate(counts[name] for name in ranked)
    return [name for name, total in zip(ranked, totals, strict=True) if total <= _WHOLE]


def by_parameter_statement(kind: Kind) -> str:
    """Return the statement for any labels or types, planned once, for servers that look them up by a parameter."""
    match = kind.match.format(":$($names[place])")
    return (
        "UNWIND range(0, size($names) - 1) AS place "
        f"CALL (place) {{ {match} RETURN {kind.entity} AS found, {kind.ends} LIMIT $size }}{_NAMED}{_SHAPES}"
    )


def by_id_statement(kind: Kind) -> str:
    """Return the statement for the entities with `$ids`, for servers whose Cypher still knows numbers as ids."""
    match = f"{kind.match.format('')} WHERE id({kind.entity}) = id"
    return f"UNWIND $ids AS id {match} WITH {kind.names} AS names, {kind.entity} AS found, {kind.ends}{_SHAPES}"


def whole_statement(kind: Kind, names: Iterable[str]) -> str:
    """Return the statement for all entities of some labels or types, one plan for all of these."""
    match = kind.match.format(f":{'|'.join(map(quote, names))}")
    return f"{match} WITH {kind.names} AS names, {kind.entity} AS found, {kind.ends}{_SHAPES}"


@dataclass(frozen=True)
class _Look:
    """The ways to look at entities; each returns what those of some labels or types look like."""

    database: Database
    kind: Kind
    parameters: Mapping[str, Any]
    end: float

    def by_parameter(self, names: Sequence[str]) -> dict[str, Shape]:
        """Look at some entities of each, in one statement that is the same for all databases."""
        return _shapes(names, self._read(by_parameter_statement(self.kind), names=list(names)))

    def by_text(self, names: Sequence[str]) -> dict[str, Shape]:
        """Look at some entities of each, by statements that must be planned for these names."""
        branches = [
            f"{self.kind.match.format(f':{quote(name)}')} "
            f"RETURN {place} AS place, {self.kind.entity} AS found, {self.kind.ends} LIMIT $size"
            for place, name in enumerate(names)
        ]
        parameters = {**self.parameters, "names": list(names)}
        return _shapes(names, read_branches(self.database, branches, parameters, self.end, _NAMED + _SHAPES))

    def by_id(self, names: Sequence[str], total: int) -> dict[str, Shape]:
        """Look at entities all over the database, the same ones each time; of rare labels there are few or none."""
        ids = random.Random(total).sample(range(total), min(total, _BY_ID))  # noqa: S311 - a sample, no secret
        return _shapes(names, self._read(by_id_statement(self.kind), ids=ids))

    def whole(self, names: Sequence[str]) -> dict[str, Shape]:
        """Look at all entities."""
        return _shapes(names, self._read(whole_statement(self.kind, names)) if names else ())

    def _read(self, statement: str, **parameters: Any) -> list[neo4j.Record]:  # noqa: ANN401 - of any type
        return read_until(self.database, statement, {**self.parameters, **parameters}, self.end)


def _shapes(names: Iterable[str], rows: Iterable[neo4j.Record]) -> dict[str, Shape]:
    shapes = {name: Shape() for name in names}
    for row in rows:
        for name in shapes.keys() & row["names"]:
            shapes[name].add(row.data())
    return shapes


def _looks_up(database: Database, kind: Kind) -> bool:
    """Whether a server looks up a label that is no part of the text: since 2025; before, it goes through all nodes."""
    try:
        # Without parameters, so that its plan is kept.
        plan = database.explain(f"UNWIND ['name'] AS name {kind.match.format(':$(name)')} RETURN name LIMIT 1").plan
    except Neo4jError as error:
        if not (error.code or "").startswith("Neo.ClientError.Statement."):
            raise
        return False
    return any(operator.startswith("Dynamic") for operator in _operators(plan))


def _operators(plan: Any) -> Iterable[str]:  # noqa: ANN401 - a tree of maps
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from _operators(child)
