"""The retrievers of a factory as tools."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools import own
from mcp_neo4j_vector_graphrag.tools.family import Context

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODULE = '''
from neo4j_graphrag.retrievers.base import Retriever


class Mine(Retriever):
    """Finds notes by their mood.

    How it does that is its own affair.
    """

    VERIFY_NEO4J_VERSION = False

    def __init__(self, index_name=None):
        self.index_name = index_name

    def get_search_results(self, query_text):
        raise NotImplementedError


class Silent(Mine):
    __doc__ = None


def several():
    return {"by_plot": Mine("plots"), "by_mood": Mine(), "by_chance": Silent()}


def late():
    raise __import__("neo4j").exceptions.ServiceUnavailable("down") if not DATABASE_IS_UP else ValueError("broken")


DATABASE_IS_UP = False
'''


def context(settings: Settings, sees: Callable[[str], bool]) -> Context:
    backend = Backend(settings)
    return Context(settings, backend, sees, Sources(settings, backend))


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str | None]]:
    """Return what tells the descriptions of the tools that are shown, by name."""
    (tmp_path / "described_notes.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def tools(*shown: str, **more: str) -> dict[str, str | None]:
        given = {"NEO4J_MCP_RETRIEVER": "described_notes:several", "NEO4J_NAMESPACE": "dev", **more}
        settings = Settings(**cast("dict[str, Any]", given))
        served = own.build(context(settings, shown.__contains__))
        return {tool.name: tool.description for tool in served.tools}

    return tools


def test_a_tool_is_described_by_the_index_that_its_retriever_knows_else_by_its_class(
    described: Callable[..., dict[str, str | None]],
):
    tools = described("by_plot", "by_mood", "by_chance")

    assert list(tools) == ["dev-by_plot", "dev-by_mood", "dev-by_chance"]
    assert str(tools["dev-by_plot"]).startswith("By plot: Search by meaning: ")
    assert "the nearest entries of the Neo4j index 'plots'" in str(tools["dev-by_plot"])
    assert tools["dev-by_mood"] == "By mood: Finds notes by their mood."
    assert tools["dev-by_chance"] == "By chance: Searches a Neo4j graph."


def test_what_the_data_is_about_comes_first_in_every_description(described: Callable[..., dict[str, str | None]]):
    tools = described("by_plot", "by_mood", TOOL_DESCRIPTION="Danish films.")
    assert [str(text).startswith("Danish films. By ") for text in tools.values()] == [True, True]


@pytest.mark.usefixtures("described")
def test_the_operators_number_of_results_is_the_default():
    settings = Settings(**cast("dict[str, Any]", {"NEO4J_MCP_RETRIEVER": "described_notes:several", "TOP_K": 7}))
    [tool] = own.build(context(settings, {"by_mood"}.__contains__)).tools
    assert tool.parameters["properties"]["top_k"]["default"] == 7


@pytest.mark.usefixtures("described")
def test_a_factory_whose_database_is_down_is_asked_again_when_its_tools_are_listed(caplog: pytest.LogCaptureFixture):
    settings = Settings(**cast("dict[str, Any]", {"NEO4J_MCP_RETRIEVER": "described_notes:late"}))
    served = own.build(context(settings, lambda _: True))
    assert served.tools == ()
    assert (
        "are not there yet: --retriever 'described_notes:late': the factory failed: Neo4j can't be reached"
        in caplog.text
    )
    [provider] = served.providers

    module = sys.modules["described_notes"]
    assert asyncio.run(provider.list_tools()) == []
    module.late = module.several
    assert [tool.name for tool in asyncio.run(provider.list_tools())] == ["by_chance", "by_mood", "by_plot"]
