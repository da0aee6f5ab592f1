"""A schema as it is put together, without a Neo4j."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from indexed import FakeDatabase, fulltext, index
from mcp_neo4j_vector_graphrag.database.schema.entries import FulltextIndexSchema, VectorIndexSchema
from mcp_neo4j_vector_graphrag.database.schema.read import read_schema

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
