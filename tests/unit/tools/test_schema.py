"""Which database `get-schema` shows, and how a model says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from fastmcp import FastMCP

from clients import client
from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools import schema
from mcp_neo4j_vector_graphrag.tools.family import Context

if TYPE_CHECKING:
    from pathlib import Path

    from fastmcp.tools import Tool

TABLE = '[[retriever]]\nname = "films"\ndescription = "Films."\nindex = "plots"\n'
ONE = '[database.one]\nuri = "bolt://127.0.0.1:1"\n'
TWO = '[database.two]\nuri = "bolt://127.0.0.1:2"\n'
ENVIRONMENT = {"NEO4J_URI": "bolt://127.0.0.1:3"}


def tool(folder: Path, text: str | None, variables: dict[str, str]) -> Tool:
    file = folder / "retrievers.toml"
    if text:
        file.write_text(text + TABLE.replace("index", 'database = "one"\nindex') if ONE in text else text, "utf-8")
        variables = {**variables, "RETRIEVERS_FILE": str(file)}
    settings = Settings(**cast("dict[str, Any]", variables))
    backend = Backend(settings)
    [made] = schema.build(Context(settings, backend, lambda _: True, Sources(settings, backend))).tools
    return made


@pytest.mark.parametrize(
    ("text", "variables"),
    [(None, ENVIRONMENT), (TABLE, ENVIRONMENT), (ONE, {})],
    ids=["environment", "file-without-database", "file-with-one"],
)
def test_the_only_database_needs_no_argument(tmp_path: Path, text: str | None, variables: dict[str, str]):
    assert set(tool(tmp_path, text, variables).parameters["properties"]) == {"labels", "types"}


def test_without_an_argument_it_is_the_environments(tmp_path: Path):
    parameters = tool(tmp_path, ONE + TWO, ENVIRONMENT).parameters

    named, null = parameters["properties"]["database"]["anyOf"]
    assert (named["enum"], null) == (["one", "two"], {"type": "null"})
    assert parameters["properties"]["database"]["default"] is None
    assert "required" not in parameters


def test_of_several_in_the_file_one_must_be_named(tmp_path: Path):
    parameters = tool(tmp_path, ONE + TWO, {}).parameters

    assert parameters["properties"]["database"]["enum"] == ["one", "two"]
    assert parameters["required"] == ["database"]


@pytest.mark.parametrize(
    ("variables", "arguments", "asked"),
    [
        (ENVIRONMENT, {}, "NEO4J_URI is right"),
        (ENVIRONMENT, {"database": "two"}, "`uri` of [database.two] in RETRIEVERS_FILE is right"),
    ],
)
def test_the_database_that_is_named_is_asked_and_told_of(
    tmp_path: Path, variables: dict[str, str], arguments: dict[str, str], asked: str
):
    server = FastMCP("any", tools=[tool(tmp_path, ONE + TWO, variables)])

    with client(server) as mcp:
        assert asked in mcp.refused("get-schema", **arguments)
