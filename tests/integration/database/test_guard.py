"""The guard against the plans of real servers: what they run in a READ session, and yet must not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from neo4j.exceptions import ClientError

from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.guard import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer

LOAD = "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line"


@pytest.fixture(scope="module")
def database(neo4j_server: Neo4jServer) -> Iterator[Database]:
    """The product's own way to the server."""
    opened = Database(
        open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password), neo4j_server.database
    )
    yield opened
    opened.close()


def judged(database: Database, query: str, text: str | None = None) -> str | None:
    """Return what the guard says of a query behind a search; `text` stands in for the query's own words."""
    summary = database.explain(f"MATCH (node) WITH node, 1.0 AS score LIMIT 5\n{query}")
    return refusal(summary.query_type, summary.plan or {}, query if text is None else text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (LOAD, "LOAD CSV"),
        (f"RETURN CASE WHEN score > 0 THEN COLLECT {{ {LOAD} }} END AS text", "LOAD CSV"),
        (f"RETURN [x IN [1] | COUNT {{ {LOAD} }}] AS text", "LOAD CSV"),
        (f"RETURN reduce(a = 0, x IN [1] | a + COUNT {{ {LOAD} }}) AS text", "LOAD CSV"),
        (f"WITH node WHERE EXISTS {{ {LOAD} }} RETURN node", "LOAD CSV"),
        (f"RETURN any(x IN [1] WHERE EXISTS {{ {LOAD} }}) AS text", "LOAD CSV"),
        (f"MATCH (node)-->(x WHERE COUNT {{ {LOAD} }} > 0) RETURN x", "LOAD CSV"),
        (f"RETURN {{a: [COLLECT {{ {LOAD} }}]}} AS text", "LOAD CSV"),
        (f"CALL {{ {LOAD} }} RETURN line", "LOAD CSV"),
        (f"RETURN score AS text UNION {LOAD.replace('RETURN line', 'RETURN line AS text')}", "LOAD CSV"),
        (f"RETURN node.text ORDER BY COUNT {{ {LOAD} }}", "LOAD CSV"),
        (r"RETURN COUNT { \u004cOAD CSV FROM 'file:///etc/hostname' AS line RETURN line } AS text", "LOAD CSV"),
        (r"RETURN [x IN [1] | COUNT { L\u004FAD CSV FROM 'x' AS line RETURN line }] AS text", "LOAD CSV"),
        ("RETURN COUNT { LOAD/* */CSV FROM 'file:///etc/hostname' AS line RETURN line } AS text", "LOAD CSV"),
        (r"RETURN 'a\u0027 AS text, COUNT { LOAD CSV FROM \u0022x\u0022 AS line RETURN line } AS `b'`", "LOAD CSV"),
        ("CALL dbms.listConfig() YIELD name RETURN name", "the procedure dbms.listConfig"),
        ("CALL `dbms`.`listConfig`() YIELD name RETURN name", "the procedure dbms.listConfig"),
        ("CALL dbms . listConfig() YIELD name RETURN name", "the procedure dbms.listConfig"),
        ("RETURN COLLECT { CALL dbms.listConfig() YIELD name RETURN name } AS text", "the procedure dbms.listConfig"),
        (
            "RETURN [x IN [1] | COLLECT { CALL `dbms` . `listConfig`() YIELD name RETURN name }] AS text",
            "the procedure dbms.listConfig",
        ),
        (
            r"RETURN [x IN [1] | COLLECT { \u0043ALL \u0064bms.listConfig() YIELD name RETURN name }] AS text",
            "the procedure dbms.listConfig",
        ),
        (
            r"RETURN [x IN [1] | COLLECT { \u0043ALL d\u0062.stats.collect('QUERIES') YIELD section RETURN 1 }] AS t",
            "the procedure db.stats.collect",
        ),
        ("CALL db.clearQueryCaches() YIELD value RETURN value", "the procedure db.clearQueryCaches"),
        ("CALL db.stats.collect('QUERIES') YIELD section RETURN section", "the procedure db.stats.collect"),
        ("CALL dbms.killConnection('x') YIELD message RETURN message", "the procedure dbms.killConnection"),
        ("CALL db.createLabel('Made')", "the procedure db.createLabel"),
        ("CALL { WITH node MATCH (node)-->(x) RETURN x } IN TRANSACTIONS OF 10 ROWS RETURN x", "IN TRANSACTIONS"),
        ("CALL { WITH node CREATE (:Made) } IN TRANSACTIONS RETURN node", "IN TRANSACTIONS"),
        ("CALL (node) { MATCH (node)-->(x) RETURN x } IN 1 + 1 CONCURRENT TRANSACTIONS RETURN x", "IN TRANSACTIONS"),
        ("CREATE (:Made) RETURN node", "a clause that writes"),
        ("SET node.text = 'gone' RETURN node", "a clause that writes"),
        ("REMOVE node.text RETURN node", "a clause that writes"),
        ("DETACH DELETE node", "a clause that writes"),
        ("MERGE (:Made) RETURN node", "a clause that writes"),
        ("FOREACH (x IN [1] | CREATE (:Made)) RETURN node", "a clause that writes"),
        ("CALL { CREATE (x:Made) RETURN x } RETURN x", "a clause that writes"),
    ],
)
def test_a_query_that_does_more_than_read_is_refused(database: Database, query: str, expected: str):
    assert expected in (judged(database, query) or "")


@pytest.mark.parametrize(
    "query",
    [
        f"RETURN CASE WHEN score > 0 THEN COLLECT {{ {LOAD} }} END AS text",
        f"RETURN [x IN ['it\\'s', \"a \\\" b\"] | COUNT {{ {LOAD} }}] AS `odd ' name`",
        f"RETURN reduce(a = 0, x IN [1] | a + COUNT {{ MATCH (o {{`it's`: \"it's\"}}) {LOAD} }}) AS text",
        f"WITH node WHERE EXISTS {{ {LOAD} }} RETURN node",
        "RETURN [x IN [1] | COLLECT { CALL dbms.listConfig() YIELD name RETURN name }] AS text",
        "CALL `dbms`.listConfig() YIELD name RETURN name",
    ],
)
def test_the_plan_alone_gives_a_query_away(database: Database, query: str):
    assert judged(database, query, text="") is not None


@pytest.mark.parametrize(
    "query",
    [
        "SHOW SETTINGS YIELD name RETURN name",
        "RETURN COLLECT { SHOW SETTINGS YIELD name RETURN name } AS text",
        "TERMINATE TRANSACTIONS 'neo4j-transaction-1' YIELD message RETURN message",
        "CREATE INDEX made FOR (n:Made) ON n.x",
        "DROP INDEX made",
        "CREATE USER made SET PASSWORD 'hunter2-hunter2'",
        "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
        "RETURN 1 AS text; MATCH (n) DETACH DELETE n",
        "RETURN 1 AS text; RETURN 2 AS text",
        "CALL `dbms.listConfig`() YIELD name RETURN name",
    ],
)
def test_what_only_some_releases_take_is_refused_by_the_server_or_by_the_guard(database: Database, query: str):
    try:
        reason = judged(database, query)
    except ClientError as refused:
        assert str(refused.code).startswith("Neo.ClientError.")  # noqa: PT017 - either is right
        return
    assert reason is not None


@pytest.mark.parametrize(
    "query",
    [
        "RETURN 'LOAD CSV, SHOW INDEXES YIELD name, CALL dbms.listConfig()' AS text",
        'RETURN "it\'s // LOAD CSV" AS text',
        "RETURN node.text AS text // CALL dbms.listConfig()",
        "RETURN node.`LOAD CSV` AS `CALL dbms.listConfig()`",
        "OPTIONAL MATCH (node)-->(s:Show {show: 1}) RETURN s.load AS csv, s.show AS show",
        "MATCH (load:Load {load: 1}) RETURN load",
        "MATCH (node)-->(call:Call) WITH call MATCH (call)-->(x) RETURN x",
        "RETURN node.call AS text",
        "MATCH (call) WITH call, score ORDER BY call.at RETURN call",
        "MATCH (node)-[:CALL]->(x) RETURN x.terminate AS transactions",
        "WITH collect(node) AS transactions RETURN [t IN transactions | t.amount] AS text",
        "WITH node, [1, 2] AS transactions WHERE node.id IN transactions RETURN node",
        "CALL db.labels() YIELD label RETURN label",
        "CALL db.`relationshipTypes`() YIELD relationshipType RETURN relationshipType",
        "RETURN COLLECT { CALL db.labels() YIELD label RETURN label } AS text",
        "CALL { WITH node MATCH (node)-->(x) RETURN x } RETURN x",
        "CALL (node) { MATCH (node)-->(x) RETURN x } RETURN x",
        "MATCH p = shortestPath((node)-[*..3]->(x)) WHERE x <> node RETURN p",
    ],
)
def test_a_query_that_only_reads_is_let_through(database: Database, query: str):
    assert judged(database, query) is None
