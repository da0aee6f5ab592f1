"""The demo on a real database: the graph is in it after the first start, and isn't loaded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import neo4j
import psutil
import pytest

from clients import until
from mcp_neo4j_vector_graphrag.local import demo as demo_module
from mcp_neo4j_vector_graphrag.local.artifacts import fetch_jars
from mcp_neo4j_vector_graphrag.local.database import LocalDatabaseError, reset
from mcp_neo4j_vector_graphrag.local.demo import Demo
from mcp_neo4j_vector_graphrag.local.demo_graph import VECTOR_INDEX, read_graph
from mcp_neo4j_vector_graphrag.local.java import class_archive
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE, pid_file
from mcp_neo4j_vector_graphrag.local.progress import LogProgress
from mcp_neo4j_vector_graphrag.local.supervisor import supervisor_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose name is no plain word, as a user's may be."""
    folder = tmp_path_factory.mktemp("demo") / "Zoë's data"
    yield folder
    reset(folder)


@pytest.fixture(scope="module")
def demo(home: Path) -> Iterator[Demo]:
    with Demo(home) as running:
        running.start(LogProgress())
        yield running


def test_a_question_finds_its_film(demo: Demo):
    connection = demo.start(LogProgress())
    auth = (connection.username, connection.password.get_secret_value())
    with neo4j.GraphDatabase.driver(connection.uri, auth=auth) as driver:
        records = driver.execute_query(
            "CYPHER 25 MATCH (m:Movie) SEARCH m IN (VECTOR INDEX "
            + VECTOR_INDEX
            + " FOR $vector LIMIT 5) RETURN m.title AS title, COUNT { (:Movie) } AS movies",
            vector=demo.embeddings.embed_query("A shark attacks swimmers at a beach."),
            database_=connection.database,
        ).records
    assert "Jaws" in [record["title"] for record in records]
    assert records[0]["movies"] == len(read_graph().movies)


def test_a_second_demo_shares_database_and_graph(demo: Demo, home: Path, monkeypatch: pytest.MonkeyPatch):
    first = demo.start(LogProgress())
    monkeypatch.setattr(demo_module, "load_graph", lambda *_: pytest.fail("the graph is loaded again"))
    with Demo(home) as second:
        assert second.start(LogProgress()) == first


def test_an_index_that_was_dropped_by_hand_is_made_again(demo: Demo):
    connection = demo.start(LogProgress())
    auth = (connection.username, connection.password.get_secret_value())
    with neo4j.GraphDatabase.driver(connection.uri, auth=auth) as driver:
        driver.execute_query(f"DROP INDEX {VECTOR_INDEX}", database_=connection.database)
        demo.start(LogProgress())
        found = driver.execute_query(
            "SHOW INDEXES YIELD name, state WHERE name = $name RETURN state",
            name=VECTOR_INDEX,
            database_=connection.database,
        ).records
    assert [record["state"] for record in found] == ["ONLINE"]


@pytest.mark.usefixtures("demo")
def test_a_graph_of_another_version_is_loaded_again(home: Path, monkeypatch: pytest.MonkeyPatch):
    loads: list[object] = []
    monkeypatch.setattr(demo_module, "graph_digest", lambda _: "of the next version")
    monkeypatch.setattr(demo_module, "load_graph", lambda *arguments: loads.append(arguments))
    for _ in range(2):
        with Demo(home) as next_version:
            next_version.start(LogProgress())
    assert len(loads) == 1


@pytest.mark.usefixtures("demo")
def test_a_graph_that_can_not_be_loaded_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise neo4j.exceptions.ServiceUnavailable("the database is gone")

    monkeypatch.setattr(demo_module, "graph_digest", lambda _: "of a broken version")
    monkeypatch.setattr(demo_module, "load_graph", fail)
    with Demo(home) as broken, pytest.raises(LocalDatabaseError, match=r"could not be loaded .*the database is gone"):
        broken.start(LogProgress())


def test_neo4j_starts_from_an_archive_of_its_classes_once_there_is_one(demo: Demo, home: Path):
    archive = class_archive(fetch_jars(DEMO_RELEASE.jar_list))
    until(archive.exists, "the archive that the first start begins is made", seconds=120)
    demo.close()
    until(lambda: not supervisor_file(home).exists(), "the database ends")
    with Demo(home) as later:
        later.start(LogProgress())
        jvm = psutil.Process(int(pid_file(home).read_text()))
        assert str(archive) in [mapped.path for mapped in jvm.memory_maps()]
