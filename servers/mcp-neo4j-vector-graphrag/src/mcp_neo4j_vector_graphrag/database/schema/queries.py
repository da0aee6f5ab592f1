"""Statements of a look at the schema, which together keep to one time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag import deadline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import neo4j

    from mcp_neo4j_vector_graphrag.database.connection import Database

_LOOKED_AT = 5_000
"""Entities of all labels together, or of all types, that are wanted, as far as each gets the least."""
_LEAST, MOST = 10, 1_000
"""Entities of one label or type."""

_BATCH = 50
"""Branches in one statement: planning them is what costs."""
_AT_ONCE = 4


def sample_size(names: int) -> int:
    """Return how many entities of each label or type are looked at, by how many labels or types there are."""
    return max(_LEAST, min(_LOOKED_AT // max(names, 1), MOST))


def read_branches(
    database: Database, branches: Sequence[str], parameters: Mapping[str, Any], end: float, tail: str = ""
) -> list[neo4j.Record]:
    """Return the rows of many small statements, run as few large ones, some at once.

    Args:
        database: Where.
        branches: Statements of the same columns.
        parameters: Of all of them.
        end: When to give up, by the monotonic clock.
        tail: What is done with their rows.
    """
    texts = [" UNION ALL ".join(branches[first : first + _BATCH]) for first in range(0, len(branches), _BATCH)]
    statements = [f"CALL () {{ {text} }}{tail}" if tail else text for text in texts]
    rows: list[neo4j.Record] = []
    for first in range(0, len(statements), _AT_ONCE):
        together = statements[first : first + _AT_ONCE]
        running = [deadline.start(read_until, database, each, parameters, end) for each in together]
        rows += [row for each in running for row in each.result()]
    return rows


def read_until(database: Database, statement: str, parameters: Mapping[str, Any], end: float) -> list[neo4j.Record]:
    """Return the rows of a statement, which the database ends at a time by the monotonic clock."""
    return database.read(statement, parameters, max(end - time.monotonic(), 0.1))
