"""The argument `filters` as a model sees it."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import jsonschema
import pytest
from neo4j.time import Date, DateTime

from mcp_neo4j_vector_graphrag.database.sample import Property
from mcp_neo4j_vector_graphrag.tools.filter_schema import filters_schema


def field(*types: str, **more: Any) -> dict[str, Any]:
    """Return the schema of one property in the index, of some types."""
    known = Property("p", types, **{"in_index": True, **more})
    return dict(filters_schema({"p": known})["properties"]["p"])


def allows(schema: dict[str, Any], value: object) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def test_no_filter_is_required_and_no_other_one_allowed():
    schema = filters_schema({"year": Property("year", ("INTEGER",)), "lang": Property("lang", ("STRING",))})
    assert schema["type"] == "object"
    assert list(schema["properties"]) == ["year", "lang"]
    assert allows(schema, {})
    assert not allows(schema, {"nope": 1})


def test_the_published_shape_is_valid():
    schema = filters_schema(
        {
            "language": Property("language", ("STRING",)),
            "date": Property("date", ("DATE",)),
            "sentiment": Property("sentiment", ("FLOAT",)),
        }
    )
    published = {"language": "en", "date": {"min": "2026-01-01", "max": "2026-12-31"}, "sentiment": {"min": 0.5}}
    assert allows(schema, published)


@pytest.mark.parametrize(
    ("types", "good", "bad"),
    [
        (("INTEGER",), [1, [1, 2], {"min": 1}, {"max": 2}, {"min": 1, "max": 2}, {}], ["x", 1.5, {"min": "x"}, True]),
        (("FLOAT",), [1, 1.5, [1.5], {"min": 0.5}], ["x", {"from": 1}]),
        (("STRING",), ["en", ["en", "de"]], [1, {"min": "a"}, [1]]),
        (("BOOLEAN",), [True], ["true", 1]),
        (("DATE",), ["2026-01-31", ["2026-01-31"], {"min": "2026-01-31"}], [20260131]),
        (("ZONED DATETIME",), ["2026-01-31", {"max": "2026-01-31"}], [{"max": 1}]),
        (("DURATION",), ["P1D", ["P1D"]], [{"min": "P1D"}, 1]),
        (("INTEGER", "STRING"), [1, "x", [1, "x"], {"min": 1}], [True, {"min": "x"}]),
        (("INTEGER", "FLOAT"), [1, 1.5, [1, 1.5], {"min": 1}], ["x"]),
        ((), ["x", ["x"]], []),
    ],
)
def test_values_lists_and_bounds_fit_the_type(types: tuple[str, ...], good: list[object], bad: list[object]):
    schema = field(*types)
    assert [value for value in good if not allows(schema, value)] == []
    assert [value for value in bad if allows(schema, value)] == []


def test_a_mix_of_whole_numbers_and_others_is_bounded_by_any_number():
    assert allows(field("INTEGER", "FLOAT"), {"min": 0.5})


@pytest.mark.parametrize(
    ("types", "more", "described"),
    [
        (("INTEGER",), {}, "Whole number"),
        (("INTEGER",), {"values": (2003, 1999, 1998, 1997), "count": 9}, "Whole number; e.g. 2003, 1999, 1998"),
        (("FLOAT",), {"in_index": False}, "Number; slower, not in the index"),
        (("BOOLEAN",), {"values": (True, False), "count": 9}, "Boolean"),
        (("INTEGER", "STRING"), {"values": (1, "x"), "count": 3}, 'Whole number or text (mixed types); e.g. 1, "x"'),
        (("STRING",), {"values": ("en", "de"), "count": 9}, 'Text; seen: "en", "de"'),
        (("STRING",), {"values": tuple("abcdefghijkl"), "count": 13}, None),
        (("STRING",), {"values": ("en", "de"), "count": 2}, 'Text; e.g. "en", "de"'),
        (("STRING",), {"values": tuple("abcdefghijklm"), "count": 99}, 'Text; e.g. "a", "b", "c"'),
        (("STRING",), {"values": ("x" * 41,), "count": 1}, "Text"),
        (("DATE",), {"values": (Date(2026, 1, 31),), "count": 1}, 'Date; e.g. "2026-01-31"'),
        (
            ("ZONED DATETIME",),
            {"values": (DateTime(2026, 1, 31, 12, tzinfo=UTC),), "count": 1},
            'Date and time; e.g. "2026-01-31T12:00:00+00:00"',
        ),
        ((), {}, "Value"),
    ],
)
def test_a_description_has_type_place_and_real_values(
    types: tuple[str, ...], more: dict[str, Any], described: str | None
):
    expected = described or "Text; seen: " + ", ".join(f'"{letter}"' for letter in "abcdefghijkl")
    assert field(*types, **more)["description"] == expected


def test_categories_of_which_one_is_too_long_are_not_told_as_all_there_are():
    said = field("STRING", values=("en", "x" * 41), count=9)["description"]
    assert "seen" not in said
    assert "en" in said
