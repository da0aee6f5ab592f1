"""The servers that the other integration tests stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from servers import Neo4jServer


def test_each_release_answers_with_its_own_version(neo4j_server: Neo4jServer):
    [kernel] = neo4j_server.query(
        "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions, edition"
    )
    assert kernel == {"versions": [neo4j_server.version], "edition": "community"}


def test_clear_leaves_nothing(neo4j_server: Neo4jServer):
    neo4j_server.query("CREATE (:Film {title: 'Alien'})-[:AFTER]->(:Film)")
    neo4j_server.query("CREATE CONSTRAINT film FOR (n:Film) REQUIRE n.title IS UNIQUE")
    neo4j_server.query("CREATE FULLTEXT INDEX films FOR (n:Film) ON EACH [n.title]")

    neo4j_server.clear()

    assert neo4j_server.query("MATCH (n) RETURN count(n) AS nodes") == [{"nodes": 0}]
    assert neo4j_server.query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'") == []
