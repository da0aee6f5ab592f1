"""Values of Neo4j as plain JSON, with the vectors left out. Values of a real server: see the integration tests."""

from __future__ import annotations

import json
import math
from datetime import UTC, timedelta, timezone
from decimal import Decimal

import neo4j
import numpy as np
import pytest
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from mcp_neo4j_vector_graphrag.database.values import PlainJson

PLAIN = PlainJson(vector_properties=frozenset({"emb"}), dimensions=frozenset({3}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**62, 2**62),
        (1.5, 1.5),
        ("<Record text='a'>", "<Record text='a'>"),
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        (b"\x00\xff", "AP8="),
        (bytearray(b"\x00\xff"), "AP8="),
        (Date(2024, 2, 29), "2024-02-29"),
        (DateTime(2024, 2, 29, 12, 30), "2024-02-29T12:30:00"),
        (DateTime(2024, 2, 29, 12, 30, tzinfo=UTC), "2024-02-29T12:30:00+00:00"),
        (Time(12, 30, 5, 7, tzinfo=timezone(timedelta(hours=-3))), "12:30:05.000000007-03:00"),
        (Duration(months=14, days=3, hours=4, seconds=1, milliseconds=500), "P1Y2M3DT4H1.5S"),
        (WGS84Point((1.0, 2.0)), {"srid": 4326, "x": 1.0, "y": 2.0}),
        (CartesianPoint((1.0, 2.0, 3.0)), {"srid": 9157, "x": 1.0, "y": 2.0, "z": 3.0}),
        ((1, 2), [1, 2]),
        ({1: "a"}, {"1": "a"}),
        (np.float32(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
    ],
)
def test_a_value_is_plain_json(value: object, expected: object):
    plain = PLAIN.value(value)
    assert plain == expected
    assert type(plain) is type(expected)
    json.dumps(plain, allow_nan=False)


@pytest.mark.parametrize(
    "vector",
    [
        [0.1, 0.2, 0.3],
        [0.5] * 1536,
        Vector([1.0, 2.0], "f32"),
        Vector([1, 2], "i8"),
        np.full(384, 0.5),
    ],
)
def test_a_vector_is_left_out_at_any_depth(vector: object):
    record = neo4j.Record({"text": "a", "v": vector, "deep": {"list": [{"v": vector, "kept": 1}]}})
    assert PLAIN.row(record) == {"text": "a", "deep": {"list": [{"kept": 1}]}}


def test_a_vector_in_a_list_leaves_its_place_empty():
    assert PLAIN.value([[0.1, 0.2, 0.3], [0.1, 0.2]]) == [None, [0.1, 0.2]]


@pytest.mark.parametrize(
    "numbers",
    [list(range(1, 201)), [1, 2, 3], [0.5] * 168, [0.5] * 383 + ["x"], [0.1, 0.2, 3], []],
)
def test_a_list_that_is_no_vector_stays_whole(numbers: list[object]):
    assert PLAIN.value(numbers) == numbers


def test_a_property_that_holds_vectors_is_left_out_by_name_whatever_its_length():
    assert PLAIN.value({"emb": [1.0], "a": {"emb": None, "b": 1}}) == {"a": {"b": 1}}


@pytest.mark.parametrize(
    "value", ["about embeddings", ["wifi", "pool"], ("wifi",), [True, False], [1, "wifi"], [[0.5]], [], 7, {"a": 1}]
)
def test_what_is_no_list_of_numbers_stays_under_the_name_of_a_vector_property(value: object):
    kept = list(value) if isinstance(value, tuple) else value
    assert PLAIN.value({"emb": value, "n": 1}) == {"emb": kept, "n": 1}


@pytest.mark.parametrize("vector", [[0.5, 2.0], (1, 2), [1, 0.5], Vector([1, 2], "i8"), None])
def test_numbers_are_left_out_under_the_name_of_a_vector_property(vector: object):
    assert PLAIN.value({"emb": vector, "n": 1}) == {"n": 1}


def test_without_knowledge_of_the_indexes_only_long_vectors_are_seen():
    assert PlainJson().value({"emb": [0.1, 0.2, 0.3], "long": [0.5] * 1536}) == {"emb": [0.1, 0.2, 0.3]}


class Odd:
    """Known to nobody."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\ud800b", "a?b"),
        ({"k\udfff": ["\ud800"]}, {"k?": ["?"]}),
        (10**5000, "(a whole number of thousands of digits)"),
        ([-(10**5000)], ["(a whole number of thousands of digits)"]),
        (10**4000, 10**4000),
        (Odd(), "(a value of type Odd)"),
        ({"a": Odd}, {"a": "(a value of type type)"}),
        (Decimal("1.50"), "1.50"),
    ],
    ids=["half", "half-key", "long", "long-negative", "4001-digits", "odd", "class", "decimal"],
)
def test_what_json_can_not_say_becomes_a_text(value: object, expected: object):
    plain = PLAIN.value(value)
    assert plain == expected
    json.dumps(plain).encode()
