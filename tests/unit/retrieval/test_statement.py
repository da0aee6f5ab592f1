"""From an index and a retrieval query to one Cypher statement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex
from mcp_neo4j_vector_graphrag.retrieval.statement import (
    MAX_CANDIDATES,
    RetrievalQuery,
    candidates,
    default_query,
    vector_search,
)

NODES = VectorIndex(
    name="docs",
    variable="node",
    labels=("Doc",),
    property="emb",
    filter_properties=(),
    dimensions=3,
    similarity="cosine",
    state="ONLINE",
)
RELATIONSHIPS = replace(NODES, variable="relationship", labels=("SAYS", "ASKS"))
QUERY = RetrievalQuery("RETURN node.text AS text, score")


@pytest.mark.parametrize(
    ("written", "text", "language"),
    [
        ("RETURN 1", "RETURN 1", None),
        ("RETURN 1 ; ;\n", "RETURN 1", None),
        (r"MATCH (node)\nRETURN 'a\nb'", "MATCH (node)\nRETURN 'a\\nb'", None),
        ("CYPHER 25 RETURN 1", "          RETURN 1", "25"),
        ("cypher 5\nRETURN 1", "        \nRETURN 1", "5"),
        ("CYPHER RETURN 1", "       RETURN 1", None),
        ("// first\nCYPHER 25 RETURN 1", "// first\n          RETURN 1", "25"),
        ("RETURN 1 // done;", "RETURN 1 // done", None),
        ("RETURN cypher 5", "RETURN cypher 5", None),
        ("", "", None),
    ],
)
def test_a_query_is_read_as_people_write_it(written: str, text: str, language: str | None):
    parsed = RetrievalQuery.parse(written)
    assert (parsed.text, parsed.language) == (text, language)


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("RETURN node.text AS text ORDER BY node.year", True),
        ("RETURN node.text AS text\norder  by node.year", True),
        ("RETURN node.text AS text", False),
        ("RETURN 'ORDER BY' AS text // ORDER BY x", False),
        ("RETURN node.`ORDER BY` AS text", False),
        ("WITH node, score ORDER BY score DESC MATCH (node)--(x) RETURN x.name AS text, max(score) AS score", False),
        ("RETURN COLLECT { MATCH (node)--(x) RETURN x.name ORDER BY x.name LIMIT 3 } AS text, score", False),
        ("CALL (node) { MATCH (node)--({a: 1})--(x) RETURN x ORDER BY x.a } RETURN x.name AS text, score", False),
        ("RETURN {a: {b: score}} AS text ORDER BY node.return", True),
    ],
)
def test_only_the_last_return_orders_the_rows(text: str, *, orders: bool):
    assert RetrievalQuery(text).orders_rows is orders


def test_never_more_candidates_than_the_server_gives():
    assert candidates(10_000, NODES, ratio=1_000) == MAX_CANDIDATES == 10_000


def test_the_search_clause_is_written_in_cypher_25():
    assert vector_search(NODES, QUERY, "search").text.split("\n") == [
        "CYPHER 25",
        "MATCH (node)",
        "SEARCH node IN (VECTOR INDEX `docs` FOR $query_vector LIMIT $candidates) SCORE AS score",
        "WITH node, score ORDER BY score DESC LIMIT $top_k",
        "RETURN node.text AS text, score",
    ]


def test_a_relationship_is_matched_in_one_direction_and_by_all_types():
    assert vector_search(RELATIONSHIPS, QUERY, "search").text.split("\n")[1:3] == [
        "MATCH ()-[relationship:`SAYS`|`ASKS`]->()",
        "SEARCH relationship IN (VECTOR INDEX `docs` FOR $query_vector LIMIT $candidates) SCORE AS score",
    ]


@pytest.mark.parametrize(
    ("index", "call"),
    [
        (NODES, "CALL db.index.vector.queryNodes($index_name, $candidates, $query_vector) YIELD node, score"),
        (
            RELATIONSHIPS,
            (
                "CALL db.index.vector.queryRelationships($index_name, $candidates, $query_vector) "
                "YIELD relationship, score"
            ),
        ),
    ],
)
def test_the_procedure_needs_no_prefix(index: VectorIndex, call: str):
    assert vector_search(index, QUERY, "procedure").text.split("\n") == [
        call,
        f"WITH {index.variable}, score ORDER BY score DESC LIMIT $top_k",
        "RETURN node.text AS text, score",
    ]


@pytest.mark.parametrize("language", ["5", "25"])
def test_the_querys_own_language_is_the_whole_statements(language: str):
    query = RetrievalQuery.parse(f"CYPHER {language} RETURN 1")
    assert vector_search(NODES, query, "procedure").text.startswith(f"CYPHER {language}\nCALL ")


@pytest.mark.parametrize("clause", ["search", "procedure"])
@pytest.mark.parametrize("language", [None, "25"])
def test_the_first_line_is_where_the_retrieval_query_begins(clause, language: str | None):
    statement = vector_search(NODES, RetrievalQuery("RETURN 1\n, 2", language), clause)
    assert statement.text.split("\n")[statement.first_line - 1 :] == ["RETURN 1", ", 2"]


def test_odd_names_are_quoted():
    odd = replace(NODES, name="a` LIMIT 1 //", property="a` OR true //")
    assert "VECTOR INDEX `a`` LIMIT 1 //` FOR" in vector_search(odd, QUERY, "search").text
    assert "`a`` OR true //`: CASE WHEN valueType(node.`a`` OR true //`) STARTS" in default_query(odd).text
    types = replace(RELATIONSHIPS, labels=("IS `IT`", "B C"))
    assert "[relationship:`IS ``IT```|`B C`]" in vector_search(types, QUERY, "search").text
