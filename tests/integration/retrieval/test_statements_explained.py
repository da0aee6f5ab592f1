"""Every statement that the builder can make is one that the server takes; what a server can't have is told apart."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from neo4j.exceptions import Neo4jError

from graphs import remove, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex, read_indexes
from mcp_neo4j_vector_graphrag.retrieval.filters import NOT_IN, NOT_WITHIN, OPERATORS, WITHIN, Condition, merge
from mcp_neo4j_vector_graphrag.retrieval.statement import (
    RetrievalQuery,
    Split,
    bounded_scan,
    default_query,
    full_scan,
    pool,
    retrieval,
    split,
    vector_search,
)
from servers import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_neo4j_vector_graphrag.retrieval.statement import Clause
    from servers import Neo4jServer

ALL_OPERATORS = (*OPERATORS, WITHIN, NOT_WITHIN, NOT_IN)
INSIDE_THE_INDEX = {"=", "<", "<=", ">", ">=", "IN", "IS NULL", "IS NOT NULL"}
INDEXED, OTHER = "in `x`", "out of.it"
"""A property that the newest release's indexes hold, and one that they don't; with characters that need quotes."""

OWN = {
    "node": "MATCH (node)-[r]-(other) RETURN node.text AS text, score, collect(other.name) AS metadata, $query_text",
    "relationship": "RETURN relationship.text AS text, score, startNode(relationship).name AS metadata",
}


@dataclass(frozen=True)
class Made:
    """The indexes to explain against."""

    node: VectorIndex
    relationship: VectorIndex
    has_search: bool

    @property
    def clause(self) -> Clause:
        return "search" if self.has_search else "procedure"

    def of(self, variable: str) -> VectorIndex:
        return self.node if variable == "node" else self.relationship


@contextmanager
def indexes(server: Neo4jServer, database: Database) -> Iterator[Made]:
    """Create an index on nodes and one on relationships, with odd names, on the newest release with filters."""
    newest = server.version == "2026.09.0"
    label, kind, nodes, relationships = (f"{unique(part)} `.'" for part in ("Doc", "SAYS", "docs", "says"))
    for name, pattern in ((nodes, f"(e:{quoted(label)})"), (relationships, f"()-[e:{quoted(kind)}]-()")):
        within = f"WITH [e.{quoted(INDEXED)}]" if newest else ""
        server.query(
            f"{'CYPHER 25 ' if newest else ''}CREATE VECTOR INDEX {quoted(name)} FOR {pattern} ON e.`em b` {within} "
            "OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'euclidean'}}"
        )
    # In an empty graph the planner takes a scan for as cheap as anything.
    server.query(f"UNWIND range(1, 20) AS i CREATE (:{quoted(label)})-[:{quoted(kind)}]->(:{quoted(label)})")
    server.query("CALL db.awaitIndexes()")
    found = read_indexes(database).vector
    yield Made(found[nodes], found[relationships], newest)
    remove(server, label, indexes=[nodes, relationships])


@pytest.fixture(scope="module")
def made(database: Database, neo4j_server: Neo4jServer) -> Iterator[Made]:
    with indexes(neo4j_server, database) as created:
        yield created


@pytest.fixture(scope="module")
def newest(neo4j_2026: Neo4jServer) -> Iterator[tuple[Database, Made]]:
    """Return the way to the release that filters inside an index, and the indexes there."""
    opened = Database(open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password), neo4j_2026.database)
    with indexes(neo4j_2026, opened) as created:
        yield opened, created
    opened.close()


def condition(operator: str, prop: str) -> Condition:
    values: dict[str, Any] = {"IN": [], WITHIN: [], NOT_WITHIN: [], NOT_IN: [], "<": 5, "<=": 5}
    return Condition(prop, operator, values.get(operator, 1))


def queries(index: VectorIndex) -> list[RetrievalQuery]:
    own = OWN[index.variable]
    return [default_query(index), RetrievalQuery(own), RetrievalQuery.parse(f"CYPHER 5 {own};")]


@pytest.mark.parametrize(
    ("variable", "operator"),
    [
        *(("node", operator) for operator in ALL_OPERATORS),
        *(("relationship", operator) for operator in sorted(INSIDE_THE_INDEX)),
    ],
)
def test_each_condition_is_taken_where_it_is_put(newest: tuple[Database, Made], variable: str, operator: str):
    database, index = newest[0], newest[1].of(variable)
    conditions = split([condition(operator, INDEXED)], index, database.capabilities, {INDEXED: ("INTEGER",)})
    assert bool(conditions.inside) == (operator in INSIDE_THE_INDEX)

    texts = [pool(index, "search", conditions)]
    if conditions.inside:
        texts += [vector_search(index, RetrievalQuery(OWN[variable]), "search", conditions.inside).text]
    else:  # the scans are for what the index can't check
        texts += [bounded_scan(index, conditions), full_scan(index, conditions)]
    for text in texts:
        assert database.explain(text).query_type == "r", text


@pytest.mark.parametrize("variable", ["node", "relationship"])
def test_conditions_of_every_operator_go_together(database: Database, made: Made, variable: str):
    index = made.of(variable)
    both = [condition("=", INDEXED), *(condition(operator, OTHER) for operator in ALL_OPERATORS)]
    conditions = split(both, index, database.capabilities, {})
    assert len(conditions.inside) == int(made.has_search)
    for text in (
        pool(index, made.clause, conditions),
        *(scan(index, conditions, strict=strict) for scan in (bounded_scan, full_scan) for strict in (False, True)),
    ):
        assert database.explain(text).query_type == "r", text


@pytest.mark.parametrize("variable", ["node", "relationship"])
def test_each_statement_without_a_condition_is_taken(database: Database, made: Made, variable: str):
    index = made.of(variable)
    assert database.explain(pool(index, made.clause, Split())).query_type == "r"
    for query in queries(index):
        clause: Clause = "procedure" if query.language == "5" else made.clause
        for text in (vector_search(index, query, clause).text, retrieval(index, query, clause).text):
            assert database.explain(text).query_type == "r", text


@pytest.mark.parametrize("variable", ["node", "relationship"])
def test_the_clause_is_taken_by_the_newest_release_only(database: Database, made: Made, variable: str):
    index = made.of(variable)
    conditions = Split(inside=(condition("=", INDEXED),))
    for text in (vector_search(index, default_query(index), "search").text, pool(index, "search", conditions)):
        if made.has_search:
            assert database.explain(text).plan
        else:
            assert_refused(database, text)


def test_each_pair_of_conditions_on_one_property_is_taken_inside_the_index(newest: tuple[Database, Made]):
    database, index = newest[0], newest[1].node
    for first, second in itertools.combinations_with_replacement(sorted(INSIDE_THE_INDEX), 2):
        both = merge([condition(first, INDEXED), condition(second, INDEXED)])
        conditions = split(both, index, database.capabilities, {INDEXED: ("INTEGER",)})
        assert len(conditions.inside) + len(conditions.outside) == len(both)
        assert database.explain(pool(index, "search", conditions)).plan


@pytest.mark.parametrize("operator", ALL_OPERATORS)
def test_what_is_kept_outside_is_what_the_index_refuses(newest: tuple[Database, Made], operator: str):
    database, index = newest[0], newest[1].node
    text = vector_search(index, default_query(index), "search", [condition(operator, INDEXED)]).text
    if operator in INSIDE_THE_INDEX:
        assert database.explain(text).plan
    else:
        assert_refused(database, text)


def assert_refused(database: Database, text: str) -> None:
    with pytest.raises(Neo4jError) as caught:
        database.explain(text)
    assert str(caught.value.code).startswith("Neo.ClientError.Statement.")


def operators(plan: Any) -> set[str]:
    """Return the names of a plan's operators, without the runtime's suffix."""
    return {plan["operatorType"].partition("@")[0]}.union(*(operators(child) for child in plan.get("children", [])))


@pytest.mark.parametrize("variable", ["node", "relationship"])
def test_entities_that_are_found_are_sought_by_their_ids(database: Database, made: Made, variable: str):
    index = made.of(variable)
    plan = database.explain(retrieval(index, default_query(index), made.clause).text).plan

    assert plan
    assert {name for name in operators(plan) if "Scan" in name} == set()
    assert {name for name in operators(plan) if name.endswith("ByElementIdSeek")}


@pytest.mark.parametrize("scan", [bounded_scan, full_scan])
@pytest.mark.parametrize("variable", ["node", "relationship"])
def test_an_exact_scan_looks_at_the_indexs_own_entities_only(database: Database, made: Made, variable: str, scan: Any):
    plan = database.explain(scan(made.of(variable), Split(outside=(condition("=", OTHER),)))).plan

    assert plan
    assert not operators(plan) & {"AllNodesScan", "DirectedAllRelationshipsScan", "UndirectedAllRelationshipsScan"}
