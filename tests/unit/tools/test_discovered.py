"""The tools that are made of the indexes of a database."""

from __future__ import annotations

from typing import Any, cast

import pytest

from indexed import FakeBackend, FakeDatabase, index
from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex
from mcp_neo4j_vector_graphrag.database.sample import Property, Sample
from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools.discovered import Catalog


@pytest.mark.parametrize("namespace", ["with space", "n" * 60, "ümläut"])
def test_a_namespace_that_no_tool_can_have_is_told_before_any_look(namespace: str):
    settings = Settings(NEO4J_URI="bolt://127.0.0.1:1", NEO4J_NAMESPACE=namespace)

    with pytest.raises(SetupError, match="NEO4J_NAMESPACE"):
        Catalog(settings, Backend(settings), configured_embedder(settings))


def test_a_tool_that_was_made_before_the_database_was_started_anew_searches_the_new_one():
    settings = Settings(NEO4J_URI="bolt://127.0.0.1:1")
    backend = FakeBackend(FakeDatabase([]))
    catalog = Catalog(settings, cast("Backend", backend), configured_embedder(settings))
    year = Property("year", ("INTEGER",))
    found = Discovered(
        FulltextIndex("words", "node", ("Film",), ("title",), "x", "ONLINE"), 1, Sample(1, {}), {"year": year}
    )
    tool = catalog._tool(found)
    assert tool
    before = cast("Any", tool.retriever())
    assert tool.retriever() is before

    backend.now = FakeDatabase([])
    after = cast("Any", tool.retriever())
    assert after is not before
    assert (after.database, after.filterable) == (backend.now, {"year": year})


def test_a_chosen_tool_that_no_index_has_is_told_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("mcp_neo4j_vector_graphrag.retrieval.discovery.discover", lambda *_: [])
    settings = Settings(NEO4J_URI="bolt://127.0.0.1:1")
    backend = cast("Backend", FakeBackend(FakeDatabase([index("films", "(Film)", "emb")])))
    chosen = ["search_films", "search_fi*", "search_nope", "search_no*"]

    Catalog(settings, backend, configured_embedder(settings), chosen=chosen).look()

    assert [record.getMessage() for record in caplog.records] == [
        f"NEO4J_MCP_TOOLS names '{name}', the tool of no index online; there are: search_films."
        for name in ("search_nope", "search_no*")
    ]
