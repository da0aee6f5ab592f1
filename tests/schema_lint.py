"""What clients refuse in the input schema of a tool."""

from __future__ import annotations

from typing import Any


def complaints(schema: Any, place: str = "") -> list[str]:
    """Return what some client refuses in an input schema."""
    if isinstance(schema, list):
        return [found for part in schema for found in complaints(part, place)]
    if not isinstance(schema, dict):
        return []
    kind = schema.get("type")
    found = [
        f"{place}: {key}" for key in ("$ref", "$defs", "exclusiveMinimum", "exclusiveMaximum", "const") if key in schema
    ]
    if isinstance(kind, list):
        found.append(f"{place}: a list as type")
    if kind == "array" and "items" not in schema:
        found.append(f"{place}: an array without items")
    if kind == "object" and "properties" not in schema:
        found.append(f"{place}: an object without properties")
    if place and schema.get("additionalProperties") is True:
        found.append(f"{place}: nested additionalProperties")
    for name, part in schema.get("properties", {}).items():
        found += complaints(part, f"{place}/{name}")
    for key in ("items", "anyOf", "oneOf", "allOf", "additionalProperties"):
        found += complaints(schema.get(key), f"{place}/{key}")
    return found
