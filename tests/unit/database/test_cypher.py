"""Cypher as text: quoting, and a query's own words."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.database.cypher import parameters, quote, with_line_breaks, without_vectors, words


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("docs", "`docs`"),
        ("my index", "`my index`"),
        ("a.b", "`a.b`"),
        ("a`b", "`a``b`"),
        ("`", "````"),
        ("a` OR true //", "`a`` OR true //`"),
        (r"a\u0060 OR true //", r"`a\u005Cu0060 OR true //`"),
    ],
)
def test_a_quoted_name_ends_where_it_should(name: str, quoted: str):
    assert quote(name) == quoted


def test_only_vectors_are_left_out_of_a_projection():
    assert without_vectors("n", []) == "n {.*}"
    assert without_vectors("n", ["e`mb"]) == (
        "n {.*, `e``mb`: CASE WHEN valueType(n.`e``mb`) STARTS WITH 'LIST<FLOAT' "
        "OR valueType(n.`e``mb`) STARTS WITH 'LIST<INTEGER' OR valueType(n.`e``mb`) STARTS WITH 'VECTOR' "
        "THEN null ELSE n.`e``mb` END}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "RETURN 'LOAD CSV'",
        'RETURN "LOAD CSV"',
        "RETURN `LOAD CSV`",
        "RETURN 1 // LOAD CSV",
        "RETURN 1 /* LOAD\nCSV LOAD CSV */",
        r"RETURN 'it\'s LOAD CSV'",
        'RETURN "it\'s LOAD CSV"',
        "RETURN `a``b LOAD CSV`",
        r"RETURN '\\', 'LOAD CSV'",
        "RETURN 'http://LOAD CSV'",
    ],
)
def test_strings_comments_and_odd_names_are_no_words(text: str):
    assert "CSV" not in words(text)
    assert words(text).startswith("RETURN ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CALL db.`labels`()", "CALL db.labels()"),
        ("`CALL` `db`.labels()", "CALL db.labels()"),
        ("LOAD/**/CSV", "LOAD CSV"),
        ("RETURN 'a' LOAD CSV", "RETURN   LOAD CSV"),
        ("RETURN 1 // it's\nLOAD CSV", "RETURN 1  \nLOAD CSV"),
        (r"RETURN '\\' LOAD CSV", "RETURN   LOAD CSV"),
    ],
)
def test_what_is_outside_of_them_is_kept(text: str, expected: str):
    assert words(text) == expected


def test_parameters_are_those_of_the_query_itself():
    text = "MATCH (n {a: $first}) WHERE n.b = $`second` // $third\nRETURN '$fourth', \"$fifth\", $top_k"
    assert parameters(text) == {"first", "second", "top_k"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"MATCH (n)\nRETURN n", "MATCH (n)\nRETURN n"),
        (r"MATCH (n)\r\nRETURN n", "MATCH (n)\nRETURN n"),
        (r"RETURN 'a\nb'\n", "RETURN 'a\\nb'\n"),
        (r"// first\nRETURN 1", "// first\nRETURN 1"),
        (r"RETURN 1, // one\n2", "RETURN 1, // one\n2"),
        (r"RETURN 'http://a\nb'", r"RETURN 'http://a\nb'"),
        ("RETURN 1 // split at \\n here\n, 2", "RETURN 1 // split at \\n here\n, 2"),
        (r"RETURN n.`a\nb`", r"RETURN n.`a\nb`"),
    ],
)
def test_a_literal_backslash_n_is_a_line_break_outside_of_strings(text: str, expected: str):
    assert with_line_breaks(text) == expected
