"""Every full-text and hybrid statement that the builders can make is one that the server takes, and only reads."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, IndexPair, read_indexes
from mcp_neo4j_vector_graphrag.database.sample import fulltext_sample_statement
from mcp_neo4j_vector_graphrag.retrieval import fulltext_statement, hybrid_statement, statement
from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
from mcp_neo4j_vector_graphrag.retrieval.statement import RetrievalQuery

if TYPE_CHECKING:
    from graphs import Sightings
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause

CONDITIONS = (Condition("year", ">", 1985), Condition("lang", "IN", ["en"]), Condition("mood", "CONTAINS", "a"))
OWN = "WITH *, 1 AS one RETURN 'x' AS text, score, vector_score, vector_rank, text_score, text_rank, one"


@pytest.fixture(params=["node", "relationship"])
def pair(request: pytest.FixtureRequest, database: Database, sightings: Sightings) -> IndexPair:
    indexes = read_indexes(database)
    names = {
        "node": (sightings.notes, sightings.note_texts),
        "relationship": (sightings.sayings, sightings.saying_texts),
    }
    return indexes.searchable_pair(*names[request.param])


def clauses(database: Database) -> list[tuple[Clause, Clause]]:
    found: list[tuple[Clause, Clause]] = [("procedure", "procedure")]
    if database.capabilities.search_clause:
        found.append(("search", "procedure"))
    if database.capabilities.fulltext_search_clause:
        found.append(("search", "search"))
    return found


def operators(plan: Any) -> set[str]:
    return {plan["operatorType"].partition("@")[0]}.union(*(operators(child) for child in plan.get("children", [])))


def explain(database: Database, text: str) -> set[str]:
    summary = database.explain(text)
    assert summary.query_type == "r", text
    assert summary.plan
    return operators(summary.plan)


def test_each_fulltext_statement_is_taken(database: Database, pair: IndexPair):
    index: FulltextIndex = pair.fulltext
    for _, clause in clauses(database):
        for query in (RetrievalQuery("RETURN 'x' AS text, score"), statement.entity_query(index.variable, ["emb"])):
            explain(database, fulltext_statement.fulltext_search(index, query, clause).text)
            explain(database, statement.retrieval(index, query, clause).text)
        explain(database, fulltext_statement.pool(index, clause, CONDITIONS))
    explain(database, fulltext_sample_statement(index))


def test_each_hybrid_statement_is_taken_and_scans_nothing(database: Database, pair: IndexPair):
    givens: list[tuple[hybrid_statement.Half, ...]] = [(), ("vector",), ("text",), ("vector", "text")]
    queries = [hybrid_statement.default_query(pair), RetrievalQuery(OWN), RetrievalQuery.parse(f"CYPHER 5 {OWN};")]
    for clause, ranker, given, query in itertools.product(clauses(database), hybrid_statement.RANKERS, givens, queries):
        if query.language == "5" and "search" in clause:
            continue
        inside = CONDITIONS[:2] if clause[0] == "search" else ()
        text = hybrid_statement.hybrid_search(pair, query, clause, ranker, inside=inside, given=given).text
        assert {name for name in explain(database, text) if "Scan" in name} == set()


def test_what_is_not_online_everywhere_is_told_apart(database: Database, pair: IndexPair):
    assert (("search", "search") in clauses(database)) == database.capabilities.fulltext_search_clause
    assert pair.fulltext.properties == ("text",)
    assert pair.fulltext.analyzer == "standard-no-stop-words"
