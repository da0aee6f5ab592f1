"""What makes a query more than a reading one, judged by its text and its plan.

The plans are cut down to what is read of them; the integration tests hold the same against Neo4j's own.
"""

from __future__ import annotations

from typing import Any

import pytest

from mcp_neo4j_vector_graphrag.database.guard import refusal


def plan(operator: str, details: str = "", *children: dict[str, Any]) -> dict[str, Any]:
    return {"operatorType": f"{operator}@neo4j", "args": {"Details": details}, "children": list(children)}


READING = plan("ProduceResults", "text", plan("AllNodesScan", "node"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("LOAD CSV FROM 'file:///x' AS l RETURN l", "LOAD CSV"),
        (r"\u004COAD CSV FROM 'file:///x' AS l RETURN l", "LOAD CSV"),
        ("load  csv FROM 'file:///x' AS l RETURN l", "LOAD CSV"),
        ("RETURN COUNT { LOAD/* */CSV FROM 'x' AS l RETURN l }", "LOAD CSV"),
        ("RETURN COLLECT { SHOW SETTINGS YIELD name RETURN name }", "SHOW"),
        ("RETURN COLLECT { SHOW ALL FUNCTIONS YIELD name RETURN name }", "SHOW"),
        ("RETURN [x IN [1] | EXISTS { SHOW SETTINGS WHERE name = 'x' }]", "SHOW"),
        ("RETURN [x IN [1] | COUNT { SHOW TRANSACTIONS }]", "SHOW"),
        ("RETURN any(x IN [1] WHERE EXISTS { SHOW BUILT IN FUNCTIONS })", "SHOW"),
        ("RETURN CASE WHEN true THEN COUNT { SHOW FULLTEXT INDEXES } END", "SHOW"),
        ("RETURN COUNT { SHOW NODE PROPERTY UNIQUENESS CONSTRAINTS }", "SHOW"),
        ("RETURN COLLECT { TERMINATE TRANSACTIONS 'x' YIELD message RETURN message }", "TERMINATE TRANSACTIONS"),
        ("CALL { MATCH (n) RETURN n } IN TRANSACTIONS RETURN n", "IN TRANSACTIONS"),
        ("CALL { MATCH (n) RETURN n } IN 4 CONCURRENT TRANSACTIONS RETURN n", "IN TRANSACTIONS"),
        ("CALL dbms.listConfig() YIELD name RETURN name", "dbms.listConfig"),
        ("CALL `dbms`.`listConfig`() YIELD name RETURN name", "dbms.listConfig"),
        ("RETURN COLLECT { CALL dbms . listConfig() YIELD name RETURN name }", "dbms.listConfig"),
        ("CALL apoc.load.json('x') YIELD value RETURN value", "apoc.load.json"),
        ("RETURN apoc.cypher.runFirstColumnSingle('MATCH (n) DELETE n')", "apoc.cypher.runFirstColumnSingle"),
        ("CALL db.labels() YIELD label CALL dbms.killConnection('x') YIELD message RETURN 1", "dbms.killConnection"),
    ],
)
def test_the_text_of_a_query_is_enough_to_refuse_it(query: str, expected: str):
    assert expected in (refusal("r", READING, query) or "")


@pytest.mark.parametrize(
    "query",
    ["WITH node AS show RETURN show ORDER BY user", "MATCH (show:Show) RETURN show.user, 'SHOW USERS' AS text"],
)
def test_a_variable_called_show_is_no_clause(query: str):
    assert refusal("r", READING, query) is None


@pytest.mark.parametrize(
    ("operator", "details", "expected"),
    [
        ("LoadCSV", "l", "LOAD CSV"),
        ("ShowSettings", "", "SHOW"),
        ("TerminateTransactions", "", "TERMINATE TRANSACTIONS"),
        ("TransactionForeach", "", "IN TRANSACTIONS"),
        ("TransactionApply", "IN $autoint_0 CONCURRENT TRANSACTIONS OF 10 ROWS", "IN TRANSACTIONS"),
        ("AdministrationCommand", "", "an administration command"),
        ("ProcedureCall", "dbms.listConfig($autostring_0) :: (name :: STRING)", "dbms.listConfig"),
        ("Projection", '[x IN $l | COUNT {   LOAD CSV FROM "x" AS l   RETURN l AS l }] AS text', "LOAD CSV"),
        ("Projection", "COLLECT { ResolvedCall(apoc.load.json(url :: STRING) :: value :: MAP) }", "apoc.load.json"),
        ("Filter", "EXISTS { CALL dbms.listConfig() YIELD name RETURN name AS name }", "dbms.listConfig"),
    ],
)
def test_the_plan_is_read_to_its_leaves(operator: str, details: str, expected: str):
    deep = plan("ProduceResults", "text", plan("Apply", "", READING, plan(operator, details)))
    assert expected in (refusal("r", deep, "RETURN 1 AS text") or "")


@pytest.mark.parametrize("query_type", ["w", "rw", "s", None])
def test_a_query_that_is_not_of_the_reading_type_is_refused(query_type: str | None):
    assert refusal(query_type, READING, "RETURN 1") == "a clause that writes or administers"


@pytest.mark.parametrize(
    "query",
    [
        "RETURN 'LOAD CSV, SHOW INDEXES YIELD name, CALL dbms.listConfig()' AS text",
        "RETURN node.text AS text // CALL dbms.listConfig()",
        "RETURN node.load AS csv",
        "MATCH (node)--(s:Show) RETURN s.show AS show",
        "MATCH (node)--(call) WITH call MATCH (call)--(x) RETURN x.name AS text",
        "RETURN node.call AS text",
        "MATCH (node)--(call) WITH node, call ORDER BY call.at RETURN node.text AS text",
        "WITH collect(node) AS transactions RETURN [t IN transactions | t.text] AS text",
        "MATCH (node) WHERE node.id IN transactions RETURN node",
        "CALL { WITH node MATCH (node)--(x) RETURN x } RETURN x",
        "CALL (node) { MATCH (node)--(x) RETURN x } RETURN x",
        "CALL db.labels() YIELD label RETURN label",
        "CALL DB.Labels() YIELD label RETURN label",
        "CALL apoc.path.expandConfig(node, {}) YIELD path RETURN path",
        "CALL gds.pageRank.stream('g') YIELD nodeId RETURN nodeId",
    ],
)
def test_a_query_that_only_looks_like_one_is_let_through(query: str):
    assert refusal("r", READING, query) is None


def test_what_the_operator_allows_is_let_through_in_text_and_plan():
    query = "CALL apoc.text.phonetic('x') YIELD value RETURN value"
    calling = plan("ProduceResults", "", plan("ProcedureCall", "apoc.text.phonetic($s) :: (value :: ANY)"))
    refused = refusal("r", calling, query)
    assert refused is not None
    assert "ALLOWED_PROCEDURES" in refused
    assert refusal("r", calling, query, ["apoc.text.*"]) is None
    assert refusal("r", calling, query, ["APOC.TEXT.phonetic"]) is None
    assert refusal("r", calling, query, ["apoc.text"]) is not None
    assert refusal("r", calling, query, ["apoc.load.*"]) is not None


def test_what_the_operator_allows_lets_nothing_else_through():
    assert refusal("r", READING, "LOAD CSV FROM 'x' AS l RETURN l", ["*"]) == "LOAD CSV"
    assert refusal("w", READING, "CREATE (n)", ["*"]) == "a clause that writes or administers"
