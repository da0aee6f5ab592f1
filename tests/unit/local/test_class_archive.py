"""How the archive of classes comes to be; a script stands for the JVM. `test_demo.py` starts Neo4j from a real one."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.local import class_archive as module
from mcp_neo4j_vector_graphrag.local import java
from mcp_neo4j_vector_graphrag.local.artifacts import verified_file
from mcp_neo4j_vector_graphrag.local.class_archive import begin_archive, make_archive
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


def test_jars_that_were_downloaded_again_get_a_new_archive_in_place_of_the_old(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stand_in(monkeypatch, tmp_path, DUMP)
    make_archive(jars)
    verified_file(jars).write_text('{"a.jar": [1, 2]}')
    assert not class_archive(jars).exists()
    make_archive(jars)
    assert list(jars.parent.glob("*.jsa")) == [class_archive(jars)]


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
    assert [path.name for path in jars.parent.iterdir() if path.suffix != ".lock"] == ["neo4j-1"]


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
