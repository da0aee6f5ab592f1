"""What each release's Cypher can do, found out by asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import neo4j
import pytest

from mcp_neo4j_vector_graphrag.database.capabilities import Capabilities, probe
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer

OLD = Capabilities(
    search_clause=False, in_list_filter=False, fulltext_search_clause=False, embed_function="genai.vector.encode"
)
EXPECTED = {
    "2026.09.0": Capabilities(
        search_clause=True, in_list_filter=True, fulltext_search_clause=True, embed_function="ai.text.embed"
    ),
    "2025.10.1": OLD,
    "5.26.14": OLD,
}
"""The servers have a stand-in for the GenAI plugin, with the functions of their release."""


class Counting(Database):
    """Counts what is explained."""

    explained = 0

    def explain(self, statement: str) -> neo4j.ResultSummary:
        self.explained += 1
        return super().explain(statement)


@pytest.fixture
def database(neo4j_server: Neo4jServer) -> Iterator[Counting]:
    opened = Counting(
        open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password), neo4j_server.database
    )
    yield opened
    opened.close()


def test_a_release_is_seen_for_what_it_can_do(database: Database, neo4j_server: Neo4jServer):
    assert probe(database) == EXPECTED[neo4j_server.version]


def test_it_is_asked_once_and_again_after_the_connection_was_lost(database: Counting):
    first = database.capabilities
    asked = database.explained
    assert asked > 0
    assert database.capabilities is first
    assert database.explained == asked

    database.epoch += 1
    assert database.capabilities == first
    assert database.explained == 2 * asked


def test_a_fault_that_says_nothing_of_the_clause_is_no_answer(neo4j_server: Neo4jServer):
    driver = open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password)
    database = Database(driver, "nosuchdatabase")
    try:
        for _ in range(2):
            with pytest.raises(neo4j.exceptions.Neo4jError) as caught:
                _ = database.capabilities
            assert caught.value.code == "Neo.ClientError.Database.DatabaseNotFound"
    finally:
        database.close()
