"""Retrievers as the settings describe them. Nothing is asked of the database or the embedder yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.row import entity_as_document, row_as_document

if TYPE_CHECKING:
    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.types import RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.values import PlainJson
    from mcp_neo4j_vector_graphrag.settings import Settings


class Documents:
    """A retriever whose results are maps in place of texts."""

    plain: PlainJson
    retrieval_query: str

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        """Return a row as a map with id and score, in plain JSON and without its vectors."""
        row = self.plain.row(record)
        return row_as_document(row) if self.retrieval_query else entity_as_document(row)


class VectorDocuments(Documents, VectorGraphRetriever):
    """Search by meaning with maps as results."""


class FulltextDocuments(Documents, FulltextGraphRetriever):
    """Search by words with maps as results."""


class HybridDocuments(Documents, HybridGraphRetriever):
    """Search by both with maps as results."""


def vector_retriever(settings: Settings, database: Database, embedder: Embedder) -> VectorGraphRetriever:
    """Return the retriever of `neo4j_vector`."""
    return VectorGraphRetriever(
        database,
        settings.index_name or "",
        embedder=embedder,
        retrieval_query=settings.retrieval_query,
        allowed_procedures=settings.allowed_procedures,
        candidates=settings.candidates,
        index_setting="INDEX_NAME",
    )


def hybrid_retriever(settings: Settings, database: Database, embedder: Embedder) -> HybridGraphRetriever:
    """Return the retriever of `neo4j_hybrid`."""
    return HybridGraphRetriever(
        database,
        settings.index_name or "",
        settings.fulltext_index_name or "",
        embedder=embedder,
        retrieval_query=settings.retrieval_query,
        allowed_procedures=settings.allowed_procedures,
        candidates=settings.candidates,
        index_setting="INDEX_NAME",
        fulltext_index_setting="FULLTEXT_INDEX_NAME",
    )


def vector_documents(settings: Settings, database: Database, embedder: Embedder, index: str) -> VectorDocuments:
    """Return the retriever of a vector index that was found in the database."""
    return VectorDocuments(
        database,
        index,
        embedder=embedder,
        retrieval_query=settings.retrieval_query,
        allowed_procedures=settings.allowed_procedures,
        candidates=settings.candidates,
    )


def fulltext_documents(settings: Settings, database: Database, index: str) -> FulltextDocuments:
    """Return the retriever of a full-text index that was found in the database."""
    return FulltextDocuments(
        database, index, retrieval_query=settings.retrieval_query, allowed_procedures=settings.allowed_procedures
    )


def hybrid_documents(
    settings: Settings, database: Database, embedder: Embedder, index: str, fulltext_index: str
) -> HybridDocuments:
    """Return the retriever of a vector and a full-text index that were found in the database."""
    return HybridDocuments(
        database,
        index,
        fulltext_index,
        embedder=embedder,
        retrieval_query=settings.retrieval_query,
        allowed_procedures=settings.allowed_procedures,
        candidates=settings.candidates,
    )
