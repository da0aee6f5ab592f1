"""Typed parameters: what a client sees of them, and what it sends as the values that a query is given."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.errors import QuestionError, one_line
from mcp_neo4j_vector_graphrag.retrieval import coercion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_neo4j_vector_graphrag.declared.tables import ParameterTable, Scalar

ORDERED: tuple[Scalar, ...] = ("integer", "number", "date", "datetime")
"""Types that a minimum and a maximum make sense for."""

_KINDS: dict[Scalar, str] = {
    "string": "STRING",
    "integer": "INTEGER",
    "number": "FLOAT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "ZONED DATETIME",
}
_JSON_TYPES: dict[Scalar, str] = {"integer": "integer", "number": "number", "boolean": "boolean"}
_LONGEST = 60
_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which JSON can say and neither a database nor a reply can."""


def parameter_schema(parameter: ParameterTable) -> dict[str, Any]:
    """Return the JSON schema of a tool's argument.

    Only a text has an `enum`, since some clients refuse one of numbers, and only a number has bounds; the description
    says the rest in words.
    """
    scalar = _scalar_schema(parameter)
    schema = {"type": "array", "items": scalar} if parameter.type == "list" else scalar
    if description := _description(parameter):
        schema["description"] = description
    if parameter.default is not None:
        schema["default"] = _plain(default(parameter))
    return schema


def bind(parameters: Mapping[str, ParameterTable], sent: Mapping[str, object]) -> dict[str, Any]:
    """Return the values that the query is given: those that a client sent in their types, and the defaults.

    Args:
        parameters: By name.
        sent: What the client sent, by name; `None` counts as not sent.

    Raises:
        QuestionError: One is missing, unknown or not allowed; the text says what is.
    """
    if unknown := [name for name in sent if name not in parameters]:
        allowed = one_line(", ".join(parameters)) or "none"
        raise QuestionError(f"There is no parameter '{_quoted(unknown[0])}'; allowed are: {allowed}.")
    return {name: _bound(name, parameter, sent.get(name)) for name, parameter in parameters.items()}


def default(parameter: ParameterTable) -> Any:  # noqa: ANN401 - any type
    """Return the value that the query is given when none is sent; `None` if one must be."""
    if parameter.type == "list" and isinstance(parameter.default, list):
        return [from_file(item, parameter.scalar) for item in parameter.default]
    return from_file(parameter.default, parameter.scalar)


def from_file(value: object, scalar: Scalar) -> Any:  # noqa: ANN401 - any type
    """Return a value of the file in its type; `None` if it is of another one.

    A file says what it means: a number in quotes is a text. Only a date or a time may be written as a text.
    """
    if scalar == "string":
        return value if isinstance(value, str) else None
    if scalar == "boolean":
        return value if isinstance(value, bool) else None
    if scalar in ("integer", "number"):
        allowed = int if scalar == "integer" else (int, float)
        return coercion.convert(value, _KINDS[scalar]) if isinstance(value, allowed) else None
    if isinstance(value, datetime if scalar == "datetime" else date):
        value = value.isoformat()
    return coercion.convert(value, _KINDS[scalar])


def complaint(value: Any, parameter: ParameterTable) -> str | None:  # noqa: ANN401 - any type
    """Return what a value of the right type, or of a list one item, must be instead; `None` if it is allowed."""
    if parameter.choices is not None and value not in _choices(parameter):
        return _allowed_item(parameter)
    lowest, highest = _bounds(parameter)
    outside = (lowest is not None and value < lowest) or (highest is not None and value > highest)
    return _allowed_item(parameter) if outside else None


def example(parameter: ParameterTable) -> str:
    """Return a value that is allowed, as a client writes it."""
    preferred = [*_choices(parameter)[:1], *(bound for bound in _bounds(parameter) if bound is not None)]
    if parameter.default is not None:
        return json.dumps(_plain(default(parameter)), ensure_ascii=False)
    item = coercion.example(preferred[0] if preferred else None, (_KINDS[parameter.scalar],))
    return f"[{item}]" if parameter.type == "list" else item


def _bound(name: str, parameter: ParameterTable, sent: object) -> Any:  # noqa: ANN401 - any type
    if sent is None:
        if parameter.default is None:
            raise QuestionError(f"{name} is missing: send {_allowed(parameter)}, for example {example(parameter)}.")
        return default(parameter)
    items = _items(sent) if parameter.type == "list" else [sent]
    typed = [coercion.convert(item, _KINDS[parameter.scalar]) for item in items or []]
    if items is None or not all(_is_allowed(item, parameter) for item in typed):
        said = _quoted(json.dumps(sent, ensure_ascii=False, default=str))
        allowed = _allowed(parameter)
        raise QuestionError(f"{name}: {said} is not allowed; send {allowed}, for example {example(parameter)}.")
    return typed if parameter.type == "list" else typed[0]


def _is_allowed(value: object, parameter: ParameterTable) -> bool:
    if isinstance(value, str) and _HALF.search(value):
        return False
    return value is not None and complaint(value, parameter) is None


def _items(sent: object) -> list[Any] | None:
    """Return a list, which some clients send as its JSON text."""
    if isinstance(sent, str):
        try:
            sent = json.loads(sent)
        except (ValueError, RecursionError):
            return None
    return list(sent) if isinstance(sent, (list, tuple)) else None


def _quoted(text: str) -> str:
    return one_line(_HALF.sub("?", text), _LONGEST)


def _choices(parameter: ParameterTable) -> list[Any]:
    return [from_file(choice, parameter.scalar) for choice in parameter.choices or []]


def _bounds(parameter: ParameterTable) -> tuple[Any, Any]:
    return from_file(parameter.minimum, parameter.scalar), from_file(parameter.maximum, parameter.scalar)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any type
    """Return a value as JSON has it."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) else json.loads(coercion.example(value, ()))


def _written(value: Any) -> str:  # noqa: ANN401 - any type
    return json.dumps(_plain(value), ensure_ascii=False)


def _scalar_schema(parameter: ParameterTable) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _JSON_TYPES.get(parameter.scalar, "string")}
    if parameter.choices is not None and parameter.scalar == "string":
        schema["enum"] = list(parameter.choices)
    if parameter.scalar in ("integer", "number"):
        lowest, highest = parameter.minimum, parameter.maximum
        schema |= {key: bound for key, bound in (("minimum", lowest), ("maximum", highest)) if bound is not None}
    return schema


def _description(parameter: ParameterTable) -> str:
    meaning = parameter.description.strip() if parameter.description else ""
    if meaning and meaning[-1] not in ".!?":
        meaning += "."
    if parameter.scalar == "string" or not (parameter.choices or parameter.scalar in ("date", "datetime")):
        return meaning
    allowed = _allowed(parameter)
    form = "" if parameter.choices else f", such as {example(parameter)}"
    return f"{meaning} {allowed[0].upper()}{allowed[1:]}{form}.".strip()


def _allowed(parameter: ParameterTable) -> str:
    """Return what is allowed, in words."""
    item = _allowed_item(parameter)
    return f"a list, each item {item}" if parameter.type == "list" else item


def _allowed_item(parameter: ParameterTable) -> str:
    if parameter.choices is not None:
        return f"one of {one_line(', '.join(map(_written, _choices(parameter))))}"
    lowest, highest = _bounds(parameter)
    phrase = f"a {coercion.phrase((_KINDS[parameter.scalar],))}"
    if lowest is not None and highest is not None:
        return f"{phrase} from {_written(lowest)} to {_written(highest)}"
    if lowest is not None:
        return f"{phrase} of at least {_written(lowest)}"
    return phrase if highest is None else f"{phrase} of at most {_written(highest)}"
