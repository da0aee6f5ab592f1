"""The embedder that the settings describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.embedding.in_database import InDatabaseEmbedder

if TYPE_CHECKING:
    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.settings import Settings


def configured_embedder(settings: Settings) -> Embedder:
    """Return the embedder of every tool: the provider's inside the database, or the model's in this server."""
    if settings.embedding_provider:
        return InDatabaseEmbedder(settings.embedding_provider, settings.embedding_credentials)
    return LazyEmbedder(settings.embedding_model)
