"""Conditions in a statement: what the index checks, what is checked after it, and that no caller's text gets in."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcp_neo4j_vector_graphrag.database.capabilities import Capabilities
from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex
from mcp_neo4j_vector_graphrag.retrieval.filters import NOT_IN, NOT_WITHIN, OPERATORS, WITHIN, Condition
from mcp_neo4j_vector_graphrag.retrieval.statement import (
    RetrievalQuery,
    Split,
    bounded_scan,
    candidates,
    default_query,
    full_scan,
    is_reserved,
    pool,
    retrieval,
    split,
    vector_search,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause

NODES = VectorIndex(
    name="docs",
    variable="node",
    labels=("Doc",),
    property="emb",
    filter_properties=("year", "lang", "ok"),
    dimensions=3,
    similarity="cosine",
    quantised=False,
    state="ONLINE",
)
RELATIONSHIPS = replace(NODES, name="says", variable="relationship", labels=("SAYS", "ASKS"))
NEWEST = Capabilities(search_clause=True, in_list_filter=True, fulltext_search_clause=True, embed_function=None)
EARLY_2026 = replace(NEWEST, in_list_filter=False, fulltext_search_clause=False, embed_function=None)
OLD = Capabilities(search_clause=False, in_list_filter=False, fulltext_search_clause=False, embed_function=None)
TYPES = {
    "year": ("INTEGER",),
    "lang": ("STRING",),
    "ok": ("BOOLEAN",),
    "number": ("INTEGER", "FLOAT"),
    "mixed": ("INTEGER", "STRING"),
}
MARKER = "mArKeR`'\"} ) //"
"""A caller's value, which no statement may hold."""

ALL_OPERATORS = (*OPERATORS, WITHIN, NOT_WITHIN, NOT_IN)


def condition(operator: str, prop: str = "year") -> Condition:
    values: dict[str, Any] = {
        "IN": [MARKER],
        NOT_IN: [MARKER],
        WITHIN: [[MARKER, MARKER, MARKER]],
        NOT_WITHIN: [[MARKER, MARKER, MARKER]],
        "IS NULL": None,
        "IS NOT NULL": None,
    }
    return Condition(prop, operator, values.get(operator, MARKER))


def sides(found: Split) -> tuple[list[str], list[str]]:
    return [one.operator for one in found.inside], [one.operator for one in found.outside]


@pytest.mark.parametrize("operator", ALL_OPERATORS)
@pytest.mark.parametrize("index", [NODES, RELATIONSHIPS], ids=["nodes", "relationships"])
@pytest.mark.parametrize(
    ("capabilities", "taken"),
    [
        (NEWEST, {"=", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL", "IN"}),
        (EARLY_2026, {"=", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL"}),
        (OLD, set()),
    ],
    ids=["newest", "early-2026", "old"],
)
def test_the_index_gets_what_its_server_takes(
    operator: str, index: VectorIndex, capabilities: Capabilities, taken: set[str]
):
    given = condition(operator)
    found = split([given], index, capabilities, TYPES)

    assert found == (Split(inside=(given,)) if operator in taken else Split(outside=(given,)))


@pytest.mark.parametrize("operator", ALL_OPERATORS)
def test_a_property_that_is_not_in_the_index_is_checked_outside(operator: str):
    given = condition(operator, "elsewhere")
    assert split([given], NODES, NEWEST, TYPES) == Split(outside=(given,))


@pytest.mark.parametrize(
    ("operators", "inside", "outside"),
    [
        ((">", "<"), [">", "<"], []),
        ((">=", "<="), [">=", "<="], []),
        (("=", ">"), ["="], [">"]),
        ((">", "="), [">"], ["="]),
        (("IN", ">"), ["IN"], [">"]),
        ((">", "IN"), [">"], ["IN"]),
        (("IS NOT NULL", ">"), ["IS NOT NULL"], [">"]),
        (("IN", "="), ["IN"], ["="]),
        (("<>", ">"), [">"], ["<>"]),
        (("CONTAINS", "="), ["="], ["CONTAINS"]),
    ],
)
def test_the_index_gets_one_value_or_one_range_of_a_property(
    operators: tuple[str, ...], inside: list[str], outside: list[str]
):
    assert sides(split([condition(one) for one in operators], NODES, NEWEST, TYPES)) == (inside, outside)


def test_two_values_of_one_property_are_both_checked():
    both = [Condition("year", "=", 1), Condition("year", "=", 2)]
    assert split(both, NODES, NEWEST, TYPES) == Split(inside=(both[0],), outside=(both[1],))


def test_several_properties_are_split_each_by_itself():
    given = [condition("=", "lang"), condition(">", "year"), condition("=", "elsewhere"), condition("<>", "ok")]
    assert split(given, NODES, NEWEST, TYPES) == Split(inside=tuple(given[:2]), outside=tuple(given[2:]))


@pytest.mark.parametrize(("prop", "fits"), [("number", True), ("mixed", False), ("unseen", True)])
def test_mixed_types_go_inside_only_if_they_are_numbers(prop: str, fits: bool):  # noqa: FBT001
    index = replace(NODES, filter_properties=(prop,))
    found = split([condition("=", prop)], index, NEWEST, TYPES)
    assert bool(found.inside) is fits
    assert len(found.inside) + len(found.outside) == 1


def test_each_condition_has_a_parameter_of_its_own_and_a_null_check_none():
    found = Split(
        inside=(Condition("year", ">", 1), Condition("year", "<", 9)),
        outside=(Condition("a", "IS NULL"), Condition("b", "CONTAINS", "x")),
    )
    assert found.parameters == {"filter_inside_0": 1, "filter_inside_1": 9, "filter_outside_1": "x"}
    assert all(is_reserved(name) for name in found.parameters)


INSIDE = (Condition("lang", "=", MARKER), Condition("year", ">=", MARKER), Condition("year", "<", MARKER))


def test_the_index_checks_its_conditions_within_the_search_clause():
    assert vector_search(NODES, RetrievalQuery("RETURN 1"), "search", INSIDE).text.split("\n") == [
        "CYPHER 25",
        "MATCH (node)",
        (
            "SEARCH node IN (VECTOR INDEX `docs` FOR $query_vector WHERE node.`lang` = $filter_inside_0 "
            "AND node.`year` >= $filter_inside_1 AND node.`year` < $filter_inside_2 LIMIT $candidates) SCORE AS score"
        ),
        "WITH node, score ORDER BY score DESC LIMIT $top_k",
        "RETURN 1",
    ]


def test_a_pool_is_filtered_after_the_index():
    conditions = Split(inside=INSIDE[:1], outside=(Condition("title", "CONTAINS", MARKER), Condition("n", "IS NULL")))
    assert pool(RELATIONSHIPS, "search", conditions).split("\n") == [
        "CYPHER 25",
        "WITH $query_vector AS query_vector",
        "CALL (query_vector) {",
        "MATCH ()-[relationship:`SAYS`|`ASKS`]->()",
        (
            "SEARCH relationship IN (VECTOR INDEX `says` FOR query_vector "
            "WHERE relationship.`lang` = $filter_inside_0 LIMIT $candidates) SCORE AS score"
        ),
        ("WITH relationship, score WHERE relationship.`title` CONTAINS $filter_outside_0 AND relationship.`n` IS NULL"),
        "WITH elementId(relationship) AS id, score AS score ORDER BY score DESC",
        "RETURN collect([id, score]) AS hits",
        "}",
        "RETURN size(hits) AS matched, hits[..$top_k] AS hits, query_vector",
    ]


def test_a_pool_without_the_clause_calls_the_procedure():
    lines = pool(NODES, "procedure", Split(outside=(Condition("year", "=", 1),))).split("\n")
    assert lines[:5] == [
        "WITH $query_vector AS query_vector",
        "CALL (query_vector) {",
        "CALL db.index.vector.queryNodes($index_name, $candidates, query_vector) YIELD node, score",
        "WITH node, score WHERE node.`year` = $filter_outside_0",
        ("WITH elementId(node) AS id, vector.similarity.cosine(node.`emb`, query_vector) AS score ORDER BY score DESC"),
    ]


@pytest.mark.parametrize(
    ("vector", "head"),
    [
        ("ai.text.embed($query_text, $provider)", ["CYPHER 25"]),
        ("genai.vector.encode($query_text, $provider)", []),
    ],
)
def test_a_vector_that_the_database_makes_is_made_once_and_told(vector: str, head: list[str]):
    text = pool(NODES, "procedure", Split(outside=(Condition("year", "=", 1),)), vector)
    assert text.split("\n")[: len(head) + 1] == [*head, f"WITH {vector} AS query_vector"]
    assert text.count(vector) == 1
    assert text.endswith(", query_vector")


def test_a_pool_without_conditions_outside_has_no_filter_after_the_index():
    text = pool(NODES, "search", Split(inside=INSIDE[:1]))
    assert "WITH node, score WHERE" not in text
    assert "WHERE node.`lang` = $filter_inside_0 LIMIT $candidates" in text


@pytest.mark.parametrize("scan", [bounded_scan, full_scan])
def test_a_scan_checks_all_conditions_and_skips_what_has_no_comparable_vector(scan: Callable[..., str]):
    conditions = Split(inside=INSIDE[:1], outside=(Condition("title", "ENDS WITH", MARKER),))
    lines = scan(NODES, conditions).split("\n")
    assert lines[:2] == [
        "MATCH (node:`Doc`)",
        (
            "WHERE node.`lang` = $filter_inside_0 AND node.`title` ENDS WITH $filter_outside_0 "
            "AND node.`emb` IS NOT NULL AND size(node.`emb`) = size($query_vector) AND node.`emb` <> $zero_vector"
        ),
    ]
    assert "vector.similarity.cosine(node.`emb`, $query_vector)" in "\n".join(lines)


@pytest.mark.parametrize("scan", [bounded_scan, full_scan])
def test_a_scan_compares_by_the_indexs_own_function(scan: Callable[..., str]):
    text = scan(replace(RELATIONSHIPS, similarity="euclidean"), Split(outside=(Condition("a", "=", 1),)))
    assert "vector.similarity.euclidean(relationship.`emb`, $query_vector)" in text
    assert "cosine" not in text
    assert "$zero_vector" not in text, "a zero vector has a distance"
    assert "()-[relationship:`SAYS`|`ASKS`]->()" in text


@pytest.mark.parametrize("scan", [bounded_scan, full_scan])
def test_a_strict_scan_takes_lists_of_finite_numbers_and_vectors_of_the_same_length(scan: Callable[..., str]):
    text = scan(NODES, Split(outside=(Condition("a", "=", 1),)), strict=True)
    assert (
        "CASE WHEN valueType(node.`emb`) STARTS WITH 'LIST<FLOAT NOT NULL>' "
        "OR valueType(node.`emb`) STARTS WITH 'LIST<INTEGER NOT NULL>' "
        "THEN size(node.`emb`) = size($query_vector) AND all(x IN node.`emb` WHERE -1.0e308 < x < 1.0e308) "
        "ELSE valueType(node.`emb`) STARTS WITH 'VECTOR<' "
        "AND valueType(node.`emb`) CONTAINS '(' + toString(size($query_vector)) + ')' END"
    ) in text


def test_a_bounded_scan_takes_one_more_than_its_bound():
    text = bounded_scan(NODES, Split(outside=(Condition("a", "=", 1),)))
    assert "WITH node LIMIT $bound + 1\n" in text
    assert "CASE WHEN size(found) > $bound THEN [] ELSE COLLECT {" in text


def test_a_value_within_spans_is_between_two_bounds_or_is_the_value():
    text = full_scan(NODES, Split(outside=(Condition("w", WITHIN, []), Condition("w", NOT_WITHIN, []))))
    meets = "any(span IN ${} WHERE (node.`w` >= span[0] AND node.`w` < span[1]) OR node.`w` = span[2])"
    assert meets.format("filter_outside_0") in text
    assert f"node.`w` IS NOT NULL AND NOT coalesce({meets.format('filter_outside_1')}, false)" in text


@pytest.mark.parametrize(
    ("index", "clause", "language", "head"),
    [
        (NODES, "search", None, ["CYPHER 25", "UNWIND $hits AS hit", "MATCH (node) WHERE elementId(node) = hit[0]"]),
        (NODES, "procedure", None, ["UNWIND $hits AS hit", "MATCH (node) WHERE elementId(node) = hit[0]"]),
        (
            RELATIONSHIPS,
            "procedure",
            "5",
            [
                "CYPHER 5",
                "UNWIND $hits AS hit",
                "MATCH ()-[relationship]->() WHERE elementId(relationship) = hit[0]",
            ],
        ),
    ],
)
def test_entities_that_are_found_are_handed_to_the_retrieval_query(
    index: VectorIndex, clause: Clause, language: str | None, head: list[str]
):
    statement = retrieval(index, RetrievalQuery("RETURN 1\n, 2", language), clause)
    lines = statement.text.split("\n")
    assert lines[:-3] == head
    assert lines[-3] == f"WITH {index.variable}, hit[1] AS score ORDER BY score DESC"
    assert lines[statement.first_line - 1 :] == ["RETURN 1", ", 2"]


ODD_NAMES = (
    "with spaces",
    "with.dots",
    "a` OR true //",
    "x` IS NULL}) DETACH DELETE (n) //",
    "``",
    "'\"\\`",
    "new\nline",
    "$query_vector",
    "ümläut 千",
)
QUOTED = re.compile(r"`(?:``|[^`])*`")


def unquoted(name: str) -> str:
    """Return a name as Cypher reads it: a backtick is doubled, a backslash would begin an escape."""
    return name[1:-1].replace("``", "`").replace(r"\u005C", "\\")


def every_statement(index: VectorIndex, conditions: Split) -> list[str]:
    query = default_query(index)
    return [
        *(pool(index, clause, conditions) for clause in ("search", "procedure")),
        *(scan(index, conditions, strict=strict) for scan in (bounded_scan, full_scan) for strict in (False, True)),
        *(retrieval(index, query, clause).text for clause in ("search", "procedure")),
        vector_search(index, query, "search", conditions.inside).text,
        vector_search(index, query, "procedure").text,
    ]


@pytest.mark.parametrize("variable", ["node", "relationship"])
@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_name_is_quoted_in_every_statement(name: str, variable: Any):
    plain, odd = (
        replace(
            NODES,
            name=f"i{part}",
            variable=variable,
            labels=(f"a{part}", f"b{part}"),
            property=f"e{part}",
            filter_properties=(f"f{part}",),
        )
        for part in ("", name)
    )
    for operator in ALL_OPERATORS:
        in_plain, in_odd = (
            Split(inside=(condition("=", f"f{part}"),), outside=(condition(operator, f"o{part}"),))
            for part in ("", name)
        )
        for expected, found in zip(every_statement(plain, in_plain), every_statement(odd, in_odd), strict=True):
            assert QUOTED.sub("``", found) == QUOTED.sub("``", expected), "outside of quotes nothing differs"
            assert [unquoted(quoted) for quoted in QUOTED.findall(found)] == [
                quoted[1:-1] + name for quoted in QUOTED.findall(expected)
            ]


@pytest.mark.parametrize("index", [NODES, RELATIONSHIPS], ids=["nodes", "relationships"])
def test_no_value_of_a_caller_is_in_any_statement(index: VectorIndex):
    for one, other in itertools.product(ALL_OPERATORS, repeat=2):
        found = split([condition(one, "lang"), condition(other, "elsewhere")], index, NEWEST, TYPES)
        used = found.parameters
        for text in every_statement(index, found):
            assert "mArKeR" not in text
        assert set(re.findall(r"\$(filter_\w+)", pool(index, "search", found))) == set(used)
        assert set(re.findall(r"\$(filter_\w+)", full_scan(index, found))) == set(used)


@pytest.mark.parametrize(
    ("quantised", "top_k", "least", "ratio", "expected"),
    [
        (True, 1, None, 1, 120),
        (True, 50, None, 1, 600),
        (False, 1, None, 1, 60),
        (False, 50, None, 1, 300),
        (True, 10, 30, 1, 30),
        (True, 50, 30, 1, 50),
        (True, 10, 30, 7, 70),
        (True, 10_000, None, 5, 10_000),
    ],
)
def test_candidates_are_more_where_the_index_is_quantised(
    quantised: bool,  # noqa: FBT001
    top_k: int,
    least: int | None,
    ratio: int,
    expected: int,
):
    assert candidates(top_k, replace(NODES, quantised=quantised), least, ratio) == expected
