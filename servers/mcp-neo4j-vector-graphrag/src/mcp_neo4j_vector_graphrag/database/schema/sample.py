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
from mcp_neo4j_vector_graphrag.database.faults import is_about_statement
from mcp_neo4j_vector_graphrag.database.schema.pairs import pairs_in
from mcp_neo4j_vector_graphrag.database.schema.queries import read_branches, read_until, sample_size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import neo4j

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.schema.pairs import Pair

_BY_TEXT = 5
"""Labels or types that each stand in a statement's text, which must be planned, so that both their ends can be seen."""
_BY_ID = 5_000
"""Entities that are looked at by their ids, whatever their labels or types."""
_WHOLE = 10_000
"""Entities of rare labels or types that are looked at together, all of them."""
_VECTOR = re.compile(r"VECTOR<.*>\((\d+)\)")


_SHAPES = (
    " WITH names, starts, ends, properties(found) AS found WITH names, starts, ends, keys(found) AS keys, "
    "[key IN keys(found) | CASE WHEN valueType(found[key]) STARTS WITH 'LIST<FLOAT' "
    "AND size(found[key]) IN $dimensions THEN 'VECTOR(' + size(found[key]) + ')' "
    "ELSE valueType(found[key]) END] AS types "
    "RETURN names, starts, ends, keys, types, count(*) AS count"
)
"""Ends all statements. Entities of the same shape become one row, which is what makes it quick."""
_NAMED = " WITH [$names[place]] AS names, starts, ends, found"


@dataclass(frozen=True)
class Kind:
    """How entities of one kind are matched, with the place of the labels or types left open, and what is taken."""

    match: str
    entity: str
    names: str
    """Its labels or type, as a list."""
    ends: str

    def matching(self, names: Iterable[str]) -> str:
        """Return the clause that matches the entities with any of some labels or types."""
        return self.match.format(f":{'|'.join(map(quote, names))}")

    @property
    def shapes(self) -> str:
        """What follows a match: what the entities look like, for all their labels or their type."""
        return f" WITH {self.names} AS names, {self.entity} AS found, {self.ends}{_SHAPES}"


NODES = Kind("MATCH (n{})", "n", "labels(n)", "null AS starts, null AS ends")
RELATIONSHIPS = Kind("MATCH (a)-[r{}]->(b)", "r", "[type(r)]", "labels(a) AS starts, labels(b) AS ends")


@dataclass
class Shape:
    """What was seen of one label or type."""

    seen: int = 0
    """How many entities, in the last look; an earlier one may have seen others."""
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

    A few are each looked at from both ends: entities are found in the order of their ids, which is about that of their
    age. Of many, some are looked at all over the database, and of what is rare there some more.

    Args:
        database: Where.
        kind: Of nodes or of relationships.
        counts: The labels or types, and how many entities have them.
        dimensions: Lists of floats of these lengths are vectors.
        end: When to give up, by the monotonic clock.
    """
    look = _Look(database, kind, counts, sorted(dimensions), end)
    if len(counts) <= _BY_TEXT:
        look.by_text(sorted(counts))
        return look.shapes
    look.by_id()
    lacking = look.lacking
    if len(lacking) > _BY_TEXT and _looks_up(database, kind):
        look.by_parameter(lacking)
    elif lacking:
        look.whole(rarest(lacking, counts))
        look.by_text(look.lacking)
    return look.shapes


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


def branches_of(kind: Kind, name: str, place: int, *, is_whole: bool) -> list[str]:
    """Return the statements for the entities of one label or type: `$size` of them, or `$half` from either end.

    Args:
        kind: Of nodes or of relationships.
        name: The label or type.
        place: Its place in `$names`.
        is_whole: Whether there are no more of them than `$size`.
    """
    found = f"{kind.matching([name])} RETURN {place} AS place, {kind.entity} AS found, {kind.ends}"
    return (
        [f"{found} LIMIT $size"] if is_whole else [f"{found} LIMIT $half", f"{found} ORDER BY found DESC LIMIT $half"]
    )


def highest_id_statement(kind: Kind, names: Iterable[str]) -> str:
    """Return the statement for the highest id of some labels or types: gaps make it more than their number."""
    match = f"CYPHER 5 {kind.matching(names)}"
    return f"{match} RETURN id({kind.entity}) AS highest ORDER BY {kind.entity} DESC LIMIT 1"


def by_id_statement(kind: Kind) -> str:
    """Return the statement for the entities with `$ids`: Cypher 5 knows numbers as ids, and 25 does not."""
    return f"CYPHER 5 UNWIND $ids AS id {kind.match.format('')} WHERE id({kind.entity}) = id{kind.shapes}"


def whole_statement(kind: Kind, names: Iterable[str]) -> str:
    """Return the statement for all entities of some labels or types, one plan for all of these."""
    return f"{kind.matching(names)}{kind.shapes}"


class _Look:
    """Looks at entities of labels or types, in several ways, and keeps what it sees."""

    def __init__(
        self, database: Database, kind: Kind, counts: Mapping[str, int], dimensions: list[int], end: float
    ) -> None:
        self.shapes = {name: Shape() for name in counts}
        self._database = database
        self._kind = kind
        self._counts = counts
        self._size = sample_size(len(counts))
        self._dimensions = dimensions
        self._end = end

    @property
    def lacking(self) -> list[str]:
        """The labels or types of which too little was seen: not all of a few, not half of what is wanted of many."""
        half = self._size // 2
        least = {name: count if count <= self._size else half for name, count in self._counts.items()}
        return sorted(name for name, shape in self.shapes.items() if shape.seen < least[name])

    def by_id(self) -> None:
        """Look all over the database, at the same entities each time; of rare labels there are few or none."""
        commonest = sorted(self._counts, key=lambda name: (-self._counts[name], name))[:_BY_TEXT]
        rows = read_until(self._database, highest_id_statement(self._kind, commonest), {}, self._end)
        there = range(max(rows[0]["highest"] + 1 if rows else 0, sum(self._counts.values())))
        ids = random.Random(len(there)).sample(there, min(len(there), _BY_ID))  # noqa: S311 - a sample, no secret
        self._read(self._counts, by_id_statement(self._kind), ids=ids)

    def by_parameter(self, names: list[str]) -> None:
        """Look at the oldest entities of each, in one statement that is the same for all databases."""
        self._read(names, by_parameter_statement(self._kind), names=names, size=self._size)

    def by_text(self, names: list[str]) -> None:
        """Look at the oldest and the newest entities of each, by statements that must be planned for these names."""
        branches = [
            branch
            for place, name in enumerate(names)
            for branch in branches_of(self._kind, name, place, is_whole=self._counts[name] <= self._size)
        ]
        parameters = {"names": names, "size": self._size, "half": self._size // 2, "dimensions": self._dimensions}
        self._add(names, read_branches(self._database, branches, parameters, self._end, _NAMED + _SHAPES))

    def whole(self, names: list[str]) -> None:
        """Look at all entities."""
        if names:
            self._read(names, whole_statement(self._kind, names))

    def _read(self, wanted: Iterable[str], statement: str, **parameters: Any) -> None:  # noqa: ANN401 - of any type
        given = {"dimensions": self._dimensions, **parameters}
        self._add(wanted, read_until(self._database, statement, given, self._end))

    def _add(self, wanted: Iterable[str], rows: Iterable[neo4j.Record]) -> None:
        """Add what a look at these labels or types brought; what an earlier one saw of them may be among it."""
        names = set(wanted)
        for name in names:
            self.shapes[name].seen = 0
        for row in rows:
            for name in names.intersection(row["names"]):
                self.shapes[name].add(row.data())


def _looks_up(database: Database, kind: Kind) -> bool:
    """Whether a server looks up a label that is no part of the text: since 2025; before, it goes through all nodes."""
    try:
        # Without parameters, so that its plan is kept.
        plan = database.explain(f"UNWIND ['name'] AS name {kind.match.format(':$(name)')} RETURN name LIMIT 1").plan
    except Neo4jError as error:
        if not is_about_statement(error):
            raise
        return False
    return any(operator.startswith("Dynamic") for operator in _operators(plan))


def _operators(plan: Any) -> Iterable[str]:  # noqa: ANN401 - a tree of maps
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from _operators(child)
