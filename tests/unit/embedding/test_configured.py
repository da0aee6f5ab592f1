"""One embedder for each model of a server."""

from __future__ import annotations

from typing import Any, cast

from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.embedding.configured import Embedders, configured_embedder
from mcp_neo4j_vector_graphrag.embedding.in_database import InDatabaseEmbedder
from mcp_neo4j_vector_graphrag.settings import Settings

DATABASE = {"NEO4J_URI": "bolt://127.0.0.1:1"}


def settings(**variables: str) -> Settings:
    return Settings(**cast("dict[str, Any]", {**DATABASE, **variables}))


def test_who_names_one_model_shares_its_embedder():
    embedders = Embedders()
    one = embedders.of(settings(EMBEDDING_MODEL="openai:a", INDEX_NAME="films"))

    assert embedders.of(settings(EMBEDDING_MODEL="openai:a")) is one
    assert embedders.of(settings(EMBEDDING_MODEL="openai:b")) is not one


def test_a_model_in_this_server_is_not_one_in_the_database():
    embedders = Embedders()
    provider = {"NEO4J_EMBEDDING_PROVIDER": "openai", "NEO4J_EMBEDDING_MODEL": "m", "NEO4J_EMBEDDING_API_KEY": "k"}

    assert isinstance(embedders.of(settings(**provider)), InDatabaseEmbedder)
    assert isinstance(embedders.of(settings()), LazyEmbedder)


def test_a_question_waits_no_longer_for_its_vector_than_a_call_takes():
    embedder = configured_embedder(settings(EMBEDDING_MODEL="openai:a", NEO4J_READ_TIMEOUT="5"))
    assert cast("LazyEmbedder", embedder)._seconds == 20
