"""From a vector index and a full-text index to one Cypher statement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, Indexes, IndexPair, VectorIndex
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
from mcp_neo4j_vector_graphrag.retrieval.fulltext_statement import candidates, fulltext_search, pool
from mcp_neo4j_vector_graphrag.retrieval.hybrid_statement import default_query, hybrid_search
from mcp_neo4j_vector_graphrag.retrieval.statement import RetrievalQuery

VECTORS = VectorIndex(
    name="docs",
    variable="node",
    labels=("Doc",),
    property="emb",
    filter_properties=(),
    dimensions=3,
    similarity="cosine",
    state="ONLINE",
)
TEXTS = FulltextIndex(
    name="te`xts", variable="node", labels=("Note", "Doc"), properties=("text",), analyzer="english", state="ONLINE"
)
SAYINGS = replace(TEXTS, variable="relationship", labels=("SAYS", "ASKS"))
PAIR = IndexPair(VECTORS, TEXTS)
QUERY = RetrievalQuery("RETURN node.text AS text, score")


def test_the_search_clause_of_a_fulltext_index_is_written_in_cypher_25():
    assert fulltext_search(TEXTS, QUERY, "search").text.split("\n") == [
        "CYPHER 25",
        "MATCH (node)",
        "SEARCH node IN (FULLTEXT INDEX `te``xts` FOR $fulltext_query LIMIT $top_k) SCORE AS score",
        "WITH node, score ORDER BY score DESC LIMIT $top_k",
        "RETURN node.text AS text, score",
    ]


def test_a_relationship_is_matched_in_one_direction_and_by_all_types():
    text = fulltext_search(SAYINGS, QUERY, "search").text
    assert text.split("\n")[1] == "MATCH ()-[relationship:`SAYS`|`ASKS`]->()"


def test_the_procedure_takes_the_name_as_a_parameter():
    assert pool(TEXTS, "procedure", [Condition("a b", "=", 1)]).split("\n") == [
        (
            "CALL db.index.fulltext.queryNodes($fulltext_index_name, $fulltext_query, {limit: $fulltext_candidates}) "
            "YIELD node, score"
        ),
        (
            "WITH CASE WHEN node.`a b` = $filter_outside_0 THEN [elementId(node), score] END AS hit, score "
            "ORDER BY score DESC"
        ),
        "WITH count(*) AS looked_at, collect(hit) AS hits",
        "RETURN looked_at, hits[..$fulltext_wanted] AS hits",
    ]


@pytest.mark.parametrize(("top_k", "expected"), [(1, 100), (10, 100), (50, 500), (10_000, 10_000)])
def test_the_texts_that_are_ranked_are_more_than_are_returned(top_k: int, expected: int):
    assert candidates(top_k) == expected


@pytest.mark.parametrize("given", [(), ("vector",), ("text",), ("vector", "text")])
def test_the_first_line_is_where_the_retrieval_query_begins(given):
    statement = hybrid_search(PAIR, RetrievalQuery("RETURN 1\n, 2"), ("search", "search"), "rrf", given=given)
    assert statement.text.split("\n")[statement.first_line - 1 :] == ["RETURN 1", ", 2"]


def test_what_is_given_is_not_searched_for():
    text = hybrid_search(PAIR, QUERY, ("procedure", "procedure"), "linear", given=("vector",)).text
    assert "$hybrid_vector_hits" in text
    assert "db.index.vector" not in text
    assert "db.index.fulltext" in text
    assert "$hybrid_text_hits" not in text


def test_the_default_query_tells_all_scores_and_no_vector():
    assert default_query(PAIR).text == (
        "RETURN node {.*, `emb`: CASE WHEN valueType(node.`emb`) STARTS WITH 'LIST<FLOAT' "
        "OR valueType(node.`emb`) STARTS WITH 'LIST<INTEGER' OR valueType(node.`emb`) STARTS WITH 'VECTOR' "
        "THEN null ELSE node.`emb` END} AS doc, {id: elementId(node), labels: labels(node), "
        "vector_score: vector_score, vector_rank: vector_rank, text_score: text_score, text_rank: text_rank} "
        "AS metadata, score"
    )


def test_a_pair_shares_a_label():
    known = Indexes({"docs": VECTORS}, {"texts": TEXTS, "says": SAYINGS})
    assert known.searchable_pair("docs", "texts") == PAIR
    assert known.vectors_of(TEXTS) == ("emb",)
    assert known.vectors_of(SAYINGS) == ()
    with pytest.raises(SetupError) as caught:
        known.searchable_pair("docs", "says")
    assert str(caught.value) == (
        "The vector index 'docs' is on nodes Doc and the full-text index 'te`xts' is on relationships SAYS, ASKS: "
        "choose two indexes on the same label or type."
    )
