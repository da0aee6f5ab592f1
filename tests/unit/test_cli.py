"""The command line: what it says of itself, and of a mistake."""

from __future__ import annotations

import errno
import os
import socket
import subprocess

import pytest

from clients import COMMAND, environment
from mcp_neo4j_vector_graphrag import cli
from mcp_neo4j_vector_graphrag.settings import options


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch):
    """Hide the variables of the machine that the tests run on."""
    known = {variable for option in options() for variable in option.variables}
    for name in [name for name in os.environ if name.upper() in known]:
        monkeypatch.delenv(name)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what standard error says, seen to be one line, with exit status 2 and nothing on standard output."""
    try:
        status = cli.main(arguments)
    except SystemExit as exited:
        status = exited.code
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert captured.err.endswith("\n")
    assert captured.err.count("\n") == 1
    return captured.err


def test_help_shows_every_flag_with_its_variables(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as exited:
        cli.main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert exited.value.code == 0
    for option in options():
        assert option.flag in text
        assert f"[{', '.join(option.variables)}]" in text


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as exited:
        cli.main(["--version"])
    assert exited.value.code == 0
    assert capsys.readouterr().out.count(".") == 2


def test_an_unknown_flag_is_told_the_known_ones(capsys: pytest.CaptureFixture[str]):
    text = complaint(capsys, "--db-uri=bolt://localhost")
    assert "--db-uri" in text
    for option in options():
        assert option.flag in text


def test_an_unknown_flag_with_a_value_beside_it_is_named_and_the_value_is_not_quoted(
    capsys: pytest.CaptureFixture[str],
):
    text = complaint(capsys, "--neo4j-password", "hunter2")
    assert "--neo4j-password" in text
    assert "--password" in text.replace("--neo4j-password", "")
    assert "hunter2" not in text


def test_an_abbreviated_flag_is_unknown(capsys: pytest.CaptureFixture[str]):
    assert "--top-k" in complaint(capsys, "--top=3")


def test_a_flag_without_its_value_is_named(capsys: pytest.CaptureFixture[str]):
    assert "--db-url" in complaint(capsys, "--db-url")


def test_an_unknown_command_is_named(capsys: pytest.CaptureFixture[str]):
    assert "serve" in complaint(capsys, "serve")


def test_a_bad_value_names_the_variable_and_the_flag(capsys: pytest.CaptureFixture[str]):
    text = complaint(capsys, "--db-url", "bolt://localhost", "--top-k", "0")
    assert text.startswith("mcp-neo4j-vector-graphrag: TOP_K (--top-k): ")


def test_a_bad_variable_names_the_variable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEO4J_URI", "bolt://localhost")
    monkeypatch.setenv("NEO4J_MCP_SERVER_PORT", "http")
    assert "NEO4J_MCP_SERVER_PORT (--server-port)" in complaint(capsys)


def test_no_address_is_told(capsys: pytest.CaptureFixture[str]):
    assert "NEO4J_URI is not set" in complaint(capsys)


def test_a_port_that_is_taken_is_told_in_one_line(capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        text = complaint(capsys, "--db-url", "bolt://127.0.0.1:1", "--transport", "http", "--server-port", port)
    assert text == (
        f"mcp-neo4j-vector-graphrag: HTTP can't listen on 127.0.0.1, port {port} ({os.strerror(errno.EADDRINUSE)}): "
        "choose another NEO4J_MCP_SERVER_HOST or _PORT.\n"
    )


def test_a_reader_that_has_had_enough_is_no_fault():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [COMMAND, "demo", "--config"], stdout=writing, stderr=subprocess.PIPE, env=environment(), check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("given", [["--tools", "-nothing"], ["--tools=-nothing"], ["tools", "--tools", "-nothing"]])
def test_a_tool_can_be_hidden_with_or_without_an_equals_sign(capsys: pytest.CaptureFixture[str], given: list[str]):
    text = complaint(capsys, *given, "--db-url", "bolt://127.0.0.1:1")
    assert "NEO4J_MCP_TOOLS names 'nothing', which is none of " in text
