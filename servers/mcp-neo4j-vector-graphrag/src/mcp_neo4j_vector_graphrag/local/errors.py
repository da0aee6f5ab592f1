"""What goes wrong with a local Neo4j."""

from __future__ import annotations

from mcp_neo4j_vector_graphrag.errors import SetupError


class LocalDatabaseError(SetupError):
    """The local Neo4j could not be had. Its text is one sentence for the user, with the next step."""
