"""The embedder that the settings describe."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.embedding.in_database import InDatabaseEmbedder

if TYPE_CHECKING:
    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.settings import Settings


def configured_embedder(settings: Settings) -> Embedder:
    """Return the embedder of every tool: the provider's inside the database, or the model's in this server."""
    if settings.embedding_provider:
        return InDatabaseEmbedder(settings.embedding_provider, settings.embedding_credentials)
    return LazyEmbedder(settings.embedding_model, settings.read_timeout + CALL_OVERHEAD_SECONDS)


class Embedders:
    """The embedders of one server: one for each model, whoever asks for it, so that a question is embedded once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[tuple[str | None, str | None], Embedder] = {}

    def of(self, settings: Settings) -> Embedder:
        """Return the embedder of the settings' model and provider."""
        key = (settings.embedding_model, settings.embedding_provider)
        with self._lock:
            if key not in self._made:
                self._made[key] = configured_embedder(settings)
            return self._made[key]
