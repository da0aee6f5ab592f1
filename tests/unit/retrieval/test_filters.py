"""What a caller sends, as conditions on stored types or one line that says what is allowed."""

from __future__ import annotations

import json
from datetime import UTC, date
from typing import Any

import pytest
from neo4j.time import DateTime

from mcp_neo4j_vector_graphrag.database.sample import Property
from mcp_neo4j_vector_graphrag.errors import QuestionError
from mcp_neo4j_vector_graphrag.retrieval.filters import OPERATORS, Condition, merge, narrow, parse

KNOWN = {
    name: Property(name, types, values=values)
    for name, types, values in (
        ("year", ("INTEGER",), (1999,)),
        ("rating", ("FLOAT",), ()),
        ("lang", ("STRING",), ("en", "de")),
        ("ok", ("BOOLEAN",), ()),
        ("day", ("DATE",), ()),
        ("when", ("ZONED DATETIME",), ()),
        ("local", ("LOCAL DATETIME",), ()),
        ("length", ("DURATION",), ()),
        ("number", ("INTEGER", "FLOAT"), ()),
        ("mixed", ("INTEGER", "STRING"), ()),
        ("odd", ("INTEGER", "DATE"), ()),
        ("sometimes", ("ZONED DATETIME", "STRING"), ()),
        ("unseen", (), ()),
        ("tags", ("LIST<STRING>",), ()),
    )
}

DAY = DateTime(2026, 1, 31, tzinfo=UTC)
DAY_AFTER = DateTime(2026, 2, 1, tzinfo=UTC)


def conditions(filters: object) -> list[tuple[str, str, Any]]:
    return [(found.property, found.operator, found.value) for found in parse(filters, KNOWN)]


@pytest.mark.parametrize("nothing", [None, {}, [], "", "  ", "null", "{}", {"year": None}, {"year": {"min": None}}])
def test_nothing_given_is_no_condition(nothing: object):
    assert parse(nothing, KNOWN) == ()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"year": 2003}, [("year", "=", 2003)]),
        ({"year": "2003"}, [("year", "=", 2003)]),
        ({"year": [2003]}, [("year", "=", 2003)]),
        ({"year": ["2003", 2004]}, [("year", "IN", [2003, 2004])]),
        ({"year": "[2003, 2004]"}, [("year", "IN", [2003, 2004])]),
        ({"year": {"min": 2000, "max": "2010"}}, [("year", ">=", 2000), ("year", "<=", 2010)]),
        ({"year": '{"min": 2000}'}, [("year", ">=", 2000)]),
        ({"year": {"min": 2000, "max": None}}, [("year", ">=", 2000)]),
        ({"year": {"$gt": 1, "$lt": 9}}, [("year", ">", 1), ("year", "<", 9)]),
        ({"year": {"$in": [1, 2]}}, [("year", "IN", [1, 2])]),
        ({"year": {"$ne": 1}}, [("year", "<>", 1)]),
        ({"rating": {"min": 1}}, [("rating", ">=", 1.0)]),
        ({"lang": "en"}, [("lang", "=", "en")]),
        ({"lang": "[draft] one"}, [("lang", "=", "[draft] one")]),
        ({"lang": ["en", "de"]}, [("lang", "IN", ["en", "de"])]),
        ({"lang": 5}, [("lang", "=", "5")]),
        ({"lang": "[1]"}, [("lang", "IN", ["[1]", "1"])]),
        ({"lang": '["en"]'}, [("lang", "IN", ['["en"]', "en"])]),
        ({"lang": ' ["en", "de"]'}, [("lang", "IN", [' ["en", "de"]', "en", "de"])]),
        ({"lang": ['["en"]', "[1]"]}, [("lang", "IN", ['["en"]', "[1]"])]),
        ({"lang": "{}"}, []),
        ({"lang": None, "no property": None}, []),
        ({"lang": "{draft}"}, [("lang", "=", "{draft}")]),
        ({"lang": '{"$in": ["en", "de"]}'}, [("lang", "IN", ["en", "de"])]),
        ({"lang": '{"$ne": "en"}'}, [("lang", "<>", "en")]),
        ({"mixed": "[5]"}, [("mixed", "IN", ["[5]", 5, "5"])]),
        ({"mixed": '{"min": 5}'}, [("mixed", "COMPARES", [[">=", 5]])]),
        ({"unseen": "[5]"}, [("unseen", "IN", ["[5]", 5, "5"])]),
        ({"ok": "true"}, [("ok", "=", True)]),
        ({"day": "2026-01-31"}, [("day", "=", date(2026, 1, 31))]),
        ({"year": 2003, "lang": "en"}, [("year", "=", 2003), ("lang", "=", "en")]),
        ({"number": "2.5"}, [("number", "=", 2.5)]),
        ({"number": 2}, [("number", "=", 2)]),
        ({"unseen": 5}, [("unseen", "IN", [5, "5"])]),
        ({"unseen": "5"}, [("unseen", "IN", [5, "5"])]),
        ({"unseen": "five"}, [("unseen", "=", "five")]),
        ({"mixed": "5"}, [("mixed", "IN", [5, "5"])]),
        ({"mixed": "five"}, [("mixed", "=", "five")]),
        ({"mixed": ["5", "six"]}, [("mixed", "IN", [5, "5", "six"])]),
        ({"mixed": {"min": "5"}}, [("mixed", "COMPARES", [[">=", 5]])]),
        ([{"property": "mixed", "operator": "<>", "value": "5"}], [("mixed", "NOT IN", [5, "5"])]),
    ],
)
def test_filters_become_conditions_on_stored_types(filters: object, expected: list[tuple[str, str, Any]]):
    found = conditions(filters)

    assert found == expected
    assert [type(value) for *_, value in found] == [type(value) for *_, value in expected]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"when": "2026-01-31"}, [("when", ">=", DAY), ("when", "<", DAY_AFTER)]),
        ({"when": {"min": "2026-01-31"}}, [("when", ">=", DAY)]),
        ({"when": {"max": "2026-01-31"}}, [("when", "<", DAY_AFTER)]),
        (
            {"when": {"min": "2026-01-31", "max": "2026-01-31"}},
            [("when", ">=", DAY), ("when", "<", DAY_AFTER)],
        ),
        (
            {"when": ["2026-01-31", "2026-01-31T00:00:00Z"]},
            [
                (
                    "when",
                    "WITHIN",
                    [
                        [DAY, DAY_AFTER, None],
                        [DAY, DateTime(2026, 1, 31, 0, 0, 0, 1, tzinfo=UTC), None],
                    ],
                )
            ],
        ),
        (
            [{"property": "when", "operator": "<>", "value": "2026-01-31"}],
            [("when", "NOT WITHIN", [[DAY, DAY_AFTER, None]])],
        ),
        (
            {"sometimes": '["2026-01-31"]'},
            [
                (
                    "sometimes",
                    "WITHIN",
                    [[None, None, '["2026-01-31"]'], [DAY, DAY_AFTER, None], [None, None, "2026-01-31"]],
                )
            ],
        ),
        ({"sometimes": "never"}, [("sometimes", "WITHIN", [[None, None, "never"]])]),
        (
            {"sometimes": "2026-01-31"},
            [("sometimes", "WITHIN", [[DAY, DAY_AFTER, None], [None, None, "2026-01-31"]])],
        ),
    ],
)
def test_a_date_is_the_whole_day_where_times_are_stored(filters: object, expected: list[tuple[str, str, Any]]):
    assert conditions(filters) == expected


@pytest.mark.parametrize("text", ["[[1]]", "[1, null]", "[]", '{"a": 1}', '{"min": 1, "x": 2}', '["en", {"b": 1}]'])
@pytest.mark.parametrize("name", ["lang", "mixed", "unseen"])
def test_json_text_that_says_nothing_about_a_property_is_refused(name: str, text: str):
    """As a text it would find nothing, and nobody would know why."""
    with pytest.raises(QuestionError):
        conditions({name: text})


@pytest.mark.parametrize("far", [{"min": "0001-01-01"}, {"max": "9999-12-31"}, "0001-01-01", "9999-12-31"])
def test_the_ends_of_time_are_bounds(far: object):
    assert {name for name, *_ in conditions({"when": far})} == {"when"}


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_is_taken_in_the_long_form(operator: str):
    value = ["a", "b"] if operator == "IN" else "a"
    prop = "lang"
    if operator in ("<", "<=", ">", ">="):
        prop, value = "year", 5
    entry: dict[str, Any] = {"property": prop, "operator": operator.lower(), "value": value}
    expected = None if operator.startswith("IS") else value

    assert conditions([entry]) == [(prop, operator, expected)]
    assert conditions([json.dumps(entry)]) == conditions(json.dumps([entry])) == [(prop, operator, expected)]


def test_the_operator_is_equality_unless_told():
    assert conditions([{"property": "year", "value": "7"}]) == [("year", "=", 7)]


def test_the_published_shape_is_taken():
    known = {
        "language": Property("language", ("STRING",)),
        "date": Property("date", ("DATE",)),
        "sentiment": Property("sentiment", ("FLOAT",)),
    }
    published = {"language": "en", "date": {"min": "2026-01-01", "max": "2026-12-31"}, "sentiment": {"min": 0.5}}

    assert (
        parse(json.dumps(published), known)
        == parse(published, known)
        == (
            Condition("language", "=", "en"),
            Condition("date", ">=", date(2026, 1, 1)),
            Condition("date", "<=", date(2026, 12, 31)),
            Condition("sentiment", ">=", 0.5),
        )
    )


REFUSED: list[tuple[object, str]] = [
    ({"nope": 1}, "There is no filter 'nope'; allowed are: day, lang, length, "),
    ({"a` OR true //": 1}, "There is no filter 'a` OR true //'; allowed are: "),
    ({"new\nline": 1}, "There is no filter 'new line'; allowed are: "),
    ({"x" * 10_000: 1}, "…'; allowed are: "),
    ({"year": "five"}, 'filters.year: "five" is no whole number; for example 1999.'),
    ({"year": 5.5}, "filters.year: 5.5 is no whole number; for example 1999."),
    ({"year": True}, "filters.year: true is no whole number; for example 1999."),
    ({"year": 10**30}, "is no whole number"),
    ({"year": [[1]]}, "filters.year: [1] is no whole number"),
    ({"year": [1, None]}, "filters.year: null is no whole number"),
    ({"year": []}, "filters.year: the list is empty and would match nothing; leave the filter out"),
    ({"when": []}, "filters.when: the list is empty"),
    ({"year": {"min": 6, "max": 5}}, "filters.year: min lies above max, which nothing can match."),
    ({"day": {"min": "2026-02-01", "max": "2026-01-31"}}, "filters.day: min lies above max"),
    ({"when": {"min": "2026-02-01", "max": "2026-01-31"}}, "filters.when: min lies above max"),
    ({"year": {"least": 1}}, "filters.year: 'least' is unknown; allowed are a value, a list, min and max."),
    ({"year": {"x\n" * 1000: 1}}, "is unknown; allowed are a value, a list, min and max."),
    ({"rating": float("nan")}, "is no number; for example 7.5."),
    ({"year": "[]"}, "filters.year: the list is empty"),
    ({"year": "[[1]]"}, "filters.year: [1] is no whole number"),
    ({"year": '{"least": 1}'}, "filters.year: 'least' is unknown; allowed are a value, a list, min and max."),
    ({"lang": '{"min": "a"}'}, 'use a value or a list; for example "en".'),
    ({"lang": {"min": "a"}}, 'use a value or a list; for example "en".'),
    ({"ok": {"min": True}}, "use a value or a list; for example true."),
    ({"length": {"min": "P1D"}}, "use a value or a list"),
    ({"ok": 1}, "filters.ok: 1 is no boolean; for example true."),
    ({"day": "2026-01"}, 'filters.day: "2026-01" is no date; for example "2026-01-31".'),
    ({"when": "soon"}, 'filters.when: "soon" is no date and time; for example "2026-01-31T12:00:00Z".'),
    ({"local": "2026-01-31T12:00:00Z"}, 'is no date and time; for example "2026-01-31T12:00:00".'),
    ({"when": {"min": "9999-12-31T23:59:59-18:00"}}, "is no date and time; for example"),
    ({"when": {"max": "0001-01-01T00:00:00+14:00"}}, "is no date and time; for example"),
    ("[" * 100_000, "filters is a text that is no JSON: send an object."),
    ({"length": "long"}, 'is no duration; for example "P1DT2H".'),
    ({"odd": {"min": 5, "max": "2026-01-31"}}, "filters.odd: its bounds are of different types"),
    ({"odd": {"min": 5, "$gt": "2026-01-31"}}, "filters.odd: its bounds are of different types"),
    ({"tags": "a"}, "filters.tags: "),
    ("{bad", "filters is a text that is no JSON: send an object."),
    ("5", 'filters must be an object, for example {"year": 2003}, or a list of {property, operator, value}.'),
    (7, "filters must be an object"),
    (["a"], "Each filter is an object: {property, operator, value}."),
    ([7], "Each filter is an object: {property, operator, value}."),
    ([{"operator": "="}], "Each filter is an object"),
    (
        [{"property": "year", "operator": "; DROP", "value": 1}],
        "The operator '; DROP' is unknown; allowed are =, <>, <, <=, >, >=, IN, ",
    ),
    ([{"property": "year", "operator": "x" * 1000, "value": 1}], "…' is unknown; allowed are "),
    ([{"property": "year"}], "The filter on 'year' has no value; for absence use IS NULL."),
    ([{"property": "x\n" * 1000}], "has no value"),
    ([{"property": "year", "operator": "IN", "value": 5}], "IN takes a list"),
    ([{"property": "year", "operator": ">", "value": [5]}], "> takes one value"),
    ([{"property": "year", "operator": "CONTAINS", "value": "5"}], "CONTAINS works on texts only"),
    ({"lang": ["x" * 100_000, {}]}, "filters.lang: {} is no text"),
    ({"year": "x" * 100_000}, "is no whole number"),
]


@pytest.mark.parametrize(("filters", "told"), REFUSED, ids=[told[:40] for _, told in REFUSED])
def test_what_can_not_be_is_one_line_that_says_what_can(filters: object, told: str):
    with pytest.raises(QuestionError) as caught:
        parse(filters, KNOWN)

    assert told in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) <= 400


def test_without_any_filters_none_is_allowed():
    with pytest.raises(QuestionError, match="'year'; allowed are: none"):
        parse({"year": 1}, {})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([(">", 1), (">", 3), (">=", 2)], [(">", 3)]),
        ([(">=", 3), (">", 3)], [(">", 3)]),
        ([(">", 3), (">=", 3)], [(">", 3)]),
        ([("<", 5), ("<=", 5), ("<", 9)], [("<", 5)]),
        ([("<=", 4), ("<", 5)], [("<=", 4)]),
        ([(">", 1), ("<", 5), (">=", 2)], [(">=", 2), ("<", 5)]),
        ([("=", 1), ("=", 1)], [("=", 1)]),
        ([("=", 1), ("=", 2)], [("=", 1), ("=", 2)]),
        ([("=", 1), (">", 0)], [("=", 1), (">", 0)]),
    ],
)
def test_bounds_of_one_property_are_merged(given: list[tuple[str, int]], expected: list[tuple[str, int]]):
    merged = merge([Condition("year", operator, value) for operator, value in given])
    assert [(found.operator, found.value) for found in merged] == expected


def test_bounds_of_two_properties_stay_apart():
    given = (Condition("year", ">", 1), Condition("rating", ">", 2.0))
    assert merge(given) == given


def test_bounds_in_different_zones_are_compared_as_instants():
    both = {"when": {"min": "2026-01-31T00:00:00+02:00", "max": "2026-01-30T22:00:00Z"}}
    assert [operator for _, operator, _ in conditions(both)] == [">=", "<"]
    with pytest.raises(QuestionError, match="min lies above max"):
        parse({"when": {"min": "2026-01-31T00:00:00+02:00", "max": "2026-01-30T21:59:59Z"}}, KNOWN)


@pytest.mark.parametrize(
    "bounds", [{"$gt": 5, "$lt": 5}, {"min": 5, "$lt": 5}, {"$gt": 5, "max": 4}], ids=["open", "half", "crossed"]
)
def test_bounds_that_leave_nothing_are_refused(bounds: dict[str, int]):
    with pytest.raises(QuestionError, match="nothing can match"):
        parse({"year": bounds}, KNOWN)


def test_bounds_that_leave_one_value_are_taken():
    assert conditions({"year": {"min": 5, "max": 5}}) == [("year", ">=", 5), ("year", "<=", 5)]


@pytest.mark.parametrize("bounds", [{"$gt": 5, "max": 5.0}, {"min": 5, "$lt": 5}, {"$gt": 5, "$lt": 5}])
def test_bounds_that_leave_no_value_are_refused(bounds: dict[str, float]):
    with pytest.raises(QuestionError, match="min lies above max"):
        conditions({"year": bounds})


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((), [("year", ">=", 1990)]),
        ({"year": {"min": 1985}}, [("year", ">=", 1990)]),
        ({"year": {"min": 1995}}, [("year", ">=", 1995)]),
        ({"year": {"$gt": 1990}}, [("year", ">", 1990)]),
        ({"year": {"max": 1980}}, [("year", ">=", 1990), ("year", "<=", 1980)]),
        ({"year": 1980}, [("year", ">=", 1990), ("year", "=", 1980)]),
        ({"lang": "en"}, [("year", ">=", 1990), ("lang", "=", "en")]),
    ],
)
def test_what_is_asked_narrows_what_is_fixed_and_never_widens_it(asked: Any, expected: list[tuple[str, str, Any]]):
    fixed = parse({"year": {"min": 1990}}, KNOWN)
    narrowed = narrow(fixed, parse(asked, KNOWN))
    assert [(each.property, each.operator, each.value) for each in narrowed] == expected
