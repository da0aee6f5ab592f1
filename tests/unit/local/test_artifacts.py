"""The folder of jars: complete, of the listed content, and cheap to have again."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.local.artifacts import REPOSITORY_VARIABLE, fetch_jars, read_jar_list
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = {
    "org/example/base/1.0/base-1.0.jar": b"base" * 1000,
    "org/example/deep/tool/2.1/tool-2.1-linux.jar": b"tool" * 1000,
}
COORDINATES = ("org.example:base:1.0", "org.example.deep:tool:2.1:linux")
NAMES = {"base-1.0.jar", "tool-2.1-linux.jar"}


class Repository(ThreadingHTTPServer):
    """A Maven repository on the loopback interface that counts what it is asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests: list[str] = []
        self.failures_left = 0
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(root)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(SimpleHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        if self.server.failures_left:
            self.server.failures_left -= 1
            self.send_error(503)
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def serving(repository: Repository) -> Iterator[Repository]:
    thread = threading.Thread(target=repository.serve_forever, kwargs={"poll_interval": 0.01})
    with repository:
        thread.start()
        yield repository
        repository.shutdown()
        thread.join()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    for path, content in CONTENT.items():
        jar = tmp_path / "repository" / path
        jar.parent.mkdir(parents=True)
        jar.write_bytes(content)
    with serving(Repository(tmp_path / "repository")) as running:
        monkeypatch.setenv(REPOSITORY_VARIABLE, running.url + "/")
        yield running


@pytest.fixture
def jar_list(tmp_path: Path) -> Path:
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {coordinates}\n"
        for coordinates, content in zip(COORDINATES, CONTENT.values(), strict=True)
    ]
    path = tmp_path / "example-1.jars"
    path.write_text("".join(lines))
    return path


def jars(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.jar")}


def test_the_listed_jars_are_downloaded_with_their_progress(repository: Repository, jar_list: Path, tmp_path: Path):
    steps: list[tuple[int, int]] = []

    folder = fetch_jars(jar_list, lambda done, total: steps.append((done, total)), cache=tmp_path / "cache")

    assert set(jars(folder).values()) == set(CONTENT.values())
    assert {path.removeprefix("/") for path in repository.requests} == set(CONTENT)
    assert steps == [(1, 2), (2, 2)]


def test_a_second_time_nothing_is_asked_of_the_repository(repository: Repository, jar_list: Path, tmp_path: Path):
    folder = fetch_jars(jar_list, cache=tmp_path / "cache")
    repository.requests.clear()

    assert fetch_jars(jar_list, pytest.fail, cache=tmp_path / "cache") == folder

    assert repository.requests == []


@pytest.mark.parametrize("damage", [b"", b"base" * 999, b"bose" * 1000], ids=["empty", "truncated", "changed"])
def test_a_damaged_jar_is_downloaded_again(repository: Repository, jar_list: Path, tmp_path: Path, damage: bytes):
    folder = fetch_jars(jar_list, cache=tmp_path / "cache")
    repository.requests.clear()
    (folder / "base-1.0.jar").write_bytes(damage)

    fetch_jars(jar_list, cache=tmp_path / "cache")

    assert jars(folder)["base-1.0.jar"] == b"base" * 1000
    assert repository.requests == ["/org/example/base/1.0/base-1.0.jar"]


def test_what_an_aborted_download_left_is_kept_when_good_and_removed_when_not(
    repository: Repository, jar_list: Path, tmp_path: Path
):
    folder = fetch_jars(jar_list, cache=tmp_path / "cache")
    repository.requests.clear()
    (folder / "verified.json").unlink()
    (folder / "tmp-half").write_bytes(b"ba")

    fetch_jars(jar_list, cache=tmp_path / "cache")

    assert {path.name for path in folder.iterdir()} == {*NAMES, "verified.json"}
    assert repository.requests == []


def test_a_jar_of_another_content_is_refused_and_not_kept(repository: Repository, jar_list: Path, tmp_path: Path):
    (repository.root / "org/example/base/1.0/base-1.0.jar").write_bytes(b"evil")

    with pytest.raises(LocalDatabaseError, match=r"org\.example:base:1\.0 is not the expected file"):
        fetch_jars(jar_list, cache=tmp_path / "cache", retries=0)

    assert not list((tmp_path / "cache").rglob("base*"))


def test_a_jar_that_the_repository_lacks_is_named(repository: Repository, jar_list: Path, tmp_path: Path):
    (repository.root / "org/example/base/1.0/base-1.0.jar").unlink()

    with pytest.raises(LocalDatabaseError, match=r"answered 404 for org\.example:base:1\.0: .*MAVEN_REPOSITORY_URL"):
        fetch_jars(jar_list, cache=tmp_path / "cache", retries=0)


def test_a_passing_failure_is_tried_again(repository: Repository, jar_list: Path, tmp_path: Path):
    repository.failures_left = 1
    assert set(jars(fetch_jars(jar_list, cache=tmp_path / "cache", retries=1))) == NAMES


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "not an address"])
def test_without_a_repository_the_next_step_is_said(
    jar_list: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
):
    monkeypatch.setenv(REPOSITORY_VARIABLE, address)
    with pytest.raises(LocalDatabaseError, match="check the network, or set MAVEN_REPOSITORY_URL to a mirror"):
        fetch_jars(jar_list, cache=tmp_path / "cache", retries=0)


def test_a_cache_that_can_not_be_written_is_named(jar_list: Path, tmp_path: Path):
    (tmp_path / "cache").write_text("a file, no folder")
    with pytest.raises(LocalDatabaseError, match=r"can't be kept in .*cache.*make it writable"):
        fetch_jars(jar_list, cache=tmp_path / "cache")


def test_several_at_once_download_each_jar_once(repository: Repository, jar_list: Path, tmp_path: Path):
    with ThreadPoolExecutor(4) as threads:
        folders = set(threads.map(lambda _: fetch_jars(jar_list, cache=tmp_path / "cache"), range(4)))

    assert len(folders) == 1
    assert len(repository.requests) == 2


def test_the_demos_list_holds_neo4j_and_no_two_jars_of_one_name():
    artifacts = read_jar_list(DEMO_RELEASE.jar_list)
    assert f"org.neo4j:neo4j:{DEMO_RELEASE.version}" in {artifact.coordinates for artifact in artifacts}
    assert len({artifact.file_name for artifact in artifacts}) == len(artifacts)
