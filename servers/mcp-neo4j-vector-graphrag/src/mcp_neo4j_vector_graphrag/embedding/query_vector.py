"""Where the query vector of a statement comes from: a parameter, or a function of the database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.database.capabilities import NEW_EMBED

if TYPE_CHECKING:
    from collections.abc import Mapping

QUERY_VECTOR = "query_vector"
PARAMETER = f"${QUERY_VECTOR}"


@dataclass(frozen=True)
class QueryVector:
    """A Cypher expression for the vector of a question, and the parameters that it uses."""

    expression: str
    parameters: Mapping[str, Any] = field(repr=False)

    @classmethod
    def known(cls, vector: list[float]) -> QueryVector:
        """Return the source of a vector that is here already."""
        return cls(PARAMETER, {QUERY_VECTOR: vector})

    @property
    def needs_cypher_25(self) -> bool:
        """Whether the expression is known to Cypher 25 alone."""
        return self.expression.startswith(NEW_EMBED)

    @property
    def vector(self) -> list[float] | None:
        """The vector, where it is here; `None` where the database makes it."""
        found: list[float] | None = self.parameters.get(QUERY_VECTOR)
        return found
