"""What can be searched in a database that nobody described: its vector indexes, and what their entities look like."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.cypher import quote
from mcp_neo4j_vector_graphrag.database.faults import complaint
from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex
from mcp_neo4j_vector_graphrag.database.sample import Sample, read_sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from concurrent.futures import Future

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import AnyIndex, VectorIndex
    from mcp_neo4j_vector_graphrag.database.sample import Property

MAX_FILTERS = 8
_LOOKS_AT_ONCE = 8
_logger = logging.getLogger(__name__)

_COMMON = 0.5
"""A property outside the index is worth a filter if this share of the sample has it."""


@dataclass(frozen=True)
class Discovered:
    """One index and what a model must know to search it."""

    index: AnyIndex
    count: int
    """How many entities have the index's labels or types."""
    sample: Sample
    filters: Mapping[str, Property]
    """The properties that can be filtered by, those in the index first."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The properties that hold texts: those in a full-text index, else the long ones."""
        if isinstance(self.index, FulltextIndex):
            return self.index.properties
        return tuple(name for name, known in self.sample.properties.items() if known.is_long_text)


def discover(database: Database, indexes: Iterable[AnyIndex], max_filters: int = MAX_FILTERS) -> list[Discovered]:
    """Return what a model must know of indexes, in their order: two round trips for each, eight at a time.

    Raises:
        Neo4jError: Neo4j refused to be asked.
        DriverError: The connection failed.
        UnavailableError: No answer came in time.
    """
    found: list[Discovered] = []
    remaining = list(indexes)
    while batch := remaining[:_LOOKS_AT_ONCE]:
        remaining = remaining[_LOOKS_AT_ONCE:]
        looks = [(index, deadline.start(_look, database, index, max_filters)) for index in batch]
        found += [each for index, look in looks if (each := _outcome(index, look))]
    return found


def _outcome(index: AnyIndex, look: Future[Discovered]) -> Discovered | None:
    """Return what a look found; `None` if Neo4j refused it, as it does when the index was dropped meanwhile."""
    try:
        return look.result()
    except Neo4jError as error:
        _logger.warning("The index '%s' gets no tool: %s", index.name, complaint(error)[0])
        return None


def _look(database: Database, index: AnyIndex, max_filters: int) -> Discovered:
    sample = read_sample(database, index)
    return Discovered(index, _count(database, index), sample, offered(sample, max_filters))


def offered(sample: Sample, limit: int) -> dict[str, Property]:
    """Return the properties worth a filter: those in the index, then the commonest of the other scalar ones."""
    inside = [known for known in sample.properties.values() if known.in_index and (known.is_scalar or not known.types)]
    others = [
        known
        for known in sample.properties.values()
        if known.is_scalar and not known.in_index and not known.is_long_text and known.count >= _COMMON * sample.size
    ]
    others.sort(key=lambda known: (-known.count, known.name))
    return {known.name: known for known in [*inside, *others][:limit]}


def _count(database: Database, index: AnyIndex) -> int:
    """Return how many entities have an index's labels or types, from the count store."""
    found = ("(n:{})" if index.variable == "node" else "()-[n:{}]->()").format
    parts = [f"MATCH {found(quote(label))} RETURN count(n) AS count" for label in index.labels]
    return sum(row["count"] for row in database.read(" UNION ALL ".join(parts)))


def how_to_begin(database: Database) -> str:
    """Return what an operator of a database without a vector index does next, with the statement for it."""
    labels = [row["label"] for row in database.read(f"CALL db.labels() YIELD label RETURN label LIMIT {_LABELS}")]
    looks = [_VECTORS.format(label=quote(label), place=place) for place, label in enumerate(labels)]
    found = max(database.read(" UNION ALL ".join(looks)), key=lambda row: row["count"], default=None) if looks else None
    if found is None:
        return f"No property looks like a vector: embed your texts into one, then {_statement('Label', 'embedding', 0)}"
    return f"Create one: {_statement(labels[found['place']], found['key'], found['dimensions'])}"


def how_to_begin_fulltext(database: Database, indexes: Iterable[VectorIndex]) -> str:
    """Return how to create a full-text index, for the texts that a vector index is about if there is one."""
    for index in indexes:
        names = [name for name, known in read_sample(database, index).properties.items() if known.is_long_text]
        if names:
            labels = "|".join(map(quote, index.labels))
            found = f"(e:{labels})" if index.variable == "node" else f"()-[e:{labels}]-()"
            texts = ", ".join(f"e.{quote(name)}" for name in names)
            return f"Create one: CREATE FULLTEXT INDEX {quote(f'{index.name}_texts')} FOR {found} ON EACH [{texts}]"
    return "Create one: CREATE FULLTEXT INDEX `texts` FOR (e:`Label`) ON EACH [e.`text`], with your label and property"


def _statement(label: str, key: str, dimensions: int) -> str:
    size = str(dimensions) if dimensions else "<the model's dimensions>"
    return (
        f"CREATE VECTOR INDEX {quote(f'{label}_{key}')} FOR (n:{quote(label)}) ON n.{quote(key)} "
        f"OPTIONS {{indexConfig: {{`vector.dimensions`: {size}, `vector.similarity_function`: 'cosine'}}}}"
    )


_LABELS = 50
_VECTORS = (
    "MATCH (n:{label}) WITH n LIMIT 20 UNWIND keys(n) AS key "
    "WITH key, CASE WHEN valueType(n[key]) STARTS WITH 'LIST<FLOAT' THEN size(n[key]) END AS dimensions "
    "WHERE dimensions >= 32 RETURN {place} AS place, key, dimensions, count(*) AS count"
)
