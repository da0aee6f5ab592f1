"""How the archive of classes comes to be; a script stands for the JVM. `test_demo.py` starts Neo4j from a real one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.local import class_archive as module
from mcp_neo4j_vector_graphrag.local import java
from mcp_neo4j_vector_graphrag.local.artifacts import verified_file
from mcp_neo4j_vector_graphrag.local.class_archive import begin_archive, failure_note, make_archive
from mcp_neo4j_vector_graphrag.local.java import class_archive

if TYPE_CHECKING:
    from pathlib import Path

DUMP = """
import pathlib, sys
options = dict(argument.partition("=")[::2] for argument in sys.argv[1:])
assert "-Xshare:dump" in options
classes = pathlib.Path(options["-XX:SharedClassListFile"]).read_text().splitlines()
pathlib.Path(options["-XX:SharedArchiveFile"]).write_text("java/lang/Object" * ("java/lang/Object" in classes))
"""

KILLED = """
import os, signal
os.kill(os.getppid(), signal.SIGKILL)
"""
"""A JVM during which the process that made it is killed."""

KILLED_ATTEMPT = """
import sys, pathlib
from mcp_neo4j_vector_graphrag.local import class_archive, java
java._java = lambda: pathlib.Path(sys.argv[2])
class_archive.make_archive(pathlib.Path(sys.argv[1]))
"""


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    folder = tmp_path / "jars" / "neo4j-1"
    folder.mkdir(parents=True)
    verified_file(folder).write_text("{}")
    return folder


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    path = folder / "java"
    path.write_text(f"#!{sys.executable}\n{script}")
    path.chmod(0o755)
    monkeypatch.setattr(java, "_java", lambda: path)


def test_the_archive_is_made_of_the_listed_classes_beside_the_jars(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stand_in(monkeypatch, tmp_path, DUMP)
    make_archive(jars)
    assert class_archive(jars).parent == jars.parent
    assert class_archive(jars).read_text() == "java/lang/Object"
    assert [path.name for path in jars.parent.iterdir() if path.is_dir()] == ["neo4j-1"]


def test_the_newest_two_archives_are_kept_so_that_two_runtimes_can_share_a_cache(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stand_in(monkeypatch, tmp_path, DUMP)
    made = []
    for size in range(3):
        verified_file(jars).write_text(f'{{"a.jar": [{size}, 2]}}')
        assert not class_archive(jars).exists()
        make_archive(jars)
        made.append(class_archive(jars))
        os.utime(made[-1], (1_000 + size, 1_000 + size))
    assert len(set(made)) == 3
    assert set(jars.parent.glob("*.jsa")) == set(made[1:])


def test_archives_of_other_jars_are_left_alone(jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, tmp_path, DUMP)
    others = [jars.parent / f"neo4j-2-{number}.jsa" for number in range(3)]
    for other in others:
        other.touch()
    make_archive(jars)
    assert set(jars.parent.glob("*.jsa")) == {*others, class_archive(jars)}


@pytest.mark.parametrize("make", [make_archive, begin_archive])
def test_an_archive_is_not_made_twice(jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make):
    stand_in(monkeypatch, tmp_path, "raise SystemExit(1)")
    class_archive(jars).write_text("made before")
    make(jars)
    assert class_archive(jars).read_text() == "made before"


def test_what_java_can_not_make_leaves_nothing_behind(jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, tmp_path, "raise SystemExit(1)")
    with pytest.raises(subprocess.CalledProcessError):
        make_archive(jars)
    left = {path for path in jars.parent.iterdir() if path.suffix != ".lock"}
    assert left == {jars, failure_note(jars)}


@pytest.mark.parametrize("make", [make_archive, begin_archive])
def test_what_java_could_not_make_is_not_tried_again_until_the_runtime_or_the_jars_are_others(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make
):
    stand_in(monkeypatch, tmp_path, "raise SystemExit(1)")
    with pytest.raises(subprocess.CalledProcessError):
        make_archive(jars)
    stand_in(monkeypatch, tmp_path, DUMP)
    monkeypatch.setattr(module.subprocess, "Popen", lambda *_, **__: pytest.fail("it is tried again"))
    make(jars)
    assert not class_archive(jars).exists()
    monkeypatch.undo()
    stand_in(monkeypatch, tmp_path, DUMP)
    verified_file(jars).write_text('{"a.jar": [1, 2]}')
    make_archive(jars)
    assert class_archive(jars).exists()


def test_a_dump_that_takes_too_long_is_ended_and_noted(jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, tmp_path, "import threading; threading.Event().wait()")
    monkeypatch.setattr(module, "_DEADLINE", 0.2)
    with pytest.raises(subprocess.TimeoutExpired):
        make_archive(jars)
    assert failure_note(jars).exists()


def test_what_a_killed_attempt_left_is_cleared(jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stand_in(monkeypatch, tmp_path, KILLED)
    killed = subprocess.run([sys.executable, "-c", KILLED_ATTEMPT, str(jars), str(tmp_path / "java")], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = [path for path in jars.parent.iterdir() if path.is_dir() and path != jars]
    assert (left / "classes.txt").exists()
    assert not failure_note(jars).exists()
    stand_in(monkeypatch, tmp_path, DUMP)
    make_archive(jars)
    assert class_archive(jars).exists()
    assert not left.exists()


def test_a_process_that_can_not_be_begun_is_no_fault(jars: Path, monkeypatch: pytest.MonkeyPatch):
    begun: list[bool] = []

    def refuse(*_: object, **__: object) -> None:
        begun.append(True)
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(module.subprocess, "Popen", refuse)
    begin_archive(jars)
    assert begun


def test_an_archive_that_is_being_made_is_waited_for(jars: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module.subprocess, "Popen", lambda *_, **__: pytest.fail("it is made twice"))
    with module._lock(jars, 0):
        other = threading.Thread(target=begin_archive, args=(jars,))
        other.start()
        other.join(0.2)
        assert other.is_alive()
        class_archive(jars).write_text("made meanwhile")
    other.join(10)
    assert not other.is_alive()


def test_the_archive_is_begun_in_a_process_of_its_own(jars: Path, monkeypatch: pytest.MonkeyPatch):
    begun: list[list[str]] = []
    monkeypatch.setattr(module.subprocess, "Popen", lambda command, **_: begun.append(command))
    begin_archive(jars)
    assert begun == [[sys.executable, "-m", "mcp_neo4j_vector_graphrag.local.class_archive", str(jars)]]
