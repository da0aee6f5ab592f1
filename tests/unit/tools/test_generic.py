"""`vector-search`: what a client sees of it, its arguments' published names, and which index a call means."""

from __future__ import annotations

from typing import Any, cast

import pytest
from fastmcp import FastMCP

from clients import client, text_of
from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools.generic import CamelCaseArguments, IndexChoice, vector_tool


def settings(**changes: object) -> Settings:
    given = {
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_EMBEDDING_PROVIDER": "openai",
        "NEO4J_EMBEDDING_MODEL": "m",
        "NEO4J_EMBEDDING_API_KEY": "k",
        **changes,
    }
    return Settings(**cast("dict[str, Any]", given))


def made(**changes: object) -> Any:
    chosen = settings(**changes)
    return vector_tool(chosen, IndexChoice(chosen, Backend(chosen), configured_embedder(chosen)))


@pytest.mark.parametrize(
    ("namespace", "name"), [(None, "vector-search"), ("dev", "dev-vector-search"), ("dev-", "dev-vector-search")]
)
def test_its_name_has_the_namespace(namespace: str | None, name: str):
    assert made(NEO4J_NAMESPACE=namespace).name == name


@pytest.mark.parametrize(("top_k", "default"), [(None, 10), (3, 3)])
def test_ten_are_returned_unless_the_operator_says_otherwise(top_k: int | None, default: int):
    assert made(TOP_K=top_k).build().parameters["properties"]["top_k"]["default"] == default


def test_what_the_data_is_about_comes_first_in_the_description():
    assert made(TOOL_DESCRIPTION="Danish films.").description.startswith("Danish films. Search a Neo4j vector index")
    assert made().description.startswith("Search a Neo4j vector index by meaning")


def test_the_operators_of_a_filter_are_listed():
    filters = made().build().parameters["properties"]["filters"]
    assert filters["items"]["properties"]["operator"]["enum"] == [
        *("=", "<>", "<", "<=", ">", ">=", "IN", "CONTAINS", "STARTS WITH", "ENDS WITH", "IS NULL", "IS NOT NULL")
    ]
    assert filters["items"]["required"] == ["property", "operator"]


def test_a_call_is_answered_a_while_after_the_databases_timeout_at_the_latest():
    assert made(NEO4J_READ_TIMEOUT=7).seconds == 22


def called_with(**arguments: object) -> str:
    """Return what a tool behind the middleware gets."""
    server = FastMCP("any", middleware=[CamelCaseArguments(["echo"])])

    @server.tool
    def echo(index_name: str | None = None, top_k: int = 10, other: str | None = None) -> str:
        return f"{index_name}/{top_k}/{other}"

    with client(server) as mcp:
        return text_of(mcp.call("echo", **arguments))


@pytest.mark.parametrize(
    ("arguments", "got"),
    [
        ({}, "None/10/None"),
        ({"indexName": "films", "topK": 3}, "films/3/None"),
        ({"index_name": "films", "top_k": 3, "other": "x"}, "films/3/x"),
        ({"indexName": "films", "top_k": 3}, "films/3/None"),
    ],
)
def test_the_published_names_of_arguments_are_taken(arguments: dict[str, object], got: str):
    assert called_with(**arguments) == got
