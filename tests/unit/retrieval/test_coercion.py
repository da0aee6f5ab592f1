"""From what JSON can say to the types that Neo4j stores."""

from __future__ import annotations

from datetime import UTC, date, timedelta, timezone
from typing import Any

import pytest
from neo4j.time import DateTime, Duration, Time

from mcp_neo4j_vector_graphrag.retrieval.coercion import convert, example, phrase, span, within

PLUS_TWO = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (2003, "INTEGER", 2003),
        ("2003", "INTEGER", 2003),
        (" 2003 ", "INTEGER", 2003),
        ("2003.0", "INTEGER", 2003),
        (2003.0, "INTEGER", 2003),
        ("-7", "INTEGER", -7),
        (2**63 - 1, "INTEGER", 2**63 - 1),
        (-(2**63), "INTEGER", -(2**63)),
        (7, "FLOAT", 7.0),
        ("7.5", "FLOAT", 7.5),
        ("en", "STRING", "en"),
        (" en ", "STRING", " en "),
        (2003, "STRING", "2003"),
        (True, "STRING", "true"),
        (True, "BOOLEAN", True),
        ("true", "BOOLEAN", True),
        (" False ", "BOOLEAN", False),
        ("2026-01-31", "DATE", date(2026, 1, 31)),
        ("2026-01-31T00:00:00", "DATE", date(2026, 1, 31)),
        ("2026-01-31T12:30:00Z", "ZONED DATETIME", DateTime(2026, 1, 31, 12, 30, tzinfo=UTC)),
        ("2026-01-31T12:30:00", "ZONED DATETIME", DateTime(2026, 1, 31, 12, 30, tzinfo=UTC)),
        ("2026-01-31T12:30:00+02:00", "ZONED DATETIME", DateTime(2026, 1, 31, 12, 30, tzinfo=PLUS_TWO)),
        ("2026-01-31T12:30:00.123456789Z", "ZONED DATETIME", DateTime(2026, 1, 31, 12, 30, 0, 123456789, tzinfo=UTC)),
        ("2026-01-31T12:30:00", "LOCAL DATETIME", DateTime(2026, 1, 31, 12, 30)),
        ("2026-01-31T12:30:00.1234567", "LOCAL DATETIME", DateTime(2026, 1, 31, 12, 30, 0, 123456700)),
        ("12:30:00+02:00", "ZONED TIME", Time(12, 30, tzinfo=PLUS_TWO)),
        ("12:30", "LOCAL TIME", Time(12, 30)),
        ("12:30:00.123456789", "LOCAL TIME", Time(12, 30, 0, 123456789)),
        ("P1DT2H", "DURATION", Duration(days=1, hours=2)),
    ],
)
def test_a_value_becomes_the_stored_type(value: object, kind: str, expected: object):
    converted = convert(value, kind)

    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "STRING"),
        (True, "INTEGER"),
        (5.5, "INTEGER"),
        ("5.5", "INTEGER"),
        ("five", "INTEGER"),
        ("", "INTEGER"),
        (2**63, "INTEGER"),
        (-(2**63) - 1, "INTEGER"),
        (9.3e18, "INTEGER"),
        ("1e400", "INTEGER"),
        (float("inf"), "INTEGER"),
        (float("nan"), "FLOAT"),
        ("1e999", "FLOAT"),
        (10**400, "FLOAT"),
        (True, "FLOAT"),
        ([1], "FLOAT"),
        ([1], "STRING"),
        ({"a": 1}, "STRING"),
        (1, "BOOLEAN"),
        ("yes", "BOOLEAN"),
        (20260131, "DATE"),
        ("2026-01", "DATE"),
        ("2026-02-30", "DATE"),
        ("2026-01-31T12:30:00", "DATE"),
        ("soon", "ZONED DATETIME"),
        ("2026-01-31T12:30:00+25:00", "ZONED DATETIME"),
        ("2026-01-31T12:30:00Z", "LOCAL DATETIME"),
        ("12:30", "ZONED TIME"),
        ("12:30Z", "LOCAL TIME"),
        ("25:00", "LOCAL TIME"),
        ("two days", "DURATION"),
        ("x", "POINT"),
        ("x", "LIST<STRING>"),
    ],
)
def test_a_value_that_says_no_such_thing_becomes_nothing(value: object, kind: str):
    assert convert(value, kind) is None


@pytest.mark.parametrize(
    ("value", "kind", "first", "after"),
    [
        ("2026-01-31", "ZONED DATETIME", DateTime(2026, 1, 31, tzinfo=UTC), DateTime(2026, 2, 1, tzinfo=UTC)),
        ("2024-02-28", "LOCAL DATETIME", DateTime(2024, 2, 28), DateTime(2024, 2, 29)),
        (
            "9999-12-31",
            "LOCAL DATETIME",
            DateTime(9999, 12, 31),
            DateTime(9999, 12, 31, 23, 59, 59, 999999999),
        ),
        (
            "2026-01-31T12:00:00Z",
            "ZONED DATETIME",
            DateTime(2026, 1, 31, 12, tzinfo=UTC),
            DateTime(2026, 1, 31, 12, 0, 0, 1, tzinfo=UTC),
        ),
    ],
)
def test_a_date_spans_a_day_and_an_instant_a_nanosecond(value: str, kind: str, first: DateTime, after: DateTime):
    assert span(value, kind) == (first, after)


@pytest.mark.parametrize("value", ["", "soon", "2026-13-01", 20260131, None, ["2026-01-31"]])
def test_what_is_no_time_spans_nothing(value: object):
    assert span(value, "ZONED DATETIME") is None


DAY = (DateTime(2026, 1, 31, tzinfo=UTC), DateTime(2026, 2, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("operator", "bounds"),
    [
        ("=", [(">=", DAY[0]), ("<", DAY[1])]),
        (">=", [(">=", DAY[0])]),
        (">", [(">=", DAY[1])]),
        ("<=", [("<", DAY[1])]),
        ("<", [("<", DAY[0])]),
    ],
)
def test_a_day_is_compared_as_a_whole(operator: str, bounds: list[tuple[str, Any]]):
    assert within(DAY, operator) == bounds


@pytest.mark.parametrize("zone", [UTC, PLUS_TWO, timezone(timedelta(hours=18)), timezone(timedelta(hours=-18))])
@pytest.mark.parametrize("operator", ["=", ">=", ">", "<=", "<"])
def test_bounds_are_instants_in_the_zone_that_neo4j_puts_first(zone: timezone, operator: str):
    moment = DateTime(2026, 1, 31, 12, 0, 0, 123456789, tzinfo=zone)
    for _, bound in within((moment, moment + Duration(nanoseconds=1)), operator):
        assert bound.utcoffset() == timedelta(hours=-18)
        assert bound.nanosecond in (123456789, 123456790)
        assert bound.to_native() == moment.to_native()


def test_the_first_day_there_is_has_a_bound_too():
    first = DateTime(1, 1, 1, tzinfo=UTC)
    assert within((first, DateTime(1, 1, 2, tzinfo=UTC)), ">=") == [(">=", first)]


def test_a_span_has_no_other_operator():
    with pytest.raises(ValueError, match="<>"):
        within(DAY, "<>")


@pytest.mark.parametrize(
    ("value", "kinds", "expected"),
    [
        ("müll", ("STRING",), '"müll"'),
        (2003, ("INTEGER",), "2003"),
        (True, ("BOOLEAN",), "true"),
        (DateTime(2026, 1, 31, 12, tzinfo=PLUS_TWO), ("ZONED DATETIME",), '"2026-01-31T12:00:00+02:00"'),
        (Duration(days=10), ("DURATION",), '"P10D"'),
        (None, ("DATE",), '"2026-01-31"'),
        (None, (), '"…"'),
    ],
)
def test_an_example_is_what_a_caller_writes(value: object, kinds: tuple[str, ...], expected: str):
    assert example(value, kinds) == expected


def test_every_example_of_a_type_is_a_value_of_it():
    kinds = (
        *("INTEGER", "FLOAT", "STRING", "BOOLEAN", "DATE", "DURATION"),
        *("ZONED DATETIME", "LOCAL DATETIME", "ZONED TIME", "LOCAL TIME"),
    )
    for kind in kinds:
        assert convert(example(None, (kind,)).strip('"'), kind) is not None, kind


def test_several_types_are_one_phrase():
    assert phrase(("INTEGER", "STRING")) == "whole number or text"
    assert phrase(()) == "value of its type"
