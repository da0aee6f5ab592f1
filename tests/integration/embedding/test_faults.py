"""What is told when the database can't embed the question: one plain line, general, and the cause in the log."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from digest_embedder import digest_vector
from genai_plugin import GENAI_KEY
from graphs import DIMENSIONS, create_index, remove, unique
from mcp_neo4j_vector_graphrag.database import connection
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.embedding.in_database import FAILED, NO_FUNCTION, InDatabaseEmbedder
from mcp_neo4j_vector_graphrag.embedding.provider import Credentials
from mcp_neo4j_vector_graphrag.embedding.query_vector import QueryVector
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_neo4j_vector_graphrag.database.capabilities import EmbedFunction
    from servers import Neo4jServer

OTHER_DIMENSIONS = 5
RETURN_TEXT = "RETURN node.text AS text, score"
EVEN_TEXTS = [{"property": "text", "operator": "ENDS WITH", "value": "even"}]
"""A filter that no index checks."""


class Meddled(InDatabaseEmbedder):
    """Asks for what the builders never would.

    Args:
        provider: The provider's name.
        more: Added to the configuration.
    """

    def __init__(self, provider: str | None = None, **more: object) -> None:
        super().__init__("openai", Credentials(model="m", api_key=SecretStr(GENAI_KEY)))
        self._name = provider
        self._more = more

    def query_vector(self, question: str, function: EmbedFunction | None) -> QueryVector:
        asked = super().query_vector(question, function)
        parameters: dict[str, Any] = dict(asked.parameters)
        parameters["embedding_provider"] = self._name or parameters["embedding_provider"]
        parameters["embedding_configuration"] = {**parameters["embedding_configuration"], **self._more}
        return QueryVector(asked.expression, parameters)


@pytest.fixture(scope="module")
def label(neo4j_server: Neo4jServer) -> Iterator[str]:
    """Two nodes of a label, with an index of that name on their vectors."""
    name = unique("Thing")
    neo4j_server.query(
        f"UNWIND ['odd', 'even'] AS text CREATE (n:{name} {{text: text}}) SET n.emb = $emb[text]",
        emb={text: digest_vector(text) for text in ("odd", "even")},
    )
    create_index(neo4j_server, name, name)
    yield name
    remove(neo4j_server, name, indexes=[name])


@pytest.fixture
def database(neo4j_server: Neo4jServer) -> Iterator[Database]:
    """The product's own way to the server."""
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        yield Database(driver, neo4j_server.database)


def embedder(key: str = GENAI_KEY, dimensions: int | None = None) -> InDatabaseEmbedder:
    return InDatabaseEmbedder("openai", Credentials(model="m", api_key=SecretStr(key), dimensions=dimensions))


def fault(retriever: VectorGraphRetriever, question: str = "odd", **arguments: Any) -> GraphRAGError:
    with pytest.raises(GraphRAGError) as caught:
        retriever.search(query_text=question, **arguments)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


def found(retriever: VectorGraphRetriever, question: str = "odd") -> list[str]:
    return [item.content for item in retriever.search(query_text=question).items]


def test_a_database_without_a_function_is_told_with_the_plugins_name(database: Database, label: str):
    database._capabilities = (database.epoch, replace(database.capabilities, embed_function=None))
    said = fault(VectorGraphRetriever(database, label, embedder=embedder(), retrieval_query=RETURN_TEXT))
    assert isinstance(said, SetupError)
    assert str(said) == NO_FUNCTION


def test_a_function_that_went_away_is_a_failed_embedding(neo4j_server: Neo4jServer, database: Database, label: str):
    """What is remembered of a server may be of another: here, that it has the newer function."""
    if not neo4j_server.version.startswith("2025."):
        pytest.skip("has the function, or does not know its language")
    database._capabilities = (database.epoch, replace(database.capabilities, embed_function="ai.text.embed"))
    said = fault(VectorGraphRetriever(database, label, embedder=embedder(), retrieval_query=RETURN_TEXT))
    assert isinstance(said, SetupError)
    assert str(said) == FAILED


@pytest.mark.parametrize("filters", [None, EVEN_TEXTS], ids=["no-filter", "fallback"])
@pytest.mark.parametrize(
    ("question", "failing", "cause"),
    [
        ("odd", Meddled("NoSuchProvider"), "Unknown provider 'NoSuchProvider'"),
        ("odd", Meddled(nope=1), "unknown configuration 'nope'"),
        ("odd", Meddled(token=7), "'token' is expected to be a String"),
        ("odd", embedder("a-wrong-key"), "401 Unauthorized"),
        ("fail: now", embedder(), "500 Internal Server Error"),
    ],
    ids=["wrong-provider", "unknown-key-of-the-map", "wrong-type", "bad-key", "provider-fails"],
)
def test_a_failed_embedding_is_told_in_general_and_logged_with_its_cause(  # noqa: PLR0913 - a row of the table
    database: Database,
    label: str,
    caplog: pytest.LogCaptureFixture,
    *,
    question: str,
    failing: InDatabaseEmbedder,
    cause: str,
    filters: list[dict[str, Any]] | None,
):
    retriever = VectorGraphRetriever(database, label, embedder=failing, retrieval_query=RETURN_TEXT)
    said = fault(retriever, question, filters=filters)
    assert isinstance(said, SetupError)
    assert str(said) == FAILED
    [record] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert cause in record.getMessage()


def test_a_key_that_the_provider_quotes_is_not_in_the_log(
    database: Database, label: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    leaking = embedder("leak-mArKeR")
    said = fault(VectorGraphRetriever(database, label, embedder=leaking, retrieval_query=RETURN_TEXT))
    assert str(said) == FAILED
    assert "incorrect key provided: ***" in caplog.text
    assert "mArKeR" not in caplog.text


def test_a_provider_that_recovers_is_asked_again(database: Database, label: str):
    retriever = VectorGraphRetriever(database, label, embedder=embedder(), retrieval_query=RETURN_TEXT)
    assert str(fault(retriever, "fail: now")) == FAILED
    assert found(retriever) == ["odd", "even"]


@pytest.mark.parametrize("filters", [None, EVEN_TEXTS], ids=["no-filter", "fallback"])
def test_vectors_of_another_length_are_told_with_both_lengths(
    database: Database, label: str, filters: list[dict[str, Any]] | None
):
    other = embedder(dimensions=OTHER_DIMENSIONS)
    said = fault(VectorGraphRetriever(database, label, embedder=other, retrieval_query=RETURN_TEXT), filters=filters)
    assert isinstance(said, SetupError)
    assert str(said) == (
        f"The provider's model makes vectors of {OTHER_DIMENSIONS} dimensions and the index holds vectors of "
        f"{DIMENSIONS}: set NEO4J_EMBEDDING_MODEL and NEO4J_EMBEDDING_DIMENSIONS to what made the index's vectors."
    )


def test_a_blocked_call_that_outlives_the_databases_timeout_is_given_up(
    neo4j_server: Neo4jServer, database: Database, label: str, monkeypatch: pytest.MonkeyPatch
):
    if not neo4j_server.version.startswith("2026."):
        pytest.skip("the time limit is the server's own, whatever the release")
    blocked = 8.0
    retriever = VectorGraphRetriever(database, label, embedder=embedder(), retrieval_query=RETURN_TEXT)
    assert found(retriever) == ["odd", "even"]
    with monkeypatch.context() as impatient:
        impatient.setattr(connection, "_GRACE_SECONDS", 0.5)
        impatient.setattr(database, "read_timeout", 0.5)
        begin = time.monotonic()
        said = fault(retriever, f"sleep:{blocked} please")
        assert time.monotonic() - begin < blocked / 2
    assert isinstance(said, UnavailableError)
    assert str(said).startswith("Neo4j gave no answer within 1 s")
    assert blocked_calls(neo4j_server) == 1, "the plugin's call goes on"
    assert found(retriever) == ["odd", "even"], "others are answered meanwhile"
    deadline = time.monotonic() + 60
    while blocked_calls(neo4j_server):  # no test after this one shall meet it
        assert time.monotonic() < deadline


def blocked_calls(server: Neo4jServer) -> int:
    """Return how many queries the server has that embed."""
    [row] = server.query(
        "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS $part "
        "AND NOT currentQuery STARTS WITH 'SHOW' RETURN count(*) AS count",
        part="$embedding_text",
    )
    return int(str(row["count"]))
