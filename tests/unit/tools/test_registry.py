"""What a model sees with an operator's settings, without a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools import registry
from mcp_neo4j_vector_graphrag.tools.family import Selection

if TYPE_CHECKING:
    from pathlib import Path

DATABASE = {"NEO4J_URI": "bolt://127.0.0.1:1"}
INDEX = {"INDEX_NAME": "notes"}
BOTH = {**INDEX, "FULLTEXT_INDEX_NAME": "note_texts"}
FILE = {"RETRIEVERS_FILE": "{folder}/retrievers.toml"}
FIXED = DATABASE | {"RETRIEVERS_FILE": "{folder}/fixed.toml"}
ELSEWHERE = {"RETRIEVERS_FILE": "{folder}/elsewhere.toml"}
OWN = {"NEO4J_MCP_RETRIEVER": "registry_notes:make"}
PROVIDER = {
    "NEO4J_EMBEDDING_PROVIDER": "openai",
    "NEO4J_EMBEDDING_MODEL": "m",
    "NEO4J_EMBEDDING_API_KEY": "k",
}
DISCOVERED = "search_*"

RETRIEVERS = """
[[retriever]]
name = "calm"
description = "Calm notes."
index = "notes"

[[retriever]]
name = "wordy"
description = "Notes by their words."
fulltext_index = "note_texts"
"""
FIXED_INDEX = 'index = "notes"\nfixed_filters = { mood = "calm" }'
DATABASE_TABLE = '[database.far]\nuri = "bolt://127.0.0.1:1"\n'
MODULE = """
from neo4j_graphrag.retrievers.base import Retriever


class Mine(Retriever):
    VERIFY_NEO4J_VERSION = False

    def __init__(self):
        pass

    def get_search_results(self, query_text):
        raise NotImplementedError


def make():
    return {"mine": Mine(), "other": Mine()}


def twice():
    return {"neo4j_vector": Mine()}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with files of retrievers and a module in it."""
    (tmp_path / "retrievers.toml").write_text(RETRIEVERS, "utf-8")
    (tmp_path / "fixed.toml").write_text(RETRIEVERS.replace('index = "notes"', FIXED_INDEX), "utf-8")
    (tmp_path / "elsewhere.toml").write_text(DATABASE_TABLE + RETRIEVERS, "utf-8")
    (tmp_path / "registry_notes.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def settings(folder: Path, given: dict[str, str], tools: str = "") -> Settings:
    filled = {name: value.format(folder=folder) for name, value in given.items()}
    return Settings(**cast("dict[str, Any]", {**filled, "NEO4J_MCP_TOOLS": tools}))


def seen(folder: Path, given: dict[str, str], tools: str = "") -> set[str]:
    """Return the names of the tools that are served; those of indexes, which are looked up later, as a pattern."""
    chosen = settings(folder, given, tools)
    served = registry.serve(chosen, Backend(chosen))
    for each in served:
        each.close()
    names = {tool.name for each in served for tool in each.tools}
    return names | ({DISCOVERED} if any(each.providers for each in served) else set())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (DATABASE, {DISCOVERED, "get-schema"}),
        (DATABASE | PROVIDER, {"vector-search", "fulltext-search", "hybrid-search", "get-schema"}),
        (DATABASE | INDEX, {"neo4j_vector"}),
        (DATABASE | BOTH, {"neo4j_vector", "neo4j_hybrid"}),
        (DATABASE | FILE, {"calm", "wordy"}),
        (ELSEWHERE, {"calm", "wordy"}),
        (OWN, {"mine", "other"}),
        (DATABASE | BOTH | FILE | OWN | PROVIDER, {"neo4j_vector", "neo4j_hybrid", "calm", "wordy", "mine", "other"}),
    ],
    ids=["nothing", "provider", "index", "both", "file", "file-with-a-database", "own", "everything"],
)
def test_what_the_settings_name_is_seen_and_else_what_is_found(folder: Path, given: dict[str, str], expected: set[str]):
    assert seen(folder, given) == expected


@pytest.mark.parametrize(
    ("given", "tools", "expected"),
    [
        (BOTH, "configured", {"neo4j_vector", "neo4j_hybrid"}),
        (BOTH, "neo4j_hybrid, get-schema", {"neo4j_hybrid", "get-schema"}),
        (BOTH, "-neo4j_vector", {"neo4j_hybrid"}),
        (FILE, "declared,-calm,walking", {"wordy", "expand"}),
        (OWN, "mine,connectors", {"mine", "search", "fetch"}),
        (OWN, "-mine", {"other"}),
        ({}, "fulltext-search,fetch", {"fulltext-search", "fetch"}),
        ({}, "search_notes", {DISCOVERED}),
        ({}, "-discovered", {"get-schema"}),
        (OWN, "search_notes", {DISCOVERED}),
    ],
)
def test_the_operator_chooses_and_hides(folder: Path, given: dict[str, str], tools: str, expected: set[str]):
    assert seen(folder, DATABASE | given, tools) == expected


@pytest.mark.parametrize("tools", ["get-shema", "mine,third", "-third"])
def test_a_name_that_the_factory_does_not_make_is_refused(folder: Path, tools: str):
    with pytest.raises(SetupError) as caught:
        seen(folder, DATABASE | OWN, tools)
    name = tools.rpartition(",")[2].removeprefix("-")
    assert str(caught.value).startswith(f"NEO4J_MCP_TOOLS names '{name}', which is none of configured, neo4j_vector, ")
    assert "own, mine, other, discovered" in str(caught.value)


@pytest.mark.parametrize("tools", ["discovered", "vector-search", "get-schema", "expand", "search"])
def test_what_asks_the_environments_database_needs_one(folder: Path, tools: str):
    with pytest.raises(SetupError) as caught:
        seen(folder, OWN, tools)
    assert str(caught.value) == f"NEO4J_MCP_TOOLS chooses '{tools}', which needs NEO4J_URI."


def test_the_pair_of_connectors_can_do_with_the_databases_of_the_file(folder: Path):
    assert seen(folder, ELSEWHERE, "connectors") == {"search", "fetch"}


def test_walking_and_the_schema_can_do_with_the_databases_of_the_file(folder: Path):
    assert seen(folder, ELSEWHERE, "walking,schema") == {"expand", "get-schema"}


@pytest.mark.parametrize(
    ("tools", "by_id"), [("declared,walking", "expand"), ("calm,fetch", "fetch"), ("connectors", "fetch")]
)
def test_fixed_filters_and_what_goes_by_ids_are_not_shown_together(folder: Path, tools: str, by_id: str):
    with pytest.raises(SetupError) as caught:
        seen(folder, FIXED, tools)
    assert str(caught.value) == (
        f"The tool '{by_id}' returns any element by its id, those that the fixed_filters of the retriever 'calm' "
        f"exclude too: hide '{by_id}' with NEO4J_MCP_TOOLS, or leave the fixed_filters out."
    )


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ("declared,connectors,-fetch", {"calm", "wordy", "search"}),
        ("declared,walking,-calm", {"wordy", "expand"}),
        ("walking,fetch", {"expand", "fetch"}),
    ],
)
def test_what_shows_nothing_of_a_fixed_table_goes_with_it(folder: Path, tools: str, expected: set[str]):
    assert seen(folder, FIXED, tools) == expected


@pytest.mark.parametrize("tools", ["-discovered,-schema", "expand,-expand"])
def test_a_choice_that_leaves_no_tool_is_refused(folder: Path, tools: str):
    with pytest.raises(SetupError, match="NEO4J_MCP_TOOLS hides every tool"):
        seen(folder, DATABASE, tools)


def test_two_tools_of_one_name_are_refused_unless_one_is_hidden(folder: Path):
    given = DATABASE | INDEX | {"NEO4J_MCP_RETRIEVER": "registry_notes:twice"}
    with pytest.raises(SetupError, match="Two tools are named 'neo4j_vector': rename one, or hide it with"):
        seen(folder, given)
    assert seen(folder, given, "own") == {"neo4j_vector"}


def test_a_table_of_the_environments_database_is_refused_without_one(folder: Path):
    with pytest.raises(SetupError) as caught:
        seen(folder, FILE)
    assert str(caught.value) == "The retriever 'calm' searches the environment's database: set NEO4J_URI."


@pytest.mark.parametrize(
    ("given", "tools", "kind", "index", "expected"),
    [
        (BOTH, "", "vector", "notes", "dev-neo4j_vector"),
        (BOTH, "", "fulltext", "note_texts", "dev-neo4j_hybrid"),
        (BOTH, "", "vector", "others", None),
        (BOTH, "-neo4j_vector", "vector", "notes", None),
        (FILE, "", "vector", "notes", "dev-calm"),
        (FILE, "", "fulltext", "note_texts", "dev-wordy"),
        (FILE, "-calm", "vector", "notes", None),
        (ELSEWHERE, "", "vector", "notes", None),
        (PROVIDER, "", "vector", "notes", "dev-vector-search"),
        (PROVIDER, "", "fulltext", "note_texts", "dev-fulltext-search"),
        ({}, "", "vector", "notes", "dev-search_notes"),
        ({}, "search_notes", "fulltext", "note_texts", None),
        ({}, "", "vector", "a b", "dev-search_a_b_c8687a"),
        (OWN, "", "vector", "notes", None),
    ],
)
def test_an_index_is_searched_by_the_first_tool_that_is_shown_for_it(  # noqa: PLR0913 - a case has so many parts
    folder: Path, given: dict[str, str], tools: str, kind: Any, index: str, expected: str | None
):
    chosen = settings(folder, DATABASE | given | {"NEO4J_NAMESPACE": "dev"}, tools)
    sources = Sources(chosen, Backend(chosen))
    selection = Selection(chosen.tools, sources, registry.FAMILIES)
    used = [family for family in registry.FAMILIES if selection.uses(family)]
    # Only `get-schema` asks, which needs a database.
    assert registry._search_tool(sources, selection, used, kind, index) == expected


@pytest.mark.parametrize(
    ("tools", "database", "expected"),
    [("", "far", "calm"), ("", None, None), ("-calm", "far", None), ("", "near", None), ("generic", "far", None)],
)
def test_an_index_of_the_files_database_is_searched_by_its_table_alone(
    folder: Path, tools: str, database: str | None, expected: str | None
):
    chosen = settings(folder, DATABASE | ELSEWHERE, tools)
    sources = Sources(chosen, Backend(chosen))
    selection = Selection(chosen.tools, sources, registry.FAMILIES)
    used = [family for family in registry.FAMILIES if selection.uses(family)]
    assert registry._search_tool(sources, selection, used, "vector", "notes", database) == expected
