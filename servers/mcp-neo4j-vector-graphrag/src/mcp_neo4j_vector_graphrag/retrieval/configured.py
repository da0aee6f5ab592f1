"""Retrievers as the settings describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.row import entity_as_document, row_as_document

if TYPE_CHECKING:
    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.types import RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.settings import Settings


class DocumentRetriever(VectorGraphRetriever):
    """The same retriever with results as maps in place of texts."""

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        """Return a row as a map with id and score, in plain JSON and without its vectors."""
        row = self.plain.row(record)
        return row_as_document(row) if self.retrieval_query else entity_as_document(row)


def configured_retriever(settings: Settings, database: Database, embedder: Embedder) -> VectorGraphRetriever:
    """Return the retriever of `neo4j_vector`; neither the database nor the embedder is asked anything yet."""
    return VectorGraphRetriever(
        database,
        settings.index_name or "",
        embedder=embedder,
        retrieval_query=settings.retrieval_query,
        allowed_procedures=settings.allowed_procedures,
        candidates=settings.candidates,
        index_setting="INDEX_NAME",
    )


def discovered_retriever(
    settings: Settings, database: Database, embedder: Embedder, index_name: str
) -> VectorGraphRetriever:
    """Return the retriever of a discovered index; nothing is asked yet."""
    return DocumentRetriever(
        database,
        index_name,
        embedder=embedder,
        retrieval_query=settings.retrieval_query,
        allowed_procedures=settings.allowed_procedures,
        candidates=settings.candidates,
    )
