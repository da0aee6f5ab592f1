"""A schema as compact text for a model, and cut so that this text keeps to a limit."""

from __future__ import annotations

from itertools import chain, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from mcp_neo4j_vector_graphrag.budget import as_notice, tokens
from mcp_neo4j_vector_graphrag.database.cypher import shown
from mcp_neo4j_vector_graphrag.database.schema.entries import (
    EntitySchema,
    LabelSchema,
    RelationshipTypeSchema,
    Schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcp_neo4j_vector_graphrag.database.schema.entries import (
        ConstraintSchema,
        FulltextIndexSchema,
        VectorIndexSchema,
    )

    Index = VectorIndexSchema | FulltextIndexSchema

_NO_TOOLS: Mapping[str, str] = MappingProxyType({})
_SHORTER = (None, 100, 25, 5)
"""Properties, and pairs, of each label or type: fewer only where not one of them fits whole."""

_OneEntity = TypeVar("_OneEntity", bound=EntitySchema)


def fitted(schema: Schema, limit: int, tool_for: Mapping[str, str] = _NO_TOOLS) -> Schema:
    """Return a schema whose text takes at most `limit` tokens.

    Indexes stay first, then the names of labels and types, then what they look like, those with an index and the
    most frequent ones first. The notice says what was left out, and how to get it.

    Args:
        schema: The whole schema.
        limit: In tokens; below about 150 not even the notice may fit.
        tool_for: For the name of an index, the tool that searches it.
    """
    whole = _with_tools(schema, tool_for)
    if tokens(schema_text(whole)) <= limit:
        return whole
    cut = whole
    for most in _SHORTER:
        shorter = _shortened(whole, most)
        steps = _steps(shorter)
        low, high = 0, steps
        while low < high:
            middle = (low + high + 1) // 2
            fits = tokens(schema_text(_cut(shorter, middle))) <= limit
            low, high = (middle, high) if fits else (low, middle - 1)
        cut = _cut(shorter, low)
        if cut.labels or cut.relationship_types:
            break
    return cut


def _with_tools(schema: Schema, tool_for: Mapping[str, str]) -> Schema:
    if not tool_for:
        return schema

    def known(index: Index) -> Index:
        return index.model_copy(update={"search_tool": tool_for.get(index.name)})

    vector, fulltext = [known(index) for index in schema.vector_indexes], [known(i) for i in schema.fulltext_indexes]

    def searched(entity: _OneEntity, on: str) -> _OneEntity:
        tools = [
            index.search_tool
            for index in (*vector, *fulltext)
            if index.search_tool and index.on == on and entity.name in index.labels
        ]
        return entity.model_copy(update={"search_tools": list(dict.fromkeys(tools))})

    return schema.model_copy(
        update={
            "vector_indexes": vector,
            "fulltext_indexes": fulltext,
            "labels": [searched(each, "node") for each in schema.labels],
            "relationship_types": [searched(each, "relationship") for each in schema.relationship_types],
        }
    )


def _shortened(schema: Schema, most: int | None) -> Schema:
    if most is None:
        return schema
    return schema.model_copy(
        update={
            "labels": [_with_fewer(each, most) for each in schema.labels],
            "relationship_types": [_with_fewer(each, most) for each in schema.relationship_types],
        }
    )


def _with_fewer(entity: _OneEntity, most: int) -> _OneEntity:
    left_out = max(len(entity.properties) - most, 0)
    update: dict[str, object] = {
        "properties": dict(list(entity.properties.items())[:most]),
        "more_properties": entity.more_properties + left_out,
    }
    if isinstance(entity, RelationshipTypeSchema):
        update |= {
            "pairs": entity.pairs[:most],
            "more_pairs": entity.more_pairs + max(len(entity.pairs) - most, 0),
            "other_starts": entity.other_starts[:most],
            "other_ends": entity.other_ends[:most],
            "more_others": entity.more_others
            + max(len(entity.other_starts) - most, 0)
            + max(len(entity.other_ends) - most, 0),
        }
    return entity.model_copy(update=update)


def _steps(schema: Schema) -> int:
    return sum(_parts(schema))


def _parts(schema: Schema) -> tuple[int, int, int, int, int]:
    entities = len(schema.labels) + len(schema.relationship_types)
    return len(schema.vector_indexes), len(schema.fulltext_indexes), entities, entities, len(schema.constraints)


def _cut(schema: Schema, steps: int) -> Schema:
    """Return what the first so many steps give: vector indexes, full-text ones, names, whole entries, constraints."""
    taken: list[int] = []
    for part in _parts(schema):
        taken.append(min(part, steps))
        steps -= taken[-1]
    vector, fulltext, named, whole, constraints = taken
    order = _ranked(schema)
    labels, types = _names(order[:whole], LabelSchema), _names(order[:whole], RelationshipTypeSchema)
    rest = order[whole:named]
    kept = schema.model_copy(
        update={
            "vector_indexes": schema.vector_indexes[:vector],
            "fulltext_indexes": schema.fulltext_indexes[:fulltext],
            "labels": [each for each in schema.labels if each.name in labels],
            "relationship_types": [each for each in schema.relationship_types if each.name in types],
            "other_labels": {each.name: each.count for each in rest if isinstance(each, LabelSchema)},
            "other_types": {each.name: each.count for each in rest if isinstance(each, RelationshipTypeSchema)},
            "constraints": schema.constraints[:constraints],
        }
    )
    return kept.model_copy(update={"notice": _notice(schema, kept)})


def _ranked(schema: Schema) -> list[LabelSchema | RelationshipTypeSchema]:
    """Return labels and types by turns, those that an index is on before all others."""
    indexes = [*schema.vector_indexes, *schema.fulltext_indexes]
    on = {(index.on, label) for index in indexes for label in index.labels}
    turns = chain.from_iterable(zip_longest(schema.labels, schema.relationship_types))
    entities = [each for each in turns if each is not None]
    return sorted(entities, key=lambda each: (_entity_kind(each), each.name) not in on)


def _entity_kind(entity: EntitySchema) -> str:
    return "node" if isinstance(entity, LabelSchema) else "relationship"


def _names(entities: Iterable[EntitySchema], kind: type[EntitySchema]) -> set[str]:
    return {each.name for each in entities if isinstance(each, kind)}


def _notice(whole: Schema, kept: Schema) -> str | None:
    """Return what a schema leaves out of the whole, and how to get it."""
    labels, types = len(whole.labels) - len(kept.labels), len(whole.relationship_types) - len(kept.relationship_types)
    unnamed = labels + types - len(kept.other_labels) - len(kept.other_types)
    indexes = len(whole.vector_indexes) + len(whole.fulltext_indexes)
    indexes -= len(kept.vector_indexes) + len(kept.fulltext_indexes)
    constraints = len(whole.constraints) - len(kept.constraints)
    left_out = [
        f"the properties of {_number(labels, 'label')}" if labels else "",
        f"the properties and pairs of {_number(types, 'relationship type')}" if types else "",
        f"even the names of {unnamed} of these" if unnamed else "",
        _number(indexes, "index", "indexes") if indexes else "",
        _number(constraints, "constraint") if constraints else "",
    ]
    told = ", ".join(each for each in left_out if each)
    how = "ask again with the names in `labels` or `types` to get them whole"
    cut = f"Left out to keep this short: {told}; {how}." if told else ""
    return as_notice(whole.notice, cut)


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def schema_text(schema: Schema) -> str:
    """Return a schema as compact text, the indexes first."""
    sections = [
        ("Vector indexes:", [_vector_index(each) for each in schema.vector_indexes]),
        ("Full-text indexes:", [_fulltext_index(each) for each in schema.fulltext_indexes]),
        ("Labels:", [*map(_label, schema.labels), *_others(schema.other_labels, "labels")]),
        ("Relationship types:", [*map(_type, schema.relationship_types), *_others(schema.other_types, "types")]),
        ("Constraints:", [_constraint(each) for each in schema.constraints]),
    ]
    lines = [line for heading, some in sections if some for line in (heading, *(f"- {each}" for each in some))]
    nothing = [] if schema.notice else ["No label, relationship type or index."]
    return "\n".join([*(lines or nothing), *([schema.notice] if schema.notice else [])])


def _vector_index(index: VectorIndexSchema) -> str:
    filters = f", filters in the index: {_listed(index.filter_properties)}" if index.filter_properties else ""
    size = f"{index.dimensions} dimensions" if index.dimensions else "any dimensions"
    about = f"{size}, {index.similarity}, {index.state}{filters}"
    return f"{shown(index.name)} on {_where(index)} {shown(index.property)}: {about}{_search(index.search_tool)}"


def _fulltext_index(index: FulltextIndexSchema) -> str:
    about = ", ".join(each for each in (index.analyzer, index.state) if each)
    where = f"{_where(index)} {_listed(index.properties)}"
    return f"{shown(index.name)} on {where}: {about}{_search(index.search_tool)}"


def _constraint(constraint: ConstraintSchema) -> str:
    kind = constraint.type.lower().replace("_", " ")
    return f"{shown(constraint.name)}: {kind} on {_where(constraint)} {_listed(constraint.properties)}"


def _where(on: VectorIndexSchema | FulltextIndexSchema | ConstraintSchema) -> str:
    names = "|".join(map(shown, on.labels))
    return f"(:{names})" if on.on == "node" else f"[:{names}]"


def _search(tool: str | None) -> str:
    return f"; search it with {tool}" if tool else ""


def _label(label: LabelSchema) -> str:
    return _entity(label)


def _type(kind: RelationshipTypeSchema) -> str:
    parts = [f"({_end(pair.start)})->({_end(pair.end)})" for pair in kind.pairs]
    parts += [f"and {kind.more_pairs} more pairs"] if kind.more_pairs else []
    parts += [f"also from {_listed(kind.other_starts)}"] if kind.other_starts else []
    parts += [f"also to {_listed(kind.other_ends)}"] if kind.other_ends else []
    parts += [f"and {kind.more_others} more labels"] if kind.more_others else []
    return _entity(kind, f" {', '.join(parts)}" if parts else "")


def _end(label: str | None) -> str:
    return "" if label is None else f":{shown(label)}"


def _entity(entity: EntitySchema, joins: str = "") -> str:
    sample = f", {entity.sampled} looked at" if entity.sampled < entity.count else ""
    parts = [f"{shown(name)} {types}" for name, types in entity.properties.items()]
    parts += [f"and {entity.more_properties} more"] if entity.more_properties else []
    none = "no properties seen" if sample else "no properties"
    tools = f"; search with {', '.join(entity.search_tools)}" if entity.search_tools else ""
    return f"{shown(entity.name)} ({entity.count}{sample}){joins}: {', '.join(parts) or none}{tools}"


def _others(names: Mapping[str, int], what: str) -> list[str]:
    listed = ", ".join(f"{shown(name)} ({count})" for name, count in names.items())
    return [f"other {what}: {listed}"] if names else []


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(shown, names))
