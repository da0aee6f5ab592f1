"""Reads the schema of a database in bounded time and without any plugin."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.schema.assembly import schema_of
from mcp_neo4j_vector_graphrag.database.schema.catalogue import read_catalogue
from mcp_neo4j_vector_graphrag.database.schema.counts import read_counts
from mcp_neo4j_vector_graphrag.database.schema.pairs import certain_pairs, read_pairs
from mcp_neo4j_vector_graphrag.database.schema.sample import (
    NODES,
    RELATIONSHIPS,
    read_shapes,
)
from mcp_neo4j_vector_graphrag.database.schema.scope import scope_of
from mcp_neo4j_vector_graphrag.database.values import USUAL_DIMENSIONS
from mcp_neo4j_vector_graphrag.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.schema.counts import Counts
    from mcp_neo4j_vector_graphrag.database.schema.entries import Schema
    from mcp_neo4j_vector_graphrag.database.schema.sample import Shape
    from mcp_neo4j_vector_graphrag.database.schema.scope import Scope

_SECONDS = 25.0
"""For the whole schema."""
_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"


def read_schema(database: Database, labels: Collection[str] = (), types: Collection[str] = ()) -> Schema:
    """Return the schema; its cost grows with the labels and types, and not with the nodes and relationships.

    Args:
        database: Where.
        labels: Only these, with the relationship types that touch them unless `types` are given.
        types: Only these relationship types.

    Raises:
        QuestionError: There is no such label or type.
        Neo4jError: Neo4j refused to be asked, or took too long.
        DriverError: The connection failed.
        UnavailableError: The whole took too long.
    """
    seconds = min(_SECONDS, database.read_timeout)
    end = time.monotonic() + seconds
    try:
        return _read(database, labels, types, end)
    except Neo4jError as error:
        if error.code != _TIMED_OUT:
            raise
        raise UnavailableError(
            f"The schema took longer than {seconds:g} s to read: ask for some `labels` or `types` alone."
        ) from None


def _read(database: Database, labels: Collection[str], types: Collection[str], end: float) -> Schema:
    counting = deadline.start(read_counts, database, end)
    catalogue = read_catalogue(database, end)
    counts = counting.result().with_names(catalogue.names("node"), catalogue.names("relationship"))
    scope = scope_of(labels, types, counts)

    dimensions = USUAL_DIMENSIONS | catalogue.indexes.vector_dimensions
    labels_there, types_there = _occurring(scope.labels, counts.labels), _occurring(scope.types, counts.types)
    looks = [
        deadline.start(read_shapes, database, kind, there, dimensions, end)
        for kind, there in ((NODES, labels_there), (RELATIONSHIPS, types_there))
    ]
    nodes, joined = (look.result() for look in looks)
    _complete_pairs(database, joined, counts, end)
    return schema_of(_confirmed(scope, joined, counts), catalogue, counts, nodes, joined)


def _occurring(names: Collection[str], counts: Mapping[str, int]) -> dict[str, int]:
    """Return the names that some entities have, and how many."""
    return {name: counts[name] for name in names if counts[name]}


def _complete_pairs(database: Database, shapes: Mapping[str, Shape], counts: Counts, end: float) -> None:
    """Add the pairs that must occur, and those of labels that are at a type's ends and not in its sample."""
    looks: set[tuple[str, str, bool]] = set()
    for kind, shape in shapes.items():
        starts, ends = counts.starts.get(kind, {}), counts.ends.get(kind, {})
        shape.pairs |= certain_pairs(counts.types[kind], starts, ends)
        looks |= {(label, kind, True) for label in starts.keys() - {start for start, _ in shape.pairs}}
        looks |= {(label, kind, False) for label in ends.keys() - {last for _, last in shape.pairs}}
    for kind, pairs in read_pairs(database, looks, end).items():
        shapes[kind].pairs |= pairs


def _confirmed(scope: Scope, joined: Mapping[str, Shape], counts: Counts) -> Scope:
    """Return the scope without the types of which a look shows that they touch none of its labels."""
    if not scope.types_by_labels:
        return scope

    def touches(kind: str) -> bool:
        seen = {label for pair in joined[kind].pairs for label in pair} if kind in joined else set()
        return not (seen | counts.at_ends(kind)).isdisjoint(scope.labels)

    return replace(scope, types={kind for kind in scope.types if touches(kind)})
