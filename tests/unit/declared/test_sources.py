"""What a server searches: the databases, retrievers and embedders that all its tools share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import pytest
from neo4j.exceptions import ServiceUnavailable

from mcp_neo4j_vector_graphrag import logs
from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared import sources as module
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Made = Callable[..., Sources]

DATABASES = """
[database.one]
uri = "bolt://127.0.0.1:1"
password_env = "ONE"

[database.two]
uri = "bolt://127.0.0.1:2"
name = "second"
"""
FILE = """
[[retriever]]
name = "films"
description = "Films."
database = "one"
index = "plots"

[[retriever]]
name = "people"
description = "People."
database = "two"
index = "people"
retrieval_query = "RETURN node.name AS text, score"

[[retriever]]
name = "words"
description = "Films by their words."
database = "one"
fulltext_index = "words"

[[retriever]]
name = "both"
description = "Films by both."
database = "two"
index = "plots"
fulltext_index = "words"
embedding_model = "openai:other"
"""
TABLE = '[[retriever]]\nname = "films"\ndescription = "Films."\nindex = "plots"\n'
PASSWORD = "not-named-as-a-secret-is"
URI = {"NEO4J_URI": "bolt://127.0.0.1:3"}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    monkeypatch.setattr(logs, "_secrets", set())
    monkeypatch.setenv("ONE", PASSWORD)
    all_made: list[Sources] = []

    def make(text: str | None = DATABASES + FILE, **variables: str) -> Sources:
        file = tmp_path / "retrievers.toml"
        if text:
            file.write_text(text, "utf-8")
            variables["RETRIEVERS_FILE"] = str(file)
        settings = Settings(**cast("dict[str, Any]", variables))
        all_made.append(Sources(settings, Backend(settings)))
        return all_made[-1]

    yield make
    for each in all_made:
        each.close()
        each.backend.close()


def test_tables_of_one_database_share_its_connections(made: Made):
    sources = made()
    one, two = (backend.database() for backend in sources.backends.values())

    assert list(sources.backends) == ["one", "two"]
    assert (one.name, two.name) == (None, "second")
    assert [source.backend.database() for source in sources.declared] == [one, two, one, two]


@pytest.mark.parametrize(
    ("text", "variables", "names"),
    [
        (DATABASES + FILE, URI, [None, "one", "two"]),
        (TABLE, URI, [None]),
        (None, URI, [None]),
    ],
)
def test_the_environments_database_comes_first(
    made: Made, text: str | None, variables: dict[str, str], names: list[str | None]
):
    assert list(made(text, **variables).backends) == names


def test_there_must_be_a_database(made: Made):
    with pytest.raises(SetupError, match=r"^There is no database: set NEO4J_URI, or add a \[database\.<name>\] table"):
        _ = made(TABLE).backends


def test_a_retriever_is_kept_and_has_documents_without_its_query(made: Made):
    _, people, words, _ = made().declared
    queried, documents = people.retriever(), people.retriever(documents=True)

    assert (queried.retrieval_query, documents.retrieval_query) == ("RETURN node.name AS text, score", "")
    assert queried.query_name == "retrieval_query of 'people' in RETRIEVERS_FILE"
    assert people.retriever() is queried
    assert people.retriever(documents=True) is documents
    assert words.retriever() is words.retriever(documents=True), "which has no query"


def test_a_database_that_was_started_anew_gets_new_retrievers(made: Made):
    films, *_ = made().declared
    before = films.retriever()
    films.backend.database().close()
    films.backend._made.forget(films.backend.database())

    after = films.retriever()
    assert after is not before
    assert after.database is films.backend.database()


def test_tables_of_one_model_share_its_embedder(made: Made):
    sources = made(EMBEDDING_MODEL="openai:model")
    films, people, _, both = sources.declared

    assert films.embedder is people.embedder is sources.embedder
    assert both.embedder is not films.embedder
    assert cast("Any", films.retriever()).embedder is cast("Any", people.retriever(documents=True)).embedder


def test_a_database_is_told_by_its_table(made: Made):
    one = made().backends["one"].database()
    told = str(one.fault(ServiceUnavailable("refused")))
    assert "`uri` of [database.one] in RETRIEVERS_FILE" in told


@pytest.mark.parametrize("tools", ["", "declared,connectors", "declared,search,schema,generic,configured"])
def test_a_server_reads_its_file_once(made: Made, monkeypatch: pytest.MonkeyPatch, tools: str):
    variables = {**URI, "INDEX_NAME": "plots", "NEO4J_MCP_TOOLS": tools}
    settings = made(**variables).settings
    read: list[object] = []
    read_file = module.read_file
    monkeypatch.setattr(module, "read_file", lambda *given: read.append(given) or read_file(*given))

    served = registry.serve(settings, Backend(settings))

    assert {"films", "people", "words", "both"} <= {tool.name for each in served for tool in each.tools}
    assert len(read) == 1


def test_a_password_of_the_file_is_in_no_log_line(made: Made):
    record = logging.LogRecord("any", logging.WARNING, __file__, 1, "refused %s", (PASSWORD,), None)
    assert PASSWORD in logs.Redacting().format(record), "which its variable's name does not tell"

    _ = made().backends
    assert logs.Redacting().format(record).endswith("refused ***")
