"""Which labels and relationship types a caller wants to see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.database.cypher import meant_by
from mcp_neo4j_vector_graphrag.errors import QuestionError, listed

if TYPE_CHECKING:
    from collections.abc import Collection

    from mcp_neo4j_vector_graphrag.database.indexes import AnyIndex
    from mcp_neo4j_vector_graphrag.database.schema.catalogue import Entry
    from mcp_neo4j_vector_graphrag.database.schema.counts import Counts

_SHOWN_CHARACTERS = 80


@dataclass(frozen=True)
class Scope:
    """The labels and the relationship types to show."""

    labels: Collection[str]
    types: Collection[str]
    types_by_labels: bool = False
    """Whether the types are here only if they touch one of the labels, which a look at them may refute."""

    def has(self, entry: AnyIndex | Entry) -> bool:
        """Whether an index or a constraint is on one of them."""
        return not set(entry.labels).isdisjoint(self.labels if entry.variable == "node" else self.types)


def scope_of(labels: Collection[str], types: Collection[str], counts: Counts) -> Scope:
    """Return what a caller wants to see.

    Args:
        labels: Only these, with the relationship types that touch them unless `types` are given.
        types: Only these relationship types.
        counts: All that there are.

    Raises:
        QuestionError: There is no such label or type.
    """
    some_labels, some_types = _chosen(labels, types, counts.labels, counts.types)
    if some_types:
        return Scope(some_labels, some_types)
    if some_labels:
        return Scope(some_labels, counts.touching(some_labels), types_by_labels=True)
    return Scope(counts.labels, counts.types)


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
        meant = {name: meant_by(name, known) for name in asked}
        found.append({name for name in meant.values() if name in known})
        if missing := [given for given, name in meant.items() if name not in known]:
            faults.append(_missing(what, missing, known))
    if faults:
        raise QuestionError(" ".join(faults))
    return found[0], found[1]


def _missing(what: str, names: Collection[str], known: Collection[str]) -> str:
    missing = sorted({name.strip() for name in names})
    there_is = f"There is no {what}" if len(missing) == 1 else f"There are no {what}s"
    return f"{there_is} {listed(missing, _SHOWN_CHARACTERS)}: {_existing(what, known)}"


def _existing(what: str, known: Collection[str]) -> str:
    if not known:
        return f"this database has no {what}s."
    names = listed(sorted(known), _SHOWN_CHARACTERS)
    return f"the {what} is {names}." if len(known) == 1 else f"the {what}s are {names}."
