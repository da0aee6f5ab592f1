"""The retriever of any index or two, as the settings describe it. Nothing is asked of the database or the embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.row import entity_as_document, row_as_document

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import neo4j
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.types import RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.sample import Property
    from mcp_neo4j_vector_graphrag.database.values import PlainJson
    from mcp_neo4j_vector_graphrag.settings import Settings

    AnyRetriever = VectorGraphRetriever | FulltextGraphRetriever | HybridGraphRetriever


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


class _Common(TypedDict):
    """What every retriever of an index is given alike."""

    retrieval_query: str | None
    allowed_procedures: Sequence[str]
    filterable: Mapping[str, Property] | Collection[str] | None
    fixed_filters: Mapping[str, object] | None


def index_retriever(  # noqa: PLR0913 - all but the indexes and their settings go to the retriever as they are
    settings: Settings,
    database: Database,
    embedder: Embedder,
    index: str | None,
    fulltext_index: str | None,
    *,
    documents: bool = False,
    filterable: Mapping[str, Property] | Collection[str] | None = None,
    fixed_filters: Mapping[str, object] | None = None,
    index_setting: str | None = None,
    fulltext_index_setting: str | None = None,
) -> AnyRetriever:
    """Return a retriever with the retrieval query of the settings.

    Args:
        settings: The operator's.
        database: The database.
        embedder: Turns questions into vectors.
        index: The vector index, for a search by meaning.
        fulltext_index: The full-text index, for a search by words; with a vector index, by both.
        documents: Its results are maps in place of texts.
        filterable: What a caller may filter by.
        fixed_filters: What every search is narrowed to.
        index_setting: The setting that names the vector index, if one does.
        fulltext_index_setting: The setting that names the full-text index, if one does.
    """
    common: _Common = {
        "retrieval_query": settings.retrieval_query,
        "allowed_procedures": settings.allowed_procedures,
        "filterable": filterable,
        "fixed_filters": fixed_filters,
    }
    if index and fulltext_index:
        by_both = HybridDocuments if documents else HybridGraphRetriever
        return by_both(
            database,
            index,
            fulltext_index,
            embedder=embedder,
            candidates=settings.candidates,
            index_setting=index_setting,
            fulltext_index_setting=fulltext_index_setting,
            **common,
        )
    if index:
        by_meaning = VectorDocuments if documents else VectorGraphRetriever
        return by_meaning(
            database, index, embedder=embedder, candidates=settings.candidates, index_setting=index_setting, **common
        )
    by_words = FulltextDocuments if documents else FulltextGraphRetriever
    return by_words(database, fulltext_index or "", index_setting=fulltext_index_setting, **common)


def configured_retriever(
    settings: Settings, database: Database, embedder: Embedder, *, hybrid: bool = False
) -> AnyRetriever:
    """Return the retriever of `neo4j_vector`, or of `neo4j_hybrid`."""
    return index_retriever(
        settings,
        database,
        embedder,
        settings.index_name,
        settings.fulltext_index_name if hybrid else None,
        index_setting="INDEX_NAME",
        fulltext_index_setting="FULLTEXT_INDEX_NAME",
    )
