"""`vector-search`: what a client sees of it, its arguments' published names, and which index a call means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from fastmcp import FastMCP
from neo4j.exceptions import ServiceUnavailable

from clients import client, text_of
from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools.generic import CamelCaseArguments, IndexChoice, vector_tool

if TYPE_CHECKING:
    from collections.abc import Sequence


def settings(**changes: object) -> Settings:
    given = {
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_EMBEDDING_PROVIDER": "openai",
        "NEO4J_EMBEDDING_MODEL": "m",
        "NEO4J_EMBEDDING_API_KEY": "k",
        **changes,
    }
    return Settings(**cast("dict[str, Any]", given))


def index(name: str, on: str, *properties: str, dimensions: int | None = 8, state: str = "ONLINE") -> dict[str, Any]:
    """Return a row of SHOW INDEXES; `on` is `(A|B)` or `[A|B]`."""
    return {
        "name": name,
        "type": "VECTOR",
        "entityType": "NODE" if on.startswith("(") else "RELATIONSHIP",
        "labelsOrTypes": on[1:-1].split("|"),
        "properties": list(properties),
        "config": {"vector.dimensions": dimensions} if dimensions else {},
        "state": state,
    }


FULLTEXT = {**index("words", "(Film)", "title"), "type": "FULLTEXT", "config": {}}


class FakeDatabase:
    """Has indexes and nothing else; asked for them, it may fail."""

    def __init__(self, indexes: Sequence[dict[str, Any]], failure: Exception | None = None) -> None:
        self._indexes = indexes
        self._failure = failure

    def read(self, statement: str, _: object = None) -> list[Any]:
        if self._failure:
            raise self._failure
        if not statement.startswith("SHOW INDEXES"):
            return []
        return [_Row(row) for row in self._indexes]

    def fault(self, error: Exception) -> Exception:
        return UnavailableError(f"translated {type(error).__name__}")


class _Row(dict[str, Any]):
    def data(self) -> dict[str, Any]:
        return self


class FakeBackend:
    """Hands out a database."""

    def __init__(self, database: FakeDatabase) -> None:
        self._database = database

    def database(self) -> FakeDatabase:
        return self._database


def choice(*indexes: dict[str, Any], failure: Exception | None = None) -> IndexChoice:
    return IndexChoice(settings(), cast("Backend", FakeBackend(FakeDatabase(indexes, failure))))


def made(**changes: object) -> Any:
    chosen = settings(**changes)
    return vector_tool(chosen, IndexChoice(chosen, Backend(chosen)))


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


@pytest.mark.parametrize("indexes", [(), (FULLTEXT,)], ids=["none", "full-text-only"])
def test_without_a_vector_index_the_way_to_one_is_told(indexes: tuple[dict[str, Any], ...]):
    with pytest.raises(SetupError) as caught:
        choice(*indexes).retriever()
    assert str(caught.value).startswith("The database has no vector index. ")
    assert "CREATE VECTOR INDEX" in str(caught.value)


def test_an_index_that_is_still_populating_is_told_with_its_state():
    with pytest.raises(UnavailableError, match=r"No vector index is online\. The index 'a' is POPULATING\."):
        choice(index("a", "(Film)", "emb", state="POPULATING")).retriever()


def test_a_database_that_does_not_answer_is_told_in_its_own_words():
    with pytest.raises(UnavailableError) as caught:
        choice(failure=ServiceUnavailable("bolt://neo4j:pw@host")).retriever()
    assert str(caught.value) == "translated ServiceUnavailable"


def called_with(**arguments: object) -> str:
    """Return what a tool behind the middleware gets."""
    server = FastMCP("any", middleware=[CamelCaseArguments()])

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
