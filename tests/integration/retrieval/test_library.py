"""The retriever as one of neo4j-graphrag's, and what is used of that library."""

from __future__ import annotations

import inspect
import socket
from typing import Any

import neo4j
import pytest
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import LLMInterfaceV2, LLMResponse
from neo4j_graphrag.retrievers import VectorCypherRetriever, VectorRetriever
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResult, RetrieverResultItem

from embedders import KnownTexts
from graphs import Films, nearest, vectors
from mcp_neo4j_vector_graphrag.database import connection
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.items import search
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

QUESTION = [float(value) for value in vectors(1, seed=1)[0]]
RETURN_TEXT = "RETURN node.text AS text, score"


class EchoingLLM(LLMInterfaceV2):
    """Answers with what it was asked."""

    def __init__(self) -> None:
        super().__init__(model_name="echo")

    def invoke(self, input: Any, *_: Any, **__: Any) -> LLMResponse:  # noqa: A002 - the interface's name
        return LLMResponse(content=str(input))

    async def ainvoke(self, input: Any, *_: Any, **__: Any) -> LLMResponse:  # noqa: A002
        return self.invoke(input)


@pytest.fixture
def dead_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_it_is_a_retriever_of_the_library():
    # Not isinstance: the library's classes share one cache of its answers.
    assert {VectorCypherRetriever, Retriever} < {*VectorGraphRetriever.__mro__}


def test_it_is_constructed_without_a_query_and_says_at_the_search_what_is_wrong(
    dead_port: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "_RETRY_SECONDS", 0.2)
    with open_driver(f"bolt://127.0.0.1:{dead_port}", "neo4j", "any") as driver:
        retriever = VectorGraphRetriever(Database(driver, "neo4j"), "any", embedder=KnownTexts({"what?": QUESTION}))
        with pytest.raises(UnavailableError) as caught:
            retriever.search(query_text="what?")
    assert str(caught.value).startswith("Neo4j can't be reached: ")


def test_a_search_is_what_the_library_says_it_is(database: Database, films: Films):
    found = VectorGraphRetriever(database, films.films, retrieval_query=RETURN_TEXT).search(
        query_vector=QUESTION, top_k=2
    )
    assert isinstance(found, RetrieverResult)
    assert [item.content for item in found.items] == [f"film {i}" for i, _ in nearest(films.embeddings, QUESTION)[:2]]


def test_a_result_formatter_is_used(database: Database, films: Films):
    retriever = VectorGraphRetriever(
        database,
        films.films,
        retrieval_query=RETURN_TEXT,
        result_formatter=lambda record: RetrieverResultItem(content=record["text"].upper()),
    )
    expected = f"FILM {nearest(films.embeddings, QUESTION)[0][0]}"
    assert retriever.search(query_vector=QUESTION, top_k=1).items[0].content == expected


def test_it_feeds_the_librarys_own_pipeline(database: Database, films: Films):
    retriever = VectorGraphRetriever(
        database, films.films, embedder=KnownTexts({"what?": QUESTION}), retrieval_query=RETURN_TEXT
    )
    answer = GraphRAG(retriever, EchoingLLM()).search("what?", retriever_config={"top_k": 2}, return_context=True)
    expected = [f"film {i}" for i, _ in nearest(films.embeddings, QUESTION)[:2]]
    assert all(text in answer.answer for text in (*expected, "what?"))
    assert answer.retriever_result is not None
    assert [item.content for item in answer.retriever_result.items] == expected


def test_its_arguments_are_those_of_its_base_class():
    ours = inspect.signature(VectorGraphRetriever.get_search_results).parameters
    theirs = inspect.signature(VectorCypherRetriever.get_search_results).parameters
    assert {name: parameter.default for name, parameter in ours.items()} == {
        name: parameter.default for name, parameter in theirs.items()
    }


def test_the_base_class_asks_the_database_only_where_it_is_told_to(dead_port: int):
    """What the retriever stands on: the two places that it switches off are the only ones that ask."""
    fetched: list[str] = []

    class Quiet(VectorCypherRetriever):
        VERIFY_NEO4J_VERSION = False

        def _fetch_index_infos(self, vector_index_name: str) -> None:
            fetched.append(vector_index_name)

    with open_driver(f"bolt://127.0.0.1:{dead_port}", "neo4j", "any") as driver:
        Quiet(driver, "films", "RETURN 1")
    assert fetched == ["films"]
    assert VectorCypherRetriever.VERIFY_NEO4J_VERSION is True


def test_the_librarys_search_formats_by_get_result_formatter(database: Database):
    """What the retriever stands on: no other code stands between its rows and its formatter."""

    class Fixed(VectorGraphRetriever):
        def get_search_results(self, query_text: str) -> RawSearchResult:
            return RawSearchResult(records=[neo4j.Record({"asked": query_text})])

        def get_result_formatter(self) -> Any:
            return lambda record: RetrieverResultItem(content=f"formatted {record['asked']}")

    assert [item.content for item in Fixed(database, "any").search("what?").items] == ["formatted what?"]


@pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")  # the library's own
def test_a_stock_retrievers_answer_has_no_python_notation(database: Database, films: Films):
    embedder = KnownTexts({"what?": QUESTION})
    expected = [f"film {i}" for i, _ in nearest(films.embeddings, QUESTION)[:2]]
    driver: neo4j.Driver = database.driver
    cypher = VectorCypherRetriever(driver, films.films, RETURN_TEXT, embedder, neo4j_database=database.name)
    assert [item.content for item in search(cypher, "what?", {"top_k": 2}).items] == expected
    plain = VectorRetriever(driver, films.films, embedder, ["text", "year"], neo4j_database=database.name)
    for item, text in zip(search(plain, "what?", {"top_k": 2}).items, expected, strict=True):
        assert f'"text":"{text}"' in item.content
        assert not any(sign in item.content for sign in ("<Record", "<Node", "{'"))
        assert "emb" not in item.content
