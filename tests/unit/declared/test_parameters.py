"""Typed parameters: what a client sees of them, and what it sends as the values that a query is given."""

from __future__ import annotations

from datetime import UTC, date, timedelta, timezone
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from neo4j.time import DateTime

from mcp_neo4j_vector_graphrag.declared.parameters import bind, parameter_schema
from mcp_neo4j_vector_graphrag.declared.tables import ParameterTable
from mcp_neo4j_vector_graphrag.errors import QuestionError
from schema_lint import complaints

RATING = {"type": "number", "description": "The least rating", "default": 5, "minimum": 0, "maximum": 10}


def parameter(**keys: Any) -> ParameterTable:
    return ParameterTable.model_validate(keys)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"type": "integer"}, {"type": "integer"}),
        ({"type": "boolean", "default": False}, {"type": "boolean", "default": False}),
        (
            RATING,
            {"type": "number", "description": "The least rating.", "default": 5.0, "minimum": 0, "maximum": 10},
        ),
        (
            {"type": "string", "choices": ["film", "series"], "description": "What kind?"},
            {"type": "string", "enum": ["film", "series"], "description": "What kind?"},
        ),
        (
            {"type": "integer", "choices": [1, 2], "default": 2, "description": "Side."},
            {"type": "integer", "description": "Side. One of 1, 2.", "default": 2},
        ),
        ({"type": "date"}, {"type": "string", "description": 'A date, such as "2026-01-31".'}),
        (
            {"type": "date", "minimum": date(1900, 1, 1), "default": date(2000, 1, 1), "description": "Since"},
            {
                "type": "string",
                "description": 'Since. A date of at least "1900-01-01", such as "2000-01-01".',
                "default": "2000-01-01",
            },
        ),
        (
            {"type": "datetime", "maximum": "2026-01-31T12:00:00+02:00"},
            {
                "type": "string",
                "description": 'A date and time of at most "2026-01-31T12:00:00+02:00", such as '
                '"2026-01-31T12:00:00+02:00".',
            },
        ),
        (
            {"type": "list", "items": "string", "choices": ["en", "de"], "default": ["en"]},
            {"type": "array", "items": {"type": "string", "enum": ["en", "de"]}, "default": ["en"]},
        ),
        (
            {"type": "list", "items": "integer", "minimum": 1900, "default": []},
            {"type": "array", "items": {"type": "integer", "minimum": 1900}, "default": []},
        ),
        (
            {"type": "list", "items": "date", "description": "Days."},
            {
                "type": "array",
                "items": {"type": "string"},
                "description": 'Days. A list, each item a date, such as ["2026-01-31"].',
            },
        ),
    ],
)
def test_a_parameter_is_an_argument_that_every_client_takes(keys: dict[str, Any], expected: dict[str, Any]):
    schema = parameter_schema(parameter(**keys))
    assert schema == expected
    Draft202012Validator.check_schema(schema)
    if "default" in schema:
        Draft202012Validator(schema).validate(schema["default"])
    assert complaints({"type": "object", "properties": {"x": schema}}) == []


@pytest.mark.parametrize(
    ("keys", "sent", "expected"),
    [
        ({"type": "string"}, "en", "en"),
        ({"type": "string"}, 2003, "2003"),
        ({"type": "string"}, "", ""),
        ({"type": "string"}, "line\nand 🎬", "line\nand 🎬"),
        ({"type": "integer"}, "2003", 2003),
        ({"type": "integer"}, 2003.0, 2003),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 1, 1),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "5", 5),
        ({"type": "number"}, "7.5", 7.5),
        ({"type": "number"}, 7, 7.0),
        (RATING, 10, 10.0),
        ({"type": "number", "choices": [1, 2.5]}, 1, 1.0),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean", "default": True}, False, False),
        ({"type": "date"}, "2026-01-31", date(2026, 1, 31)),
        ({"type": "date", "choices": [date(2026, 1, 31)]}, "2026-01-31", date(2026, 1, 31)),
        ({"type": "datetime"}, "2026-01-31T12:00:00Z", DateTime(2026, 1, 31, 12, tzinfo=UTC)),
        ({"type": "datetime"}, "2026-01-31T12:00:00", DateTime(2026, 1, 31, 12, tzinfo=UTC)),
        (
            {"type": "datetime", "minimum": "2026-01-31T12:00:00Z"},
            "2026-01-31T14:00:00+02:00",
            DateTime(2026, 1, 31, 14, tzinfo=timezone(timedelta(hours=2))),
        ),
        ({"type": "list", "items": "integer"}, ["1", 2], [1, 2]),
        ({"type": "list", "items": "integer"}, "[1, 2]", [1, 2]),
        ({"type": "list", "items": "string", "choices": ["a", "b"]}, ["b", "b"], ["b", "b"]),
        ({"type": "list", "items": "date"}, '["2026-01-31"]', [date(2026, 1, 31)]),
        ({"type": "list", "items": "string"}, [], []),
        (RATING, None, 5.0),
        ({"type": "list", "items": "date", "default": [date(2026, 1, 31)]}, None, [date(2026, 1, 31)]),
        ({"type": "list", "items": "string", "default": []}, None, []),
        ({"type": "string", "default": ""}, None, ""),
        ({"type": "date", "default": "2026-01-31"}, None, date(2026, 1, 31)),
    ],
)
def test_what_a_client_sends_becomes_the_bound_value(keys: dict[str, Any], sent: object, expected: object):
    found = bind({"x": parameter(**keys)}, {"x": sent})["x"]
    assert found == expected
    assert type(found) is type(expected)
    if isinstance(expected, list):
        assert [type(item) for item in found] == [type(item) for item in expected]


@pytest.mark.parametrize(
    ("keys", "sent", "expected"),
    [
        (RATING, 11, "x: 11 is not allowed; send a number from 0.0 to 10.0, for example 5.0."),
        (RATING, "high", 'x: "high" is not allowed; send a number from 0.0 to 10.0, for example 5.0.'),
        (RATING, True, "x: true is not allowed; send a number from 0.0 to 10.0, for example 5.0."),
        (RATING, float("nan"), "x: NaN is not allowed; send a number from 0.0 to 10.0, for example 5.0."),
        (RATING, [5], "x: [5] is not allowed; send a number from 0.0 to 10.0, for example 5.0."),
        ({"type": "integer"}, 7.5, "x: 7.5 is not allowed; send a whole number, for example 2003."),
        ({"type": "integer"}, 2**63, f"x: {2**63} is not allowed; send a whole number, for example 2003."),
        ({"type": "integer", "maximum": 3}, 4, "x: 4 is not allowed; send a whole number of at most 3, for example 3."),
        ({"type": "string"}, {"a": 1}, 'x: {"a": 1} is not allowed; send a text, for example "en".'),
        ({"type": "string"}, "a\ud800", 'x: "a?" is not allowed; send a text, for example "en".'),
        (
            {"type": "string", "choices": ["film", "series"]},
            "Film",
            'x: "Film" is not allowed; send one of "film", "series", for example "film".',
        ),
        ({"type": "boolean"}, "yes", 'x: "yes" is not allowed; send a boolean, for example true.'),
        ({"type": "date"}, "31.1.2026", 'x: "31.1.2026" is not allowed; send a date, for example "2026-01-31".'),
        (
            {"type": "date", "minimum": date(2000, 1, 1)},
            "1999-12-31",
            'x: "1999-12-31" is not allowed; send a date of at least "2000-01-01", for example "2000-01-01".',
        ),
        (
            {"type": "datetime", "maximum": "2026-01-31T12:00:00Z"},
            "2026-01-31T12:00:00-01:00",
            (
                'x: "2026-01-31T12:00:00-01:00" is not allowed; send a date and time of at most '
                '"2026-01-31T12:00:00+00:00", for example "2026-01-31T12:00:00+00:00".'
            ),
        ),
        (
            {"type": "list", "items": "integer", "minimum": 1},
            [1, 0],
            "x: [1, 0] is not allowed; send a list, each item a whole number of at least 1, for example [1].",
        ),
        (
            {"type": "list", "items": "string"},
            "en",
            'x: "en" is not allowed; send a list, each item a text, for example ["en"].',
        ),
        (
            {"type": "list", "items": "string"},
            [None],
            'x: [null] is not allowed; send a list, each item a text, for example ["en"].',
        ),
        (
            {"type": "list", "items": "string", "default": ["de"]},
            "[" * 100_000,
            f'x: "{"[" * 58}… is not allowed; send a list, each item a text, for example ["de"].',
        ),
        ({"type": "integer", "minimum": 3}, None, "x is missing: send a whole number of at least 3, for example 3."),
    ],
)
def test_what_is_not_allowed_is_refused_in_one_line(keys: dict[str, Any], sent: object, expected: str):
    with pytest.raises(QuestionError) as raised:
        bind({"x": parameter(**keys)}, {"x": sent})
    assert str(raised.value) == expected


def test_every_parameter_is_bound_and_no_other():
    declared = {"least": parameter(**RATING), "kind": parameter(type="string", default="film")}
    assert bind(declared, {}) == {"least": 5.0, "kind": "film"}
    assert bind(declared, {"kind": "series"}) == {"least": 5.0, "kind": "series"}
    with pytest.raises(QuestionError) as raised:
        bind(declared, {"most\ud800": 3})
    assert str(raised.value) == "There is no parameter 'most?'; allowed are: least, kind."
