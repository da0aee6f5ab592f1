"""The argument `filters` as a model sees it: one optional field for each property, with its type and real values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.retrieval import coercion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_neo4j_vector_graphrag.database.sample import Property

_JSON_TYPES = {"INTEGER": "integer", "FLOAT": "number", "BOOLEAN": "boolean"}
_FEW = 12
"""So many distinct values of the sample are told as all there are; of more, some examples."""
_EXAMPLES = 3
_LONGEST = 40


def filters_schema(filters: Mapping[str, Property]) -> dict[str, Any]:
    """Return the JSON schema of `filters`; values are turned into the stored types, so it only says what fits best."""
    return {
        "type": "object",
        "description": "Restrict the search; all given filters must hold.",
        "properties": {name: _field(known) for name, known in filters.items()},
        "additionalProperties": False,
    }


def _field(known: Property) -> dict[str, Any]:
    """Return the schema of one property: a value, one of several, or bounds where its type has an order."""
    kinds = list(dict.fromkeys(_JSON_TYPES.get(kind, "string") for kind in known.types)) or ["string"]
    single: list[dict[str, Any]] = [{"type": kind} for kind in kinds]
    if kinds == ["boolean"]:
        return {"type": "boolean", "description": _description(known)}
    choices = [*single, {"type": "array", "items": single[0] if len(single) == 1 else {"anyOf": single}}]
    if ordered := [kind for kind in known.types if kind in coercion.ORDERED]:
        limit = {"type": "number" if "FLOAT" in ordered else _JSON_TYPES.get(ordered[0], "string")}
        choices.append({"type": "object", "properties": {"min": limit, "max": limit}, "additionalProperties": False})
    return {"anyOf": choices, "description": _description(known)}


def _description(known: Property) -> str:
    meaning = coercion.phrase(known.types).capitalize() if known.types else "Value"
    mixed = " (mixed types)" if len(known.types) > 1 else ""
    slower = "" if known.in_index else "; slower, not in the index"
    return f"{meaning}{mixed}{slower}{_values(known)}"


def _values(known: Property) -> str:
    values = [value for value in known.values if not isinstance(value, str) or len(value) <= _LONGEST]
    if not values or known.types == ("BOOLEAN",):
        return ""
    is_whole = len(values) == len(known.values) <= _FEW
    is_category = known.types == ("STRING",) and is_whole and known.count > len(values)
    if is_category:
        return f"; seen: {_list(values)}"
    return f"; e.g. {_list(values[:_EXAMPLES])}"


def _list(values: list[Any]) -> str:
    return ", ".join(coercion.example(value, ()) for value in values)
