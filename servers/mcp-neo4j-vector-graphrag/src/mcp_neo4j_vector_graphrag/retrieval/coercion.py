"""From what JSON can say to the types that Neo4j stores."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Any

import neo4j.time

from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.errors import sendable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

SPANS = ("ZONED DATETIME", "LOCAL DATETIME")
"""Types for which a date means the whole day, and, where zones play a part, equality means the same instant."""

ORDERED = ("INTEGER", "FLOAT", "DATE", *SPANS, "ZONED TIME", "LOCAL TIME")
"""Types that bounds make sense for."""

_PLAIN = PlainJson()
_NANOSECOND = neo4j.time.Duration(nanoseconds=1)
_WESTERNMOST = timezone(timedelta(hours=-18))
"""The offset that Neo4j puts before all others."""
_FRACTION = re.compile(r"[.,](\d{7,9})(?!\d)")
"""Of a second, finer than Python's own times can hold."""
_INT64 = range(-(2**63), 2**63)

_PHRASES = {
    "INTEGER": ("whole number", "2003"),
    "FLOAT": ("number", "7.5"),
    "STRING": ("text", '"en"'),
    "BOOLEAN": ("boolean", "true"),
    "DATE": ("date", '"2026-01-31"'),
    "ZONED DATETIME": ("date and time", '"2026-01-31T12:00:00Z"'),
    "LOCAL DATETIME": ("date and time", '"2026-01-31T12:00:00"'),
    "ZONED TIME": ("time with a zone", '"12:00:00Z"'),
    "LOCAL TIME": ("time", '"12:00:00"'),
    "DURATION": ("duration", '"P1DT2H"'),
}

Span = tuple[Any, Any]
"""The first moment that a value stands for and the first one after it."""


def convert(value: object, kind: str) -> Any:  # noqa: ANN401 - any stored type
    """Return a JSON value as the type of that name in Cypher; `None` where it says no such thing."""
    converter = _CONVERTERS.get(kind)
    if converter is None or value is None:
        return None
    with suppress(ValueError, OverflowError, TypeError):
        return converter(value)
    return None


def span(value: object, kind: str) -> Span | None:
    """Return the moments from which and before which a date, or a date and time, lies; `None` if it is neither."""
    text = value.strip() if isinstance(value, str) else ""
    with suppress(ValueError, OverflowError):
        zone = UTC if kind == "ZONED DATETIME" else None
        if len(text) == len("2026-01-31"):
            day = datetime.combine(date.fromisoformat(text), time(), zone)
            last = neo4j.time.DateTime.combine(neo4j.time.Date.max, neo4j.time.Time.max).replace(tzinfo=zone)
            return _moment(day), _moment(day + timedelta(days=1)) if day.date() < date.max else last
        moment = convert(text, kind)
        return (moment, moment + _NANOSECOND) if moment is not None else None
    return None


def within(moments: Span, operator: str) -> list[tuple[str, Any]]:
    """Return the bounds that compare an instant with a span, whatever zone the instant was stored in."""
    first, after = (_least(moment) for moment in moments)
    match operator:
        case "=":
            return [(">=", first), ("<", after)]
        case ">=":
            return [(">=", first)]
        case "<=":
            return [("<", after)]
        case ">":
            return [(">=", after)]
        case "<":
            return [("<", first)]
    raise ValueError(operator)


def _least(moment: Any) -> Any:  # noqa: ANN401 - a date and time
    """Return an instant in the zone in which it is the least: Neo4j orders equal instants by their zones' offsets."""
    if moment.tzinfo is None:
        return moment
    try:
        return moment.astimezone(_WESTERNMOST)
    except (ValueError, OverflowError):  # that zone is still before the year 1
        return moment


def phrase(kinds: tuple[str, ...]) -> str:
    """Return types as a person says them."""
    return " or ".join(_PHRASES[kind][0] for kind in kinds if kind in _PHRASES) or "value of its type"


def example(value: object, kinds: tuple[str, ...]) -> str:
    """Return a value as a caller writes it: one from the data, else one of the first type."""
    if value is not None:
        return json.dumps(_PLAIN.value(value), ensure_ascii=False)
    return next((_PHRASES[kind][1] for kind in kinds if kind in _PHRASES), '"…"')


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = float(value) if any(mark in value for mark in ".eE") else int(value)
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if isinstance(value, int) and value in _INT64 else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _string(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, (str, int, float)) else None
    return text if text is None or text == sendable(text) else None


def _boolean(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _date(value: object) -> date | None:
    if not isinstance(value, str):
        return None
    moment = datetime.fromisoformat(value.strip())
    return moment.date() if moment.time() == time() else None


def _zoned(value: object) -> neo4j.time.DateTime | None:
    if not isinstance(value, str):
        return None
    moment = datetime.fromisoformat(value.strip())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    moment.astimezone(UTC)  # raises at the ends of time, where the driver could not send it
    exact: neo4j.time.DateTime = _exact(_moment(moment), value)
    return exact


def _local(value: object) -> neo4j.time.DateTime | None:
    if not isinstance(value, str):
        return None
    moment = datetime.fromisoformat(value.strip())
    return _exact(_moment(moment), value) if moment.tzinfo is None else None


def _time_of_day(*, zoned: bool) -> Callable[[object], neo4j.time.Time | None]:
    def converted(value: object) -> neo4j.time.Time | None:
        if not isinstance(value, str):
            return None
        moment = time.fromisoformat(value.strip())
        return _exact(neo4j.time.Time.from_native(moment), value) if (moment.tzinfo is not None) == zoned else None

    return converted


def _duration(value: object) -> neo4j.time.Duration | None:
    return neo4j.time.Duration.from_iso_format(value.strip()) if isinstance(value, str) else None


def _moment(moment: datetime) -> neo4j.time.DateTime:
    return neo4j.time.DateTime.from_native(moment)


def _exact(moment: Any, text: str) -> Any:  # noqa: ANN401 - a time, with or without a date
    """Return a moment with the nanoseconds of its text."""
    fraction = _FRACTION.search(text)
    return moment.replace(nanosecond=int(fraction[1].ljust(9, "0"))) if fraction else moment


_CONVERTERS: dict[str, Callable[[object], Hashable | None]] = {
    "INTEGER": _integer,
    "FLOAT": _float,
    "STRING": _string,
    "BOOLEAN": _boolean,
    "DATE": _date,
    "ZONED DATETIME": _zoned,
    "LOCAL DATETIME": _local,
    "ZONED TIME": _time_of_day(zoned=True),
    "LOCAL TIME": _time_of_day(zoned=False),
    "DURATION": _duration,
}

KINDS = tuple(_CONVERTERS)
"""All types that a filter's value can be turned into."""
