"""Retrievers of neo4j-graphrag and of one's own as tools, through the public Python function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import neo4j
import pytest
from neo4j_graphrag.embeddings.base import Embedder
from neo4j_graphrag.exceptions import EmbeddingsGenerationError
from neo4j_graphrag.retrievers import VectorCypherRetriever, VectorRetriever
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult

from clients import ERAS, client, items_of, text_of
from films import INDEX, PUBLISHED_QUERY
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.server import create_mcp_server
from openai_endpoint import vector

if TYPE_CHECKING:
    from clients import Era
    from films import Films

SECRET = "sk-0wn-s3cr3t-4711"


class LocalEmbedder(Embedder):
    """The local model as neo4j-graphrag takes it."""

    def embed_query(self, text: str) -> list[float]:
        return list(vector(text))


class Own(Retriever):
    """A retriever of somebody's own, which returns some rows or raises."""

    VERIFY_NEO4J_VERSION = False

    def __init__(self, driver: neo4j.Driver, outcome: list[dict[str, Any]] | Exception) -> None:
        super().__init__(driver)
        self.outcome = outcome
        self.asked: list[tuple[str, int]] = []

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        self.asked.append((query_text, top_k))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return RawSearchResult(records=[neo4j.Record(row) for row in self.outcome[:top_k]])


class TakesAnything(Own):
    """One that declares its arguments no closer than its base class does."""

    def get_search_results(self, *_: Any, **kwargs: Any) -> RawSearchResult:
        return super().get_search_results(kwargs["query_text"], kwargs["top_k"])


@pytest.mark.parametrize("era", ERAS)
def test_a_stock_vector_retriever_answers_without_python_notation(films: Films, era: Era):
    retriever = VectorRetriever(films.neo4j.driver, INDEX, LocalEmbedder(), neo4j_database=films.neo4j.database)
    assert isinstance(retriever, Retriever)  # spoils the cache that the library's classes share for such questions
    with client(create_mcp_server(retriever, namespace="films"), era) as mcp:
        assert mcp.tool().name == "films-neo4j_vector"
        assert mcp.tool().title == "Neo4j vector"
        result = mcp.call("films-neo4j_vector", query="a great white shark", top_k=2)

        assert len(items_of(result)) == 2
        assert "Jaws" in items_of(result)[0]["text"]
        for foreign in ("<Record", "<Node", "None", "'"):
            assert foreign not in text_of(result).replace("heir's", "")


def test_a_stock_vector_cypher_retriever_answers_as_the_configured_one(films: Films):
    retriever = VectorCypherRetriever(
        films.neo4j.driver, INDEX, PUBLISHED_QUERY, LocalEmbedder(), neo4j_database=films.neo4j.database
    )
    with client(create_mcp_server(retriever)) as mcp:
        [item] = items_of(mcp.call("neo4j_vector", query="a great white shark", top_k=1))

        assert item["text"].startswith("Title: JawsPlot: A great white shark")
        assert item["metadata"] == {"imdbRating": 8.1}
        assert 0.5 < item["score"] <= 1


def test_several_retrievers_are_several_tools_with_their_own_descriptions(films: Films):
    rows = [{"text": "one"}, {"text": "two"}, {"text": "three"}]
    server = create_mcp_server(
        {"plots": Own(films.neo4j.driver, rows[:1]), "people": Own(films.neo4j.driver, rows)},
        "my-",
        descriptions={"people": "Who made the films."},
    )
    with client(server) as mcp:
        tools = {tool.name: tool for tool in mcp.tools()}
        assert set(tools) == {"my-plots", "my-people"}
        assert tools["my-people"].description == "Who made the films."
        assert [item["text"] for item in items_of(mcp.call("my-people", query="x", top_k=2))] == ["one", "two"]
        assert [item["text"] for item in items_of(mcp.call("my-plots", query="x"))] == ["one"]


@pytest.mark.parametrize("kind", [Own, TakesAnything])
def test_an_own_retriever_is_given_the_question_and_the_number(films: Films, kind: type[Own]):
    retriever = kind(films.neo4j.driver, [{"text": "found"}])
    with client(create_mcp_server(retriever)) as mcp:
        items_of(mcp.call("neo4j_vector", query="a shark", top_k=7))

    assert retriever.asked == [("a shark", 7)]


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(f"could not log in with {SECRET}"),
        ValueError(f"line one\n{SECRET}"),
        KeyError(SECRET),
        EmbeddingsGenerationError(f"Failed to generate embedding: Incorrect API key provided: {SECRET}"),
        neo4j.exceptions.ServiceUnavailable(f"Couldn't connect to bolt://neo4j:{SECRET}@db:7687"),
        neo4j.exceptions.AuthError(f"wrong password {SECRET}"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_an_own_retriever_raises_is_one_line_without_its_text(films: Films, error: Exception):
    with client(create_mcp_server(Own(films.neo4j.driver, error))) as mcp:
        said = mcp.refused("neo4j_vector", query="a shark")

        assert SECRET not in said
        assert mcp.refused("neo4j_vector", query="a shark") == said


def test_values_of_an_own_retriever_are_plain_json(films: Films):
    rows = [
        {"text": "row", "score": float("nan"), "metadata": {"at": neo4j.time.Date(2010, 7, 16), "big": [0.5] * 512}}
    ]
    with client(create_mcp_server(Own(films.neo4j.driver, rows))) as mcp:
        [item] = items_of(mcp.call("neo4j_vector", query="a shark"))

    assert item == {"text": "row", "score": None, "metadata": {"at": "2010-07-16"}}


def test_what_is_no_retriever_is_refused():
    with pytest.raises(SetupError, match="'neo4j_vector' is a str, not a retriever"):
        create_mcp_server("a shark")  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="'a' is a NoneType, not a retriever"):
        create_mcp_server({"a": None})  # type: ignore[dict-item]


def test_a_name_that_clients_refuse_is_refused(films: Films):
    with pytest.raises(SetupError, match="characters that clients refuse"):
        create_mcp_server({"my tool": Own(films.neo4j.driver, [])})
