"""The server over stdio: what it writes, how it ends, and that a slow call holds up no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clients import PATIENCE, StdioServer, client, error_of, items_of, text_of, until
from films import INDEX, PUBLISHED_QUERY, load_films

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from films import Films
    from servers import Neo4jServer

TOOL = "neo4j_vector"

SLOW_IF_TOLD = (
    "UNWIND range(1, CASE WHEN $query_text STARTS WITH 'slow' THEN 1000000000 ELSE 1 END) AS i "
    "WITH node, score, count(i) AS counted RETURN node.title AS text, score"
)
SLOW_QUESTION = "slow: dreams"


@pytest.fixture(scope="module")
def unhurried(films: Films) -> dict[str, str]:
    """Return variables with a retrieval query that takes minutes if the question says so."""
    return films.variables(RETRIEVAL_QUERY=SLOW_IF_TOLD, NEO4J_READ_TIMEOUT="20")


def running_searches(films: Films) -> int:
    rows = films.neo4j.query(
        "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS 'AS counted RETURN' "
        "AND NOT currentQuery CONTAINS 'SHOW TRANSACTIONS' RETURN count(*) AS searches"
    )
    return int(str(rows[0]["searches"]))


def call_message(question: str, number: int = 2) -> dict[str, Any]:
    parameters = {"name": TOOL, "arguments": {"query": question}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": parameters}


def initialize(server: StdioServer) -> None:
    """Shake hands without a client library, so that nothing but the server decides when it ends."""
    parameters = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    server.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters})
    assert server.answer()["id"] == 1
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


@pytest.fixture
def busy(films: Films, unhurried: dict[str, str]) -> Iterator[StdioServer]:
    """Return a server in the middle of a slow query."""
    with StdioServer(unhurried) as server:
        initialize(server)
        server.send(call_message(SLOW_QUESTION))
        until(lambda: running_searches(films) == 1, "the slow query runs")
        yield server


def test_it_ends_when_standard_input_closes(films: Films):
    with StdioServer(films.variables()) as server:
        initialize(server)
        server.close_stdin()

        assert server.wait(10) == 0
        assert server.log == ""


def test_it_ends_when_standard_input_closes_in_the_middle_of_a_query(films: Films, busy: StdioServer):
    busy.close_stdin()

    busy.wait(10)
    assert "Traceback" not in busy.log
    until(lambda: running_searches(films) == 0, "the database gives the query up")


def test_it_ends_when_standard_input_closes_while_the_embedder_is_slow(films: Films):
    with StdioServer(films.variables()) as server, films.endpoint.holding("glacier"):
        initialize(server)
        server.send(call_message("glacier"))
        until(lambda: films.endpoint.waiting, "the embedder is asked")
        server.close_stdin()

        server.wait(10)
        assert "Traceback" not in server.log


def test_it_ends_at_sigterm_in_the_middle_of_a_query(films: Films, busy: StdioServer):
    busy.terminate()

    busy.wait(10)
    assert "Traceback" not in busy.log
    until(lambda: running_searches(films) == 0, "the database gives the query up")


def test_a_slow_query_holds_up_no_other_call(films: Films, unhurried: dict[str, str]):
    with StdioServer({**unhurried, "NEO4J_READ_TIMEOUT": "8"}) as server, client(server) as mcp:
        items_of(mcp.call(TOOL, query="warm up"))
        slow = [mcp.submit(TOOL, query=SLOW_QUESTION) for _ in range(3)]
        until(lambda: running_searches(films) == len(slow), "the slow queries run")

        assert len(mcp.tools()) == 1
        assert len(items_of(mcp.call(TOOL, query="a shark", top_k=2))) == 2
        assert not any(call.done() for call in slow)
        for call in slow:
            assert "took longer than 8 s" in error_of(call.result(PATIENCE))


def test_a_slow_embedder_holds_up_no_other_call(films: Films):
    with StdioServer(films.variables()) as server, client(server) as mcp:
        items_of(mcp.call(TOOL, query="warm up"))
        with films.endpoint.holding("glacier"):
            slow = [mcp.submit(TOOL, query=f"a glacier, {number}") for number in range(3)]
            until(lambda: len(films.endpoint.waiting) == len(slow), "the embedder is asked")

            assert len(mcp.tools()) == 1
            assert len(items_of(mcp.call(TOOL, query="a shark", top_k=2))) == 2
            assert not any(call.done() for call in slow)
        for call in slow:
            assert len(items_of(call.result(PATIENCE))) == 5


def test_every_line_of_stdout_is_json_rpc_at_debug_level_and_after_nonsense(films: Films):
    with StdioServer(films.variables(LOG_LEVEL="DEBUG")) as server, client(server) as mcp:
        server.write(b"this is no JSON\n")
        server.write(b'{"jsonrpc": "2.0", "id": 900, "method": "no/such/method"}\n')
        items_of(mcp.call(TOOL, query="a shark"))
        error_of(mcp.call(TOOL, query=" "))
        error_of(mcp.call(TOOL))
        mcp.call("no_such_tool", query="a shark")

        assert len(server.received) >= 6
        assert "DEBUG" in server.log


def test_half_a_character_in_a_question_does_not_stop_the_server(films: Films):
    with StdioServer(films.variables()) as server:
        initialize(server)
        # Escaped, as clients written in JavaScript send it; the SDK takes it for no JSON and gives no answer.
        server.send(call_message("half of it: \ud83d"))
        server.send(call_message("a shark", 3))

        answer = server.answer()
        assert answer["id"] == 3
        assert len(answer["result"]["structuredContent"]["results"]) == 5
        assert "Traceback" not in server.log


def test_emoji_and_other_scripts_survive_a_windows_code_page(films: Films):
    variables = films.variables(PYTHONIOENCODING="cp1252", PYTHONUTF8="0", LC_ALL="C")
    with StdioServer(variables) as server, client(server) as mcp:
        result = mcp.call(TOOL, query="a bathhouse for spirits 🐉 千と千尋", top_k=1)

        [item] = items_of(result)
        assert item["text"] == (
            "Title: Spirited Away 千と千尋Plot: A girl works in a bathhouse for spirits to free her parents 🐉."
        )
        assert "千と千尋" in text_of(result)
        assert "千と千尋".encode() in b"".join(server.stdout)


def test_a_stray_env_file_in_the_working_directory_changes_nothing(films: Films, tmp_path: Path):
    (tmp_path / ".env").write_text(
        "FASTMCP_LOG_LEVEL=nonsense\nNEO4J_URI=bolt://wrong\nNEO4J_NAMESPACE=wrong\nOPENAI_API_KEY=wrong\n"
        "OPENAI_BASE_URL=http://wrong\nINDEX_NAME=wrong\nTOP_K=1\n"
    )
    with StdioServer(films.variables(), cwd=tmp_path) as server, client(server) as mcp:
        assert mcp.tool().name == "neo4j_vector"
        assert len(items_of(mcp.call(TOOL, query="a shark"))) == 5
        assert server.log == ""


def test_two_instances_side_by_side_keep_to_their_own(films: Films, neo4j_2025: Neo4jServer):
    load_films(neo4j_2025, "otherPlots", note=" (second)")
    other = films.variables(
        NEO4J_URI=neo4j_2025.uri,
        NEO4J_PASSWORD=neo4j_2025.password,
        NEO4J_NAMESPACE="prod",
        INDEX_NAME="otherPlots",
        TOP_K="2",
    )
    try:
        with (
            StdioServer(films.variables(), "--namespace", "dev") as first,
            StdioServer(other) as second,
            client(first, "auto") as dev,
            client(second, "legacy") as prod,
        ):
            assert [tool.name for tool in dev.tools()] == ["dev-neo4j_vector"]
            assert [tool.name for tool in prod.tools()] == ["prod-neo4j_vector"]
            assert INDEX in str(dev.tool().description)
            assert "otherPlots" in str(prod.tool().description)

            ours, theirs = (
                call.result(PATIENCE)
                for call in (
                    dev.submit("dev-neo4j_vector", query="a shark at sea"),
                    prod.submit("prod-neo4j_vector", query="a shark at sea"),
                )
            )
            assert len(items_of(ours)) == 5
            assert len(items_of(theirs)) == 2
            assert "(second)" not in text_of(ours)
            assert all("(second)" in item["text"] for item in items_of(theirs))
            assert dev.call("prod-neo4j_vector", query="a shark").is_error
    finally:
        neo4j_2025.clear()


def test_flags_win_over_variables_and_blank_variables_count_as_not_set(films: Films):
    variables = films.variables(INDEX_NAME="nope", NEO4J_NAMESPACE="variable") | {
        "TOP_K": "",
        "TOOL_DESCRIPTION": "${user_config.about}",
    }
    with (
        StdioServer(
            variables, "--index-name", INDEX, "--namespace", "flag-", "--retrieval-query", PUBLISHED_QUERY
        ) as server,
        client(server) as mcp,
    ):
        assert mcp.tool().name == "flag-neo4j_vector"
        assert "user_config" not in str(mcp.tool().description)
        assert len(items_of(mcp.call("flag-neo4j_vector", query="a shark"))) == 5
