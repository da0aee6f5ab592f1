"""The server over HTTP: both eras, who may ask, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clients import (
    COMMAND,
    ERAS,
    LEGACY_VERSION,
    MODERN_VERSION,
    PATIENCE,
    VERSION_KEY,
    HttpServer,
    Process,
    StdioServer,
    client,
    http_server,
    items_of,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clients import Era
    from films import Films

TOOL = "neo4j_vector"

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": LEGACY_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
DISCOVER: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "server/discover",
    "params": {
        "_meta": {
            VERSION_KEY: MODERN_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }
    },
}
MODERN = {"MCP_Protocol_Version": MODERN_VERSION, "Mcp_Method": "server/discover"}


@pytest.fixture(scope="module")
def server(films: Films) -> Iterator[HttpServer]:
    """Return a server that the module's tests share."""
    variables = films.variables(
        NEO4J_MCP_SERVER_ALLOWED_HOSTS="graph.example.com, other.example.com",
        NEO4J_MCP_SERVER_ALLOWED_ORIGINS="https://chat.example.com",
    )
    with http_server(variables) as running:
        yield running


@pytest.mark.parametrize("era", ERAS)
def test_a_search_is_answered_in_both_eras(server: HttpServer, era: Era):
    with client(f"{server.url}/mcp", era) as mcp:
        assert mcp.tool().name == TOOL
        assert len(items_of(mcp.call(TOOL, query="a shark", top_k=3))) == 3


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_both_spellings_of_the_path_answer_without_a_redirect(server: HttpServer, path: str):
    legacy = server.post(path, INITIALIZE)
    assert legacy.status_code == 200
    assert legacy.json()["result"]["protocolVersion"] == LEGACY_VERSION
    assert "mcp-session-id" not in legacy.headers

    modern = server.post(path, DISCOVER, **MODERN)
    assert modern.status_code == 200
    assert MODERN_VERSION in modern.json()["result"]["supportedVersions"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/health"])
@pytest.mark.parametrize("host", ["evil.example.com", "127.0.0.1.evil.example.com", "graph.example.com.evil.org"])
def test_a_wrong_host_is_misdirected(server: HttpServer, path: str, host: str):
    response = server.get(path, Host=host) if path == "/health" else server.post(path, INITIALIZE, Host=host)
    assert response.status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example.com", "null", "https://chat.example.com.evil.org"])
def test_a_wrong_origin_is_forbidden(server: HttpServer, origin: str):
    assert server.post("/mcp", INITIALIZE, Origin=origin).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "graph.example.com"},
        {"Host": "other.example.com"},
        {"Host": "localhost"},
        {"Host": "graph.example.com", "Origin": "https://chat.example.com"},
        {"Origin": "https://chat.example.com"},
    ],
    ids=lambda headers: "-".join(headers.values()),
)
def test_allowed_hosts_and_origins_pass(server: HttpServer, headers: dict[str, str]):
    assert server.post("/mcp", INITIALIZE, **headers).status_code == 200


def test_health_answers_and_tells_nothing(server: HttpServer):
    response = server.get("/health")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_a_session_of_another_replica_or_from_before_a_restart_is_answered(server: HttpServer):
    listed = server.post(
        "/mcp", LIST, Mcp_Session_Id="00000000000000000000000000000000", MCP_Protocol_Version=LEGACY_VERSION
    )

    assert listed.status_code == 200
    assert [tool["name"] for tool in listed.json()["result"]["tools"]] == [TOOL]


def test_an_unknown_path_is_not_found(server: HttpServer):
    assert server.post("/nope", INITIALIZE).status_code == 404


def test_what_is_no_json_is_a_bad_request_and_the_server_goes_on(server: HttpServer):
    response = server.post("/mcp", "no message")  # type: ignore[arg-type]

    assert response.status_code == 400
    assert "Traceback" not in response.text
    assert server.get("/health").status_code == 200


def test_a_slow_embedder_holds_up_no_other_client(films: Films, server: HttpServer):
    with client(f"{server.url}/mcp", "auto") as one, client(f"{server.url}/mcp", "legacy") as other:
        items_of(one.call(TOOL, query="warm up"))
        with films.endpoint.holding("glacier"):
            slow = one.submit(TOOL, query="a glacier")
            until(lambda: films.endpoint.waiting, "the embedder is asked")

            assert len(items_of(other.call(TOOL, query="a shark"))) == 5
            assert server.get("/health").status_code == 200
            assert not slow.done()
        assert len(items_of(slow.result(PATIENCE))) == 5


def test_nothing_is_written_to_stdout_and_no_secret_to_stderr(films: Films, server: HttpServer):
    assert server.process.stdout == []
    for secret in (films.neo4j.password, films.endpoint.key):
        assert secret not in server.process.log
    assert "Traceback" not in server.process.log


def test_another_path_can_be_chosen_and_sigterm_ends_it_cleanly(films: Films):
    with http_server(films.variables(), "--server-path", "/graph/") as server:
        for path in ("/graph", "/graph/"):
            assert server.post(path, INITIALIZE).status_code == 200
        with client(f"{server.url}/graph", "auto") as mcp:
            items_of(mcp.call(TOOL, query="a shark"))
        server.process.terminate()

        assert server.process.wait(20) in (0, -15)
        assert server.process.log == f"Serving MCP on {server.url}/graph until Ctrl-C.\n"
        assert server.process.stdout == []


def test_sigterm_in_the_middle_of_a_search_ends_it(films: Films):
    with (
        http_server(films.variables()) as server,
        films.endpoint.holding("glacier"),
        client(f"{server.url}/mcp", "auto") as mcp,
    ):
        slow = mcp.submit(TOOL, query="a glacier")
        until(lambda: films.endpoint.waiting, "the embedder is asked")
        server.process.terminate()

        server.process.wait(20)
        assert slow.exception(PATIENCE) or slow.result().is_error


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_listening_beyond_loopback_is_refused_without_the_flag(films: Films, host: str):
    with StdioServer(films.variables(), "--transport", "http", "--server-host", host) as server:
        assert server.wait(30) == 2
        [line] = server.log.splitlines()
        assert f"NEO4J_MCP_SERVER_HOST is {host}" in line
        assert "--allow-unauthenticated" in line


def test_listening_beyond_loopback_is_possible_with_the_flag(films: Films):
    with http_server(films.variables(), "--server-host", "0.0.0.0", "--allow-unauthenticated") as server:
        assert server.post("/mcp", INITIALIZE).status_code == 200
        assert server.post("/mcp", INITIALIZE, Host="evil.example.com").status_code == 421


def test_a_port_that_is_taken_is_told_in_one_line(films: Films, server: HttpServer):
    port = server.url.rpartition(":")[2]
    command = [COMMAND, "--transport", "http", "--server-port", port]
    with Process(command, films.variables()) as second:
        assert second.wait(30) != 0
        assert "Traceback" not in second.log
        assert port in second.log
