"""A schema as it is put together, without a Neo4j."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from neo4j.exceptions import ClientError, Neo4jError

from indexed import FakeDatabase, fulltext, index
from mcp_neo4j_vector_graphrag.database.schema.entries import FulltextIndexSchema, VectorIndexSchema
from mcp_neo4j_vector_graphrag.database.schema.read import read_schema
from mcp_neo4j_vector_graphrag.errors import UnavailableError

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database


class Empty(FakeDatabase):
    """Has indexes, and no node or relationship."""

    def read(self, statement: str, parameters: object = None, _: float | None = None) -> list[Any]:
        if "db.stats.retrieve" in statement:
            return [{"nodes": [], "relationships": []}]
        return super().read(statement, parameters)


def test_what_indexes_name_is_shown_though_nothing_is_there():
    rows = [
        fulltext("texts", "(Doc|Page)", "text", state="POPULATING"),
        index("docs", "(Doc)", "emb", "year"),
        {**index("lookups", "[CITES]", "page", "emb"), "type": "RANGE", "config": {}},
    ]
    schema = read_schema(cast("Database", Empty(rows)))

    assert schema.vector_indexes == [
        VectorIndexSchema(
            name="docs",
            on="node",
            labels=["Doc"],
            property="emb",
            dimensions=8,
            similarity="cosine",
            filter_properties=["year"],
            state="ONLINE",
        )
    ]
    assert schema.fulltext_indexes == [
        FulltextIndexSchema(
            name="texts", on="node", labels=["Doc", "Page"], properties=["text"], analyzer=None, state="POPULATING"
        )
    ]
    assert {each.name: (each.count, each.properties) for each in (*schema.labels, *schema.relationship_types)} == {
        "Doc": (0, {"text": "unknown", "emb": "VECTOR(8)", "year": "unknown"}),
        "Page": (0, {"text": "unknown"}),
        "CITES": (0, {"page": "unknown", "emb": "unknown"}),
    }


def test_a_constraint_without_properties_is_shown():
    """As graph types of the Enterprise edition have them: a label that others come with."""

    class Constrained(Empty):
        def read(self, statement: str, parameters: object = None, seconds: float | None = None) -> list[Any]:
            if not statement.startswith("SHOW CONSTRAINTS"):
                return super().read(statement, parameters, seconds)
            row = {**index("implied", "(Doc)"), "type": "NODE_LABEL_EXISTENCE", "properties": None}
            return Empty([row]).read("SHOW INDEXES")

    [constraint] = read_schema(cast("Database", Constrained([]))).constraints
    assert (constraint.name, constraint.labels, constraint.properties) == ("implied", ["Doc"], [])


def test_a_schema_that_takes_too_long_is_told_with_its_own_time_and_what_to_ask_for():
    class Slow(Empty):
        read_timeout = 7.0

        def read(self, *_: object) -> list[Any]:
            raise timed_out()

    with pytest.raises(UnavailableError) as caught:
        read_schema(cast("Database", Slow([])))
    assert str(caught.value) == "The schema took longer than 7 s to read: ask for some `labels` or `types` alone."


def timed_out() -> Neo4jError:
    code = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
    error = Neo4jError._basic_hydrate(neo4j_code=code, message="too long")  # the driver has no public way to make one
    assert isinstance(error, ClientError)
    return error
