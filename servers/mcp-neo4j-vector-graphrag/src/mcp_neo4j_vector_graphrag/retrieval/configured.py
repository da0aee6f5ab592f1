"""The retriever that the settings describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neo4j.exceptions import ConfigurationError

from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.settings import Settings


def configured_retriever(settings: Settings) -> VectorGraphRetriever:
    """Return the retriever of `neo4j_vector`; neither the database nor the embedder is asked anything yet.

    Raises:
        SetupError: The URI is none that the driver takes.
    """
    password = settings.password.get_secret_value() if settings.password else None
    try:
        driver = open_driver(settings.uri or "", settings.username, password)
    except (ConfigurationError, ValueError) as error:
        raise SetupError(f"NEO4J_URI is refused by the driver ({type(error).__name__}): check it.") from None
    return VectorGraphRetriever(
        Database(driver, settings.database, settings.read_timeout),
        settings.index_name or "",
        embedder=LazyEmbedder(settings.embedding_model),
        retrieval_query=settings.retrieval_query,
        allowed_procedures=settings.allowed_procedures,
    )
