"""Values of Neo4j as plain JSON, with the vectors left out."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import neo4j.graph
import neo4j.spatial
import neo4j.time
import neo4j.vector

USUAL_DIMENSIONS = frozenset({256, 300, 384, 512, 768, 1024, 1536, 2048, 3072, 4096})
"""A list of floats alone that is as long as embeddings usually are, or as an index says, is taken for a vector."""


_OMIT = object()
_MAX_BITS = 14_000
"""Of a whole number that Python writes in digits, of which it allows 4,300."""
_ZERO_FRACTION = re.compile(r"\.0+(?=[+\-Z]|$)")
_TEMPORAL_TAGS = (b"D", b"d", b"I", b"i")


@dataclass(frozen=True)
class PlainJson:
    """Turns values into plain JSON and leaves out vectors, at any depth, by name and by shape.

    Args:
        vector_properties: Names of the properties that hold vectors; other values of these names stay.
        dimensions: Lengths of the vectors in the database's indexes.
    """

    vector_properties: frozenset[str] = frozenset()
    dimensions: frozenset[int] = frozenset()

    def row(self, record: neo4j.Record) -> dict[str, Any]:
        """Return a row as a map from its columns to plain values, without the columns that hold a vector."""
        return self._map(columns(record))

    def value(self, value: object) -> Any:  # noqa: ANN401 - any JSON value
        """Return a value as plain JSON; a vector becomes `None`.

        Dates, times and durations become ISO 8601 text; points keep their SRID; bytes become Base64; NaN and infinity
        become `None`, since JSON has no such numbers.
        """
        plain = self._convert(value)
        return None if plain is _OMIT else plain

    def _convert(self, value: object) -> object:
        match value:
            case neo4j.vector.Vector():
                return _OMIT
            case neo4j.graph.Node() | neo4j.graph.Relationship():
                return self._entity(value)
            case neo4j.graph.Path():
                return {
                    "nodes": [self._entity(node) for node in value.nodes],
                    "relationships": [self._entity(relationship) for relationship in value.relationships],
                }
            case neo4j.spatial.Point():
                return {"srid": value.srid, **dict(zip("xyz", value, strict=False))}
            case Mapping():
                return self._map(value)
            case neo4j.time.Duration():  # a tuple as well
                return _scalar(value)
            case list() | tuple() | set() | frozenset():
                return self._list(list(value))
            case _ if hasattr(value, "tolist"):
                return self._convert(value.tolist())
        return _scalar(value)

    def _map(self, items: Mapping[Any, Any]) -> dict[str, Any]:
        converted = {
            _key(key): self._convert(value)
            for key, value in items.items()
            if not (key in self.vector_properties and _may_be_vector(value))
        }
        return {key: value for key, value in converted.items() if value is not _OMIT}

    def _list(self, items: list[object]) -> object:
        size = len(items)
        if (size in USUAL_DIMENSIONS or size in self.dimensions) and all(isinstance(item, float) for item in items):
            return _OMIT
        return [self.value(item) for item in items]

    def _entity(self, entity: neo4j.graph.Node | neo4j.graph.Relationship) -> dict[str, Any]:
        kind: dict[str, Any]
        if isinstance(entity, neo4j.graph.Node):
            kind = {"labels": sorted(entity.labels)}
        else:
            ends = (node.element_id if node is not None else None for node in entity.nodes)
            kind = {"type": entity.type, **dict(zip(("start", "end"), ends, strict=True))}
        return {"id": entity.element_id, **kind, "properties": self._map(dict(entity))}


def columns(record: neo4j.Record) -> dict[str, Any]:
    """Return the columns of a row as the driver hands them out.

    The record itself raises for a value that Python can't hold; as a tuple it has what came instead.
    """
    return dict(zip(record.keys(), tuple.__iter__(record), strict=True))


def _may_be_vector(value: object) -> bool:
    """Whether a value of a property that holds vectors is one, or the null that a query left in its place."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in value)
    return value is None or isinstance(value, neo4j.vector.Vector)


def _scalar(value: object) -> object:
    match value:
        case None | bool():
            return value
        case int():
            return value if value.bit_length() <= _MAX_BITS else "(a whole number of thousands of digits)"
        case str():
            return value.encode(errors="replace").decode()  # half a character, which Python can hold, becomes "?"
        case float():
            return value if math.isfinite(value) else None
        case bytes() | bytearray():
            return base64.b64encode(value).decode("ascii")
        case neo4j.time.Duration() | neo4j.time.Date() | neo4j.time.Time() | neo4j.time.DateTime():
            return _ZERO_FRACTION.sub("", value.iso_format())
        case _ if hasattr(value, "raw_data"):  # what the driver hands out for a value that it can't hold
            return _early(value.raw_data)
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case Decimal() | UUID() | timedelta():
            return str(value)
    return f"(a value of type {type(value).__name__})"


def _key(key: object) -> str:
    return str(_scalar(key))


def _early(raw: Any) -> str:  # noqa: ANN401 - a structure of the Bolt protocol
    """Return the ISO text of a date or a time that Python can't hold, such as one before year 1.

    Dates are days and times are seconds since 1970, in the proleptic Gregorian calendar, which repeats every 400 years.
    """
    tag, fields = bytes(raw.tag), raw.fields
    if tag not in _TEMPORAL_TAGS:
        return "(a value that this server can't read)"
    days, seconds = (fields[0], None) if tag == b"D" else divmod(fields[0], 86_400)
    cycles = -((days + 719_162) // 146_097)
    moment = datetime(1970, 1, 1) + timedelta(days=days + cycles * 146_097, seconds=seconds or 0)  # noqa: DTZ001
    year = moment.year - 400 * cycles
    date = f"{'-' if year < 0 else ''}{abs(year):04d}-{moment:%m-%d}"
    return date if seconds is None else f"{date}T{moment:%H:%M:%S}{'' if tag == b'd' else 'Z'}"
