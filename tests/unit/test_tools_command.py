"""What the `tools` command prints, and what tools cost."""

from __future__ import annotations

import mcp_types

from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex
from mcp_neo4j_vector_graphrag.database.sample import Property, Sample
from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered
from mcp_neo4j_vector_graphrag.tools.discovered import describe as describe_index
from mcp_neo4j_vector_graphrag.tools.filter_schema import filters_schema
from mcp_neo4j_vector_graphrag.tools.search import SearchTool, filters_argument
from mcp_neo4j_vector_graphrag.tools_command import cost, describe

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}

TYPES = ("STRING", "INTEGER", "FLOAT", "BOOLEAN", "DATE", "ZONED DATETIME", "STRING", "STRING")
VALUES = {
    "STRING": tuple(f"category {place}" for place in range(12)),
    "INTEGER": (1994, 2003, 2010),
    "FLOAT": (7.5, 8.1, 9.0),
    "BOOLEAN": (True, False),
    "DATE": ("1999-12-31", "2001-01-01", "2026-11-30"),
    "ZONED DATETIME": ("1999-12-31T12:00:00Z", "2001-01-01T12:00:00Z", "2026-11-30T12:00:00Z"),
}


def tool(name: str, description: str) -> mcp_types.Tool:
    return mcp_types.Tool(name=name, description=description, input_schema=SCHEMA, output_schema={"a": "b" * 4000})


def test_each_tool_is_told_with_its_description_arguments_and_tokens():
    # As JSON, the name, the description and the input schema of each are 108 characters long.
    assert describe([tool("a", "Finds."), tool("b", "Looks.")]) == (
        'a (about 27 tokens)\n  Finds.\n  query: {"type":"string"}\n\n'
        'b (about 27 tokens)\n  Looks.\n  query: {"type":"string"}\n\n'
        "2 tools, about 54 tokens without their output schemas"
    )


def test_no_tools_are_told_to_be_none():
    assert describe([]) == "0 tools, about 0 tokens without their output schemas"


def test_five_indexes_with_eight_filters_each_cost_less_than_4000_tokens():
    filters = {
        f"property{place}": Property(f"property{place}", (kind,), in_index=place < 4, count=100, values=VALUES[kind])
        for place, kind in enumerate(TYPES)
    }
    texts = {"summary": Property("summary", ("STRING",), values=("x" * 80,), count=100)}
    tools = []
    for place in range(5):
        index = VectorIndex(
            f"documentEmbeddings{place}", "node", (f"Document{place}",), "emb", (), 384, "cosine", "ONLINE"
        )
        found = Discovered(index, 123_456, Sample(100, {**filters, **texts}), filters)
        made = SearchTool(
            name=f"search_{index.name}",
            title=f"Search {index.name}",
            description=describe_index(found),
            retriever=lambda: None,  # type: ignore[arg-type, return-value] # never called
            arguments=(filters_argument(filters_schema(filters)),),
        )
        tools.append(made.build().to_mcp_tool())
    assert 2_000 < sum(map(cost, tools)) < 4_000
