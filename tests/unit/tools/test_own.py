"""The retrievers of a factory as tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools import own
from mcp_neo4j_vector_graphrag.tools.family import Context

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODULE = """
from neo4j_graphrag.retrievers.base import Retriever


class Mine(Retriever):
    VERIFY_NEO4J_VERSION = False

    def __init__(self, index_name=None):
        self.index_name = index_name

    def get_search_results(self, query_text):
        raise NotImplementedError


def several():
    return {"by_plot": Mine("plots"), "by_name": Mine()}
"""


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str | None]]:
    """Return what tells the descriptions of the tools that are shown, by name."""
    (tmp_path / "described_notes.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def tools(*shown: str, **more: str) -> dict[str, str | None]:
        given = {"NEO4J_MCP_RETRIEVER": "described_notes:several", "NEO4J_NAMESPACE": "dev", **more}
        settings = Settings(**cast("dict[str, Any]", given))
        served = own.build(Context(settings, Backend(settings), shown.__contains__))
        return {tool.name: tool.description for tool in served.tools}

    return tools


def test_a_tool_is_described_by_the_index_that_its_retriever_knows(described: Callable[..., dict[str, str | None]]):
    tools = described("by_plot", "by_name")

    assert list(tools) == ["dev-by_plot", "dev-by_name"]
    assert "the nearest entries of the Neo4j index 'plots'" in str(tools["dev-by_plot"])
    assert "the nearest entries of a Neo4j graph" in str(tools["dev-by_name"])


def test_what_the_data_is_about_describes_the_only_tool_that_is_shown(described: Callable[..., dict[str, str | None]]):
    about = {"TOOL_DESCRIPTION": "Danish films."}

    assert described("by_name", **about) == {"dev-by_name": "Danish films."}
    assert "Danish films." not in described("by_plot", "by_name", **about).values()
