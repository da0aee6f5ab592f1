"""Which labels the relationships of a type join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.database.cypher import quote
from mcp_neo4j_vector_graphrag.database.schema.queries import MOST, read_branches, sample_size

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database

Pair = tuple[str | None, str | None]
"""Labels at the start and the end of a relationship; `None` for a node without any."""

_LOOKS = 100
"""The most labels that are looked at for what they are joined to."""


def read_pairs(database: Database, looks: Collection[tuple[str, str, bool]], end: float) -> dict[str, set[Pair]]:
    """Return the pairs of labels that some relationship types join, from nodes of the labels that a sample missed.

    Args:
        database: Where.
        looks: Each a label, a type, and whether the label is at its start.
        end: When to give up, by the monotonic clock.
    """
    chosen = sorted(looks)[:_LOOKS]
    branches = [_branch(place, *look) for place, look in enumerate(chosen)]
    found: dict[str, set[Pair]] = {}
    if branches:
        tail = " RETURN DISTINCT place, starts, ends"
        for row in read_branches(database, branches, {"size": sample_size(len(branches))}, end, tail):
            found.setdefault(chosen[row["place"]][1], set()).update(pairs_in(row))
    return found


def _branch(place: int, label: str, kind: str, is_start: bool) -> str:  # noqa: FBT001 - a look's third part
    start, end = ("n", "m") if is_start else ("m", "n")
    return (
        f"MATCH (n:{quote(label)}) WITH n LIMIT {MOST} MATCH ({start})-[:{quote(kind)}]->({end}) "
        f"RETURN {place} AS place, labels({start}) AS starts, labels({end}) AS ends LIMIT $size"
    )


def certain_pairs(total: int, starts: Mapping[str, int], ends: Mapping[str, int]) -> frozenset[Pair]:
    """Return the pairs of labels that must occur, by counting alone: two shares of a whole that together exceed it.

    Args:
        total: How many relationships of a type there are.
        starts: How many of them start at each label.
        ends: How many of them end at each label.
    """
    return frozenset(
        (start, end) for start, some in starts.items() for end, others in ends.items() if some + others > total
    )


def pairs_in(row: Mapping[str, Any]) -> set[Pair]:
    """Return the pairs of labels that a row of relationships joins; none for a row of nodes."""
    if row["starts"] is None:
        return set()
    return {(start, end) for start in row["starts"] or [None] for end in row["ends"] or [None]}
