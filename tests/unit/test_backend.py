"""Where the database is, and how the demo is searched."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.backend import Backend, with_demo_defaults
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import Settings, load

OF_THE_CONFIGURED_TOOLS = ("index_name", "retrieval_query", "tool_description")
MOVIES = "[database.movies] in RETRIEVERS_FILE"


@pytest.mark.parametrize(
    "tools", ["", "-expand", "configured", "neo4j_vector,expand", "neo4j_vector", "discovered,configured"]
)
def test_the_demo_has_an_index_and_a_query_of_its_own_for_the_configured_tools(tools: str):
    settings = with_demo_defaults(load({"demo": True, "tools": tools}))
    assert settings.index_name == "moviePlotsEmbedding"
    assert "directors" in (settings.retrieval_query or "")
    assert "films" in (settings.tool_description or "")
    assert settings.embedding_model == "local:use-multilingual-v3"


@pytest.mark.parametrize("tools", ["discovered,expand", "generic", "schema", "connectors", "discovered,-configured"])
def test_other_tools_of_the_demo_search_as_on_any_database(tools: str):
    settings = with_demo_defaults(load({"demo": True, "tools": tools}))
    assert [getattr(settings, name) for name in OF_THE_CONFIGURED_TOOLS] == [None] * 3
    assert settings.embedding_model == "local:use-multilingual-v3"


@pytest.mark.parametrize("tools", ["", "discovered"])
def test_what_the_operator_set_is_kept(tools: str):
    given = {"index_name": "mine", "retrieval_query": "RETURN 1 AS text, score", "tool_description": "Mine"}
    settings = with_demo_defaults(load({"demo": True, "tools": tools, **given}))
    assert {name: getattr(settings, name) for name in given} == given


@pytest.mark.parametrize(
    ("uri", "of", "told"),
    [
        (None, None, "NEO4J_URI is not set"),
        (None, MOVIES, f"`uri` of {MOVIES} is not set"),
        ("nothing://localhost", None, "NEO4J_URI is refused by the driver"),
        ("nothing://localhost", MOVIES, f"`uri` of {MOVIES} is refused by the driver"),
    ],
)
def test_an_address_that_is_no_address_is_called_what_it_is_where_it_stands(uri: str | None, of: str | None, told: str):
    backend = Backend(Settings.model_construct(uri=uri), settings_of=of)
    with pytest.raises(SetupError) as caught:
        backend.database()
    assert str(caught.value).startswith(told)


def test_the_database_knows_where_its_settings_stand():
    backend = Backend(Settings.model_construct(uri="bolt://127.0.0.1:1"), settings_of=MOVIES)
    assert backend.database().settings_of == MOVIES
    backend.close()
