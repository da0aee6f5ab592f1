"""The one filter model: what a caller sends becomes conditions on stored types, joined by AND.

A value is turned into the type that is stored, or refused in one line with an example: Cypher compares an integer with
a text to nothing, so a wrong type would lose every row in silence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from mcp_neo4j_vector_graphrag.errors import QuestionError, one_line
from mcp_neo4j_vector_graphrag.retrieval import coercion

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.sample import Property

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
TEXT_OPERATORS = ("CONTAINS", "STARTS WITH", "ENDS WITH")
NULL_CHECKS = ("IS NULL", "IS NOT NULL")
_ENTRY = frozenset({"property", "operator", "value"})
OPERATORS = (*COMPARISONS, "IN", *TEXT_OPERATORS, *NULL_CHECKS)

WITHIN, NOT_WITHIN = "WITHIN", "NOT WITHIN"
"""Of this module alone: in one, or none, of several `[lower, upper, value]`: two bounds of time, or a value."""
COMPARES = "COMPARES"
"""Of this module alone: at least one of several `[operator, bound]`, one for each type; a text counts as its number."""
NOT_IN = "NOT IN"
"""Of this module alone: a value that could be of several types, in none of them."""

_LONGEST_NAME = 60

_SIDE = {">": "lower", ">=": "lower", "<": "upper", "<=": "upper"}
_NUMBERS = frozenset({"INTEGER", "FLOAT"})
_UNORDERED = frozenset({"STRING", "BOOLEAN", "DURATION"})

_KEYS = {
    "min": ">=",
    "max": "<=",
    "$eq": "=",
    "$ne": "<>",
    "$lt": "<",
    "$lte": "<=",
    "$gt": ">",
    "$gte": ">=",
    "$in": "IN",
}
"""What may stand in place of a value: bounds, or an operator as neo4j-graphrag writes it."""


@dataclass(frozen=True)
class Condition:
    """One comparison of a property with a value of its stored type."""

    property: str
    operator: str
    value: Any = None


def parse(filters: object, known: Mapping[str, Property]) -> tuple[Condition, ...]:
    """Return the conditions that a caller's filters stand for.

    Args:
        filters: A map from properties to a value, a list (one of them) or bounds (`min`, `max`), or a list of
            `{property, operator, value}`; either may be JSON text, and so may a list or bounds in the map.
        known: The properties that can be filtered by.

    Raises:
        QuestionError: A property, an operator or a value that can't be; the text lists what is allowed.
    """
    given = _decoded(filters)
    if given is None:
        return ()
    if isinstance(given, Mapping):
        said = {str(name): value for name, value in given.items() if value is not None}
        found = [_from_value(_property(name, known), value) for name, value in said.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        found = [_from_entry(entry, known) for entry in given]
    else:
        raise QuestionError(
            f"filters must be an object, for example {_example(known)}, or a list of {{property, operator, value}}."
        )
    return merge([condition for conditions in found for condition in conditions])


def merge(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the same conditions with at most one lower and one upper bound for each property.

    Raises:
        QuestionError: A lower bound lies above the upper one.
    """
    merged = _tightest(conditions)
    for name in {condition.property for condition in conditions}:
        _check_kinds([each for each in merged.values() if each.property == name and each.operator == COMPARES])
        _check_bounds(merged.get((name, "lower")), merged.get((name, "upper")))
    return tuple(merged.values())


def narrow(fixed: Sequence[Condition], asked: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions under which both hold: what a caller asks for can only narrow what is fixed.

    Where nothing can meet both, a search finds nothing: the caller is not told what is fixed.
    """
    return tuple(_tightest([*fixed, *asked]).values())


def _tightest(conditions: Sequence[Condition]) -> dict[tuple[str, str], Condition]:
    """Return conditions by property and side, each side with its narrowest bound alone."""
    merged: dict[tuple[str, str], Condition] = {}
    for condition in conditions:
        side = _SIDE.get(condition.operator)
        key = (condition.property, side or f"{condition.operator} {condition.value!r}")
        merged[key] = _tighter(merged[key], condition) if key in merged and side else condition
    return merged


def _decoded(filters: object) -> object:
    """Return filters that a client sent as JSON text as what they say."""
    if not isinstance(filters, str):
        return filters
    try:
        return json.loads(filters) if filters.strip() else None
    except (ValueError, RecursionError):
        raise QuestionError("filters is a text that is no JSON: send an object.") from None


def _from_value(prop: Property, value: object) -> list[Condition]:
    """Return the conditions that a property's value in the map form stands for."""
    if isinstance(value, str):
        return _from_text(prop, value)
    if isinstance(value, Mapping):
        if unknown := [key for key in value if key not in _KEYS]:
            key = one_line(str(unknown[0]), _LONGEST_NAME)
            place = f"filters.{one_line(prop.name, _LONGEST_NAME)}"
            raise QuestionError(f"{place}: '{key}' is unknown; allowed are a value, a list, min and max.")
        bounds = [(_KEYS[key], bound) for key, bound in value.items() if bound is not None]
        return [condition for operator, bound in bounds for condition in _conditions(prop, operator, bound)]
    return _conditions(prop, "IN" if isinstance(value, (list, tuple)) else "=", value)


def _from_text(prop: Property, text: str) -> list[Condition]:
    """Return the conditions that a text stands for, which may be a list or bounds that a client sent as JSON text.

    Where texts are stored, a list may as well be meant as it is, so it stands for the text or one of its values.

    Raises:
        QuestionError: A list or an object that says nothing about the property: as a text it would find nothing, and
            nobody would know why.
    """
    said = _json(text)
    if said is None:
        return _conditions(prop, "=", text)
    values = _from_value(prop, said)
    if isinstance(said, dict) or (prop.types and "STRING" not in prop.types):
        return values
    as_it_is = _conditions(replace(prop, types=("STRING",)), "=", text)
    return [_either(as_it_is[0], one) for one in values]


def _json(text: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or the object that a text writes; `None` if it writes neither."""
    if text.strip()[:1] not in ("{", "["):
        return None
    try:
        said: list[Any] | dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said


def _either(text: Condition, values: Condition) -> Condition:
    """Return the condition that a property is a text or one of the values that another condition admits."""
    if values.operator == WITHIN:
        return replace(values, value=[[None, None, text.value], *values.value])
    others = values.value if values.operator == "IN" else [values.value]
    return replace(values, operator="IN", value=[text.value, *others])


def _from_entry(entry: object, known: Mapping[str, Property]) -> list[Condition]:
    """Return the conditions that one `{property, operator, value}` stands for."""
    try:
        entry = _decoded(entry)
    except QuestionError:
        entry = None
    if not isinstance(entry, Mapping) or "property" not in entry or set(entry) - _ENTRY:
        raise QuestionError("Each filter is an object: {property, operator, value}.")
    operator = " ".join(str(entry.get("operator") or "=").upper().split())
    if operator not in OPERATORS:
        raise QuestionError(
            f"The operator '{one_line(operator, _LONGEST_NAME)}' is unknown; allowed are {', '.join(OPERATORS)}."
        )
    if operator not in NULL_CHECKS and entry.get("value") is None:
        name = one_line(str(entry["property"]), _LONGEST_NAME)
        raise QuestionError(f"The filter on '{name}' has no value; for absence use IS NULL.")
    return _conditions(_property(str(entry["property"]), known), operator, entry.get("value"))


def _property(name: str, known: Mapping[str, Property]) -> Property:
    if name not in known:
        allowed = one_line(", ".join(sorted(known))) or "none"
        raise QuestionError(f"There is no filter '{one_line(name, _LONGEST_NAME)}'; allowed are: {allowed}.")
    return known[name]


def _conditions(known: Property, operator: str, value: object) -> list[Condition]:
    if operator in NULL_CHECKS:
        return [Condition(known.name, operator)]
    prop = known if known.types else _of_any_type(known, value)

    if operator == "IN":
        return _one_of(prop, value)
    if isinstance(value, (list, tuple, Mapping)):
        _refuse(prop, f"{operator} takes one value")
    if operator in TEXT_OPERATORS:
        if "STRING" not in prop.types:
            _refuse(prop, f"{operator} works on texts only")
        return [Condition(prop.name, operator, coercion.convert(value, "STRING"))]
    if operator in _SIDE and prop.types and _UNORDERED.issuperset(prop.types):
        _refuse(prop, "a range (min, max, <, <=, >, >=) needs numbers, dates or times; use a value or a list")
    return _compared(prop, operator, value)


def _of_any_type(prop: Property, value: object) -> Property:
    """Return a property of which no value was seen, with every type that a filter's value could be stored in."""
    values = value if isinstance(value, (list, tuple)) else [value]
    kinds = (kind for kind in coercion.KINDS if all(coercion.convert(item, kind) is not None for item in values))
    return replace(prop, types=tuple(kinds))


def _one_of(prop: Property, value: object) -> list[Condition]:
    if not isinstance(value, (list, tuple)):
        _refuse(prop, "IN takes a list, in brackets")
    if not value:
        _refuse(prop, "the list is empty and would match nothing; leave the filter out")
    if len(value) == 1:
        return _compared(prop, "=", value[0])
    if _has_spans(prop):
        return [Condition(prop.name, WITHIN, [admitted for given in value for admitted in _admitted(prop, given)])]
    typed = [item for given in value for item in _typed(prop, given, prop.types)]
    return [Condition(prop.name, "IN", typed)]


def _compared(prop: Property, operator: str, value: object) -> list[Condition]:
    if _has_spans(prop) and (operator == "<>" or (operator == "=" and len(prop.types) > 1)):
        return [Condition(prop.name, WITHIN if operator == "=" else NOT_WITHIN, _admitted(prop, value))]
    if len(prop.types) == 1 and prop.types[0] in coercion.SPANS:
        moments = coercion.span(value, prop.types[0]) or _refuse_value(prop, value)
        return [Condition(prop.name, *part) for part in coercion.within(moments, operator)]
    if operator in _SIDE and not _NUMBERS.issuperset(prop.types) and len(prop.types) > 1:
        return [Condition(prop.name, COMPARES, _bounds(prop, operator, value))]
    typed = _typed(prop, value, prop.types)

    if operator in ("=", "<>") and len(typed) > 1:
        return [Condition(prop.name, "IN" if operator == "=" else NOT_IN, typed)]
    return [Condition(prop.name, operator, typed[0])]


def _bounds(prop: Property, operator: str, value: object) -> list[list[Any]]:
    """Return the comparison in each of a property's types that have an order."""
    bounds: list[list[Any]] = []
    for kind in prop.types:
        if kind in coercion.SPANS and (moments := coercion.span(value, kind)):
            bounds += [list(part) for part in coercion.within(moments, operator)]
        elif kind not in _UNORDERED and (typed := coercion.convert(value, kind)) is not None:
            bounds.append([operator, typed])
    return bounds or _refuse_value(prop, value)


def _has_spans(prop: Property) -> bool:
    return any(kind in coercion.SPANS for kind in prop.types)


def _admitted(prop: Property, value: object) -> list[list[Any]]:
    """Return what a value admits in each of a property's types: the bounds of a span of time, or a value."""
    spans = [moments for kind in prop.types if kind in coercion.SPANS and (moments := coercion.span(value, kind))]
    bounds = [[*(bound for _, bound in coercion.within(moments, "=")), None] for moments in spans]
    others = tuple(kind for kind in prop.types if kind not in coercion.SPANS)
    values = [coercion.convert(value, kind) for kind in others]
    return [*bounds, *([None, None, item] for item in values if item is not None)] or _refuse_value(prop, value)


def _typed(prop: Property, value: object, kinds: tuple[str, ...]) -> list[Any]:
    """Return a value in each of the types that it can be turned into."""
    converted = [coercion.convert(value, kind) for kind in kinds]
    typed: list[Any] = []
    for item in converted:
        if item is not None and item not in typed:
            typed.append(item)
    return typed or _refuse_value(prop, value)


def _tighter(one: Condition, other: Condition) -> Condition:
    """Return the narrower of two bounds of the same side."""
    if one.value == other.value:
        return one if one.operator in ("<", ">") else other
    _check_comparable(one, other)
    lower = _SIDE[one.operator] == "lower"
    return max(one, other, key=_value) if lower else min(one, other, key=_value)


def _value(condition: Condition) -> Any:  # noqa: ANN401 - any stored type
    return condition.value


def _check_bounds(lower: Condition | None, upper: Condition | None) -> None:
    if not lower or not upper:
        return
    _check_comparable(lower, upper)
    is_open = lower.operator == ">" or upper.operator == "<"
    if lower.value > upper.value or (lower.value == upper.value and is_open):
        raise QuestionError(f"filters.{lower.property}: min lies above max, which nothing can match.")


def _check_kinds(comparisons: list[Condition]) -> None:
    """Refuse several bounds of a property with mixed types that no one type can meet."""
    kinds = [
        {float if isinstance(bound, (int, float)) else type(bound) for _, bound in each.value} for each in comparisons
    ]
    if kinds and not set.intersection(*kinds):
        raise QuestionError(f"filters.{comparisons[0].property}: its bounds are of different types.")


def _check_comparable(one: Condition, other: Condition) -> None:
    try:
        one.value < other.value  # noqa: B015 - whether it can be asked
    except TypeError:
        raise QuestionError(f"filters.{one.property}: its bounds are of different types; use one type.") from None


def _refuse_value(prop: Property, value: object) -> NoReturn:
    said = one_line(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_NAME)
    _refuse(prop, f"{said} is no {coercion.phrase(prop.types)}")


def _refuse(prop: Property, why: str) -> NoReturn:
    example = coercion.example(prop.values[0] if prop.values else None, prop.types)
    raise QuestionError(f"filters.{prop.name}: {why}; for example {example}.")


def _example(known: Mapping[str, Property]) -> str:
    name, prop = next(iter(known.items()), ("language", None))
    return json.dumps({name: None}).replace("null", coercion.example(None, prop.types if prop else ("STRING",)))
