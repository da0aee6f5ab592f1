"""What a search may be filtered by, and what it always is: the operator's names and values, held against the data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.database.sample import SCALAR_TYPES, Property
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval import coercion
from mcp_neo4j_vector_graphrag.retrieval import filters as filtering

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.retrieval.filters import Condition

_PROPERTY_KEYS = "CALL db.propertyKeys() YIELD propertyKey WHERE propertyKey IN $names RETURN propertyKey AS name"


@dataclass(frozen=True)
class Filterable:
    """The properties that a caller may filter by, and the conditions that hold whatever the caller says."""

    allowed: Mapping[str, Property]
    fixed: tuple[Condition, ...] = ()
    fixed_properties: Mapping[str, Property] = field(default_factory=dict)

    @property
    def types(self) -> dict[str, tuple[str, ...]]:
        """The stored types of every property that a condition may be on."""
        return {name: known.types for name, known in {**self.fixed_properties, **self.allowed}.items()}

    def conditions(self, filters: object) -> tuple[Condition, ...]:
        """Return the conditions of a search with a caller's filters.

        Raises:
            QuestionError: A filter is not allowed or can't be understood.
        """
        asked = filtering.parse(filters, self.allowed) if filters else ()
        return filtering.narrow(self.fixed, asked)


def filterable(
    database: Database,
    sampled: Mapping[str, Property],
    names: Collection[str] | None = None,
    fixed: Mapping[str, object] | None = None,
    vectors: Collection[str] = (),
) -> Filterable:
    """Return what a search may be filtered by.

    One round trip, and only where the sample lacks a property that is named: another entity may have it.

    Args:
        database: Where the search is.
        sampled: The properties of a sample of the entities.
        names: The properties that a caller may name; `None` stands for all that can be filtered by.
        fixed: What holds whatever the caller says: a value, a list of values or bounds (`min`, `max`) by property.
            With it, no value of the sample is told, since it may be one that a caller must not see.
        vectors: The properties that hold vectors, which a sample lacks.

    Raises:
        SetupError: A property is none of the database's, or can't be filtered by, or a fixed value does not fit it.
    """
    fixed = fixed or {}
    wanted = {*(names or ()), *fixed}
    known = {name: each for name, each in sampled.items() if each.can_be_filtered and _has_scalars(each)}
    vectors = set(vectors) - sampled.keys()
    if unseen := wanted - sampled.keys() - vectors:
        existing = {row["name"] for row in database.read(_PROPERTY_KEYS, {"names": sorted(unseen)})}
        known |= {name: Property(name, ()) for name in existing}
    for name in sorted(wanted - known.keys()):
        why = (
            "holds values that can't be filtered by"
            if name in sampled or name in vectors
            else "is on no entity of the database"
        )
        raise SetupError(
            f"The property '{name}' {why}: take it out of the {'fixed filters' if name in fixed else 'filters'}, or "
            "write another."
        )
    allowed = known if names is None else {name: known[name] for name in names}
    if fixed:
        allowed = {name: replace(each, values=()) for name, each in allowed.items()}
    properties = {name: known[name] for name in fixed}
    conditions = [each for name, value in fixed.items() for each in _fixed_conditions(properties[name], value)]
    return Filterable(allowed, tuple(conditions), properties)


def _has_scalars(known: Property) -> bool:
    """Whether some of its values are no lists: an index holds those of any property that it was told of."""
    return not known.types or not SCALAR_TYPES.isdisjoint(known.types)


def _fixed_conditions(known: Property, value: object) -> Iterator[Condition]:
    """Yield the conditions of a fixed filter; one that can't be is the operator's fault, and its value is not told."""
    wanted = [value] if isinstance(value, str) else value  # an operator's text is no JSON text: it would let more in
    try:
        conditions = filtering.parse({known.name: wanted}, {known.name: known})
    except QuestionError:
        conditions = ()
    if not conditions:
        raise SetupError(
            f"The fixed filter on '{known.name}' does not fit what is stored: write a {coercion.phrase(known.types)}, "
            "a list of such, or bounds (min, max) where they have an order."
        )
    yield from conditions
