"""Embedding inside Neo4j, by the GenAI plugin: the question goes in, and no vector comes out.

Two functions do it: `ai.text.embed` since 2025.11, `genai.vector.encode` before. They name providers and settings
differently; both tables are here. A key travels as a bound parameter in a map, and nowhere else.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from neo4j_graphrag.embeddings.base import Embedder

from mcp_neo4j_vector_graphrag.database.capabilities import NEW_EMBED, OLD_EMBED, EmbedFunction
from mcp_neo4j_vector_graphrag.embedding.query_vector import QueryVector
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError, one_line
from mcp_neo4j_vector_graphrag.logs import blank_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neo4j.exceptions import Neo4jError

    from mcp_neo4j_vector_graphrag.embedding.provider import Credentials, Provider


_logger = logging.getLogger(__name__)

NO_FUNCTION = (
    "This Neo4j has no function that embeds text: install the GenAI plugin on the server (Aura has it), "
    "or set EMBEDDING_MODEL in place of NEO4J_EMBEDDING_PROVIDER."
)
FAILED = (
    "The database could not embed the question: check that the GenAI plugin is installed and its credentials are "
    "valid; the server's log has the details."
)

OTHER_LENGTH = (
    "The provider's model makes vectors of {vector} dimensions and the index holds vectors of {index}: set "
    "NEO4J_EMBEDDING_MODEL and NEO4J_EMBEDDING_DIMENSIONS to what made the index's vectors."
)
_LENGTHS = (
    re.compile(r"dimensionality of (?P<index>\d+), but the provided vector has dimension (?P<vector>\d+)"),
    re.compile(r"query vector has (?P<vector>\d+) dimensions, but indexed vectors have (?P<index>\d+)"),
)
"""What the SEARCH clause and the procedure say of a vector that the index does not take."""

_OLD_NAMES: dict[Provider, str] = {
    "openai": "OpenAI",
    "azure-openai": "AzureOpenAI",
    "vertexai": "VertexAI",
    "bedrock-titan": "Bedrock",
}


class InDatabaseEmbedder(Embedder):
    """Has the database embed the question, by whichever function it has.

    Args:
        provider: Whose model it is.
        credentials: What the provider needs.
    """

    def __init__(self, provider: Provider, credentials: Credentials) -> None:
        super().__init__()
        self.provider = provider
        self.credentials = credentials

    def embed_query(self, text: str) -> list[float]:  # noqa: ARG002 - the base class's
        """Refuse: the vector never leaves the database. The library asks each embedder to have this method."""
        raise SetupError("The question is embedded inside the database; only a search can ask for that.")

    def fault(self, error: Neo4jError) -> GraphRAGError | None:
        """Return what a caller is told if the embedding is at fault, and log its cause; `None` if something else is.

        A provider may quote the key, so it is taken out of the cause before anything else is done with that.
        """
        message = error.message or ""
        if lengths := next(filter(None, (said.search(message) for said in _LENGTHS)), None):
            return SetupError(OTHER_LENGTH.format(**lengths.groupdict()))
        if not any(name in message for name in (NEW_EMBED, OLD_EMBED, "org.neo4j.genai")):
            return None
        cause = blank_out(message, self.credentials.secrets)
        _logger.error("The database could not embed a question: %s", one_line(cause, 1_000))
        return SetupError(FAILED)

    def without_secrets(self, fault: GraphRAGError) -> GraphRAGError:
        """Return a fault whose text, in part Neo4j's, quotes no secret."""
        return type(fault)(blank_out(str(fault), self.credentials.secrets))

    def query_vector(self, question: str, function: EmbedFunction | None) -> QueryVector:
        """Return the call that embeds a question.

        Args:
            question: Bound as a parameter.
            function: What the database has; `None` if it has neither.

        Raises:
            SetupError: The database has no such function.
        """
        if function is None:
            raise SetupError(NO_FUNCTION)
        name = self.provider if function == NEW_EMBED else _OLD_NAMES[self.provider]
        configuration = _new_style if function == NEW_EMBED else _old_style
        return QueryVector(
            f"{function}($embedding_text, $embedding_provider, $embedding_configuration)",
            {
                "embedding_text": question,
                "embedding_provider": name,
                "embedding_configuration": configuration(self.provider, self.credentials),
            },
        )


def _new_style(provider: Provider, given: Credentials) -> dict[str, Any]:
    """Return the configuration of `ai.text.embed`; the provider's own options go in a map of their own."""
    size = "outputDimensionality" if provider == "vertexai" else "dimensions"
    options = {"vendorOptions": {size: given.dimensions}} if given.dimensions else {}
    return {**_set(_keys(provider, given, new=True)), **options}


def _old_style(provider: Provider, given: Credentials) -> dict[str, Any]:
    """Return the configuration of `genai.vector.encode`; only OpenAI's models take a size."""
    options = {"dimensions": given.dimensions} if given.dimensions and provider in ("openai", "azure-openai") else {}
    return {**_set(_keys(provider, given, new=False)), **options}


def _keys(provider: Provider, given: Credentials, *, new: bool) -> dict[str, Any]:
    match provider:
        case "openai":
            return {"token": given.api_key, "model": given.model}
        case "azure-openai":
            return {
                "token": given.api_key,
                "resource": given.azure_resource,
                "model" if new else "deployment": given.model,
            }
        case "vertexai":
            return {
                "token": given.api_key,
                "model": given.model,
                "project" if new else "projectId": given.vertex_project,
                "region": given.vertex_region,
                **({"publisher": given.vertex_publisher} if new else {}),
            }
        case "bedrock-titan":
            return {
                "accessKeyId": given.aws_access_key_id,
                "secretAccessKey": given.aws_secret_access_key,
                "model": given.model,
                "region": given.aws_region,
            }


def _set(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is set, with its secrets bare: from here on it is the value of a parameter."""
    return {
        name: value.get_secret_value() if hasattr(value, "get_secret_value") else value
        for name, value in values.items()
        if value
    }
