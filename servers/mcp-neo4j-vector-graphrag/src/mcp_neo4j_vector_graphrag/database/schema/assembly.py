"""The entries of a schema, made of what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.database.schema.entries import (
    UNSEEN,
    ConstraintSchema,
    FulltextIndexSchema,
    LabelSchema,
    Pair,
    RelationshipTypeSchema,
    Schema,
    VectorIndexSchema,
)
from mcp_neo4j_vector_graphrag.database.schema.sample import Shape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from mcp_neo4j_vector_graphrag.database.indexes import AnyIndex, FulltextIndex, VectorIndex
    from mcp_neo4j_vector_graphrag.database.schema.catalogue import Catalogue, Entry
    from mcp_neo4j_vector_graphrag.database.schema.counts import Counts
    from mcp_neo4j_vector_graphrag.database.schema.entries import Entities
    from mcp_neo4j_vector_graphrag.database.schema.scope import Scope

    Shapes = Mapping[str, Shape]

_NO_COUNTS = "The database lets this user read no statistics: labels at relationships come from a sample alone."


def schema_of(scope: Scope, catalogue: Catalogue, counts: Counts, nodes: Shapes, joined: Shapes) -> Schema:
    """Return the schema of what is in a scope.

    Args:
        scope: What to show.
        catalogue: All indexes and constraints.
        counts: Of all labels and types.
        nodes: What the labels look like.
        joined: What the types look like.
    """
    indexes = catalogue.indexes
    return Schema(
        vector_indexes=[_vector_index(each) for each in indexes.vector.values() if scope.has(each)],
        fulltext_indexes=[_fulltext_index(each) for each in indexes.fulltext.values() if scope.has(each)],
        labels=[_label(name, counts, nodes, catalogue) for name in _by_count(scope.labels, counts.labels)],
        relationship_types=[
            _relationship_type(name, counts, joined, catalogue) for name in _by_count(scope.types, counts.types)
        ],
        constraints=[_constraint(each) for each in catalogue.constraints if scope.has(each)],
        notice=None if counts.complete else _NO_COUNTS,
    )


def _by_count(names: Collection[str], counts: Mapping[str, int]) -> list[str]:
    return sorted(names, key=lambda name: (-counts[name], name))


def _vector_index(index: VectorIndex) -> VectorIndexSchema:
    return VectorIndexSchema(
        **_place(index),
        property=index.property,
        dimensions=index.dimensions,
        similarity=index.similarity,
        filter_properties=list(index.filter_properties),
        state=index.state,
    )


def _fulltext_index(index: FulltextIndex) -> FulltextIndexSchema:
    return FulltextIndexSchema(
        **_place(index), properties=list(index.properties), analyzer=index.analyzer, state=index.state
    )


def _constraint(entry: Entry) -> ConstraintSchema:
    return ConstraintSchema(**_place(entry), type=entry.type, properties=list(entry.properties))


def _label(name: str, counts: Counts, shapes: Shapes, catalogue: Catalogue) -> LabelSchema:
    return LabelSchema(**_entity("node", name, counts.labels[name], shapes, catalogue))


def _relationship_type(name: str, counts: Counts, shapes: Shapes, catalogue: Catalogue) -> RelationshipTypeSchema:
    seen = shapes[name].pairs if name in shapes else ()
    pairs = sorted(seen, key=lambda pair: (pair[0] or "", pair[1] or ""))
    return RelationshipTypeSchema(
        **_entity("relationship", name, counts.types[name], shapes, catalogue),
        pairs=[Pair(start=start, end=end) for start, end in pairs],
        other_starts=sorted(counts.starts.get(name, {}).keys() - {start for start, _ in pairs}),
        other_ends=sorted(counts.ends.get(name, {}).keys() - {end for _, end in pairs}),
    )


def _place(entry: AnyIndex | Entry) -> dict[str, Any]:
    return {"name": entry.name, "on": entry.variable, "labels": list(entry.labels)}


def _entity(on: Entities, name: str, count: int, shapes: Shapes, catalogue: Catalogue) -> dict[str, Any]:
    """Return what labels and types have in common."""
    shape = shapes.get(name, Shape())
    seen = shape.types()
    types = {key: seen.get(key, ()) for key in (*seen, *catalogue.properties(on, name))}
    vectors = catalogue.dimensions(on, name)
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
