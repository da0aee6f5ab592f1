"""Every query reads only and ends in time, whatever the server does."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from neo4j.exceptions import ClientError, DriverError

from graphs import unique
from mcp_neo4j_vector_graphrag.database import connection
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer


@pytest.fixture
def database(neo4j_server: Neo4jServer) -> Iterator[Database]:
    """The product's own way to the server."""
    opened = Database(
        open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password), neo4j_server.database
    )
    yield opened
    opened.close()


@contextmanager
def silent_server() -> Iterator[str]:
    """Accept connections and never answer; yields the address."""
    accepted: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    accepted.append(listening.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"bolt://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    for each in accepted:
        each.close()


@contextmanager
def relay(address: str, *, dropped: int) -> Iterator[tuple[str, list[int]]]:
    """Hand connections on to a server, but close the first ones at once; yields the address and a list with each."""
    host, _, port = address.rpartition("://")[2].partition(":")
    accepted: list[int] = []

    def pipe(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve(client: socket.socket) -> None:
        with client, socket.create_connection((host, int(port))) as server:
            back = threading.Thread(target=pipe, args=(server, client), daemon=True)
            back.start()
            pipe(client, server)
            back.join(10)

    def accept() -> None:
        while True:
            try:
                client = listening.accept()[0]
            except OSError:
                return
            accepted.append(len(accepted))
            if len(accepted) <= dropped:
                client.close()
            else:
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"bolt://127.0.0.1:{listening.getsockname()[1]}", accepted
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_rows_come_with_parameters_and_in_order(database: Database):
    rows = database.read("UNWIND $numbers AS n RETURN n ORDER BY n", {"numbers": [3, 1, 2]})
    assert [row["n"] for row in rows] == [1, 2, 3]


@pytest.mark.parametrize("query", ["CREATE (:{0})", "MERGE (:{0})", "CREATE INDEX {0} FOR (n:{0}) ON n.x"])
def test_a_write_is_refused_by_the_server_itself(database: Database, neo4j_server: Neo4jServer, query: str):
    label = unique("Made")
    with pytest.raises(ClientError) as caught:
        database.read(query.format(label))
    assert "RETRIEVAL_QUERY" in str(database.fault(caught.value))
    assert neo4j_server.query("MATCH (n) WHERE $label IN labels(n) RETURN n", label=label) == []
    assert neo4j_server.query("SHOW INDEXES YIELD name WHERE name = $name", name=label) == []


def test_what_is_explained_is_not_run(database: Database, neo4j_server: Neo4jServer):
    label = unique("Made")
    summary = database.explain(f"CREATE (:{label})")
    assert summary.query_type == "w"
    assert summary.plan is not None
    assert neo4j_server.query("MATCH (n) WHERE $label IN labels(n) RETURN n", label=label) == []


def test_a_connection_that_the_server_closed_is_replaced(database: Database, neo4j_server: Neo4jServer):
    listing = "CALL dbms.listConnections() YIELD connectionId RETURN connectionId"
    before = {row["connectionId"] for row in neo4j_server.query(listing)}
    assert [row["n"] for row in database.read("RETURN 1 AS n")] == [1]
    opened = {row["connectionId"] for row in neo4j_server.query(listing)} - before
    assert len(opened) == 1
    neo4j_server.query("CALL dbms.killConnections($ids)", ids=list(opened))
    assert [row["n"] for row in database.read("RETURN 2 AS n")] == [2]


def test_a_server_that_accepts_and_is_silent_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(connection, "_RETRY_SECONDS", 0.2)
    begun = time.monotonic()
    with silent_server() as uri, open_driver(uri, "neo4j", "any") as driver:
        database = Database(driver, "neo4j")
        with pytest.raises((DriverError, UnavailableError)) as caught:
            database.read("RETURN 1")
        fault = database.fault(caught.value)
    assert type(fault) is UnavailableError
    assert time.monotonic() - begun < 20


def test_a_server_that_falls_silent_is_given_up_shortly_after_the_time_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 60)
    monkeypatch.setattr(connection, "_GRACE_SECONDS", 0.1)
    with (
        silent_server() as uri,
        open_driver(uri, "neo4j", "any") as driver,
        pytest.raises(UnavailableError) as caught,
    ):
        Database(driver, "neo4j", read_timeout=0.1).read("RETURN 1")
    assert str(caught.value).startswith("Neo4j gave no answer within 0.2 s, its own time limit of 0.1 s included")


def test_nobody_on_the_port_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "_RETRY_SECONDS", 0.2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        with open_driver(uri, "neo4j", "hunter2-hunter2") as driver:
            database = Database(driver, "neo4j")
            with pytest.raises(DriverError) as caught:
                database.read("RETURN 1")
            fault = database.fault(caught.value)
    assert type(fault) is UnavailableError
    assert "127.0.0.1" not in str(fault)


def test_a_connection_that_fails_in_passing_is_tried_again(neo4j_server: Neo4jServer):
    with (
        relay(neo4j_server.uri, dropped=2) as (uri, accepted),
        open_driver(uri, neo4j_server.username, neo4j_server.password) as driver,
    ):
        rows = Database(driver, neo4j_server.database).read("RETURN 1 AS n")
        assert [row["n"] for row in rows] == [1]
    assert len(accepted) == 3
