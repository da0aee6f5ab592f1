"""The database goes away and comes back, and the server answers all the while, without a restart."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from clients import PATIENCE, StdioServer, client, error_of, items_of
from proxy import Relay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clients import McpClient
    from films import Films

TOOL = "neo4j_vector"
IN_TIME = 12.0
"""Seconds, generous for a busy machine: about 5 is what a call during an outage takes."""


@pytest.fixture
def relay(films: Films) -> Iterator[Relay]:
    """Return the way to the database."""
    with Relay(urlsplit(films.neo4j.uri).port or 0) as way:
        yield way


def assert_told_in_time(mcp: McpClient) -> None:
    begin = time.monotonic()
    assert mcp.refused(TOOL, query="a shark") == (
        "Neo4j can't be reached: check that it is running and that NEO4J_URI is right, then ask again."
    )
    assert time.monotonic() - begin < IN_TIME


def test_a_database_that_is_down_at_the_start_answers_the_first_call_after_it_comes_up(films: Films, relay: Relay):
    relay.cut()
    with StdioServer(films.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")) as server, client(server) as mcp:
        assert mcp.tool().name == "neo4j_vector"
        assert_told_in_time(mcp)

        relay.restore()
        assert len(items_of(mcp.call(TOOL, query="a shark"))) == 5
        assert server.returncode is None


def test_a_database_that_restarts_answers_the_first_call_afterwards(films: Films, relay: Relay):
    with StdioServer(films.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")) as server, client(server) as mcp:
        before = items_of(mcp.call(TOOL, query="a shark"))
        relay.cut()
        relay.restore()
        assert items_of(mcp.call(TOOL, query="a shark")) == before


def test_each_call_during_an_outage_is_told_of_it_and_the_first_one_after_it_succeeds(films: Films, relay: Relay):
    with StdioServer(films.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")) as server, client(server) as mcp:
        before = items_of(mcp.call(TOOL, query="a shark"))
        relay.cut()
        assert_told_in_time(mcp)
        together = [mcp.submit(TOOL, query=f"a shark, {number}") for number in range(4)]
        assert len(mcp.tools()) == 1
        begin = time.monotonic()
        for call in together:
            assert "can't be reached" in error_of(call.result(PATIENCE))
        assert time.monotonic() - begin < IN_TIME, "together, not one after another"

        relay.restore()
        assert items_of(mcp.call(TOOL, query="a shark")) == before
        assert "Traceback" not in server.log


def test_a_database_that_takes_connections_and_says_nothing_is_told_in_time(films: Films, relay: Relay):
    relay.stall()
    with StdioServer(films.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")) as server, client(server) as mcp:
        assert len(mcp.tools()) == 1
        assert_told_in_time(mcp)

        relay.cut()
        relay.restore()
        assert len(items_of(mcp.call(TOOL, query="a shark"))) == 5


def test_a_network_that_swallows_packets_in_the_middle_is_told_when_the_time_is_up(films: Films, relay: Relay):
    variables = films.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}", NEO4J_READ_TIMEOUT="1")
    with StdioServer(variables) as server, client(server) as mcp:
        before = items_of(mcp.call(TOOL, query="a shark"))
        relay.stall()
        assert mcp.refused(TOOL, query="a shark").startswith("Neo4j gave no answer within 6 s")
        assert_told_in_time(mcp)

        relay.cut()
        relay.restore()
        assert items_of(mcp.call(TOOL, query="a shark")) == before
