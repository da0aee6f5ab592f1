"""Which tools a model sees, by what the operator chose."""

from __future__ import annotations

from typing import Any, cast

import pytest

from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools.family import Family, Selection, Served

SETTINGS = Settings(**cast("dict[str, Any]", {"NEO4J_URI": "bolt://127.0.0.1:1", "INDEX_NAME": "films"}))
SOURCES = Sources(SETTINGS, Backend(SETTINGS))


def family(name: str, *tools: str, default: bool = True, missing: str = "") -> Family:
    return Family(name, lambda _: tools, lambda _: default, lambda _: Served(), lambda _: missing)


FILMS = family("films", "film-search", "film-list")
FOUND = family("found", "search_*")
RARE = family("rare", "walk", default=False)
UNSET = family("unset", "nothing", default=False, missing="A_VARIABLE")
FAMILIES = (FILMS, FOUND, RARE, UNSET)


def seen(*entries: str) -> set[str]:
    selection = Selection(entries, SOURCES, FAMILIES)
    selection.check(FAMILIES)
    possible = {"film-search": FILMS, "film-list": FILMS, "search_a": FOUND, "search_b": FOUND, "walk": RARE}
    return {tool for tool, each in possible.items() if selection.uses(each) and selection.sees(each, tool)}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ((), {"film-search", "film-list", "search_a", "search_b"}),
        (("films",), {"film-search", "film-list"}),
        (("film-list", "walk"), {"film-list", "walk"}),
        (("rare", "search_a"), {"walk", "search_a"}),
        (("-found",), {"film-search", "film-list"}),
        (("-search_b", "-film-list"), {"film-search", "search_a"}),
        (("films", "-film-list"), {"film-search"}),
        (("films", "-films"), set()),
        (("search_*",), {"search_a", "search_b"}),
        (("search_a*",), {"search_a"}),
        (("-search_b*",), {"film-search", "film-list", "search_a"}),
        (("-search_*",), {"film-search", "film-list"}),
    ],
)
def test_families_and_tools_are_chosen_or_hidden(entries: tuple[str, ...], expected: set[str]):
    assert seen(*entries) == expected


@pytest.mark.parametrize("entry", ["film", "-film", "Films", "unknown", "*", ""])
def test_what_names_nothing_is_refused_with_what_there_is(entry: str):
    with pytest.raises(SetupError) as caught:
        seen("films", entry)
    assert str(caught.value) == (
        f"NEO4J_MCP_TOOLS names '{entry.removeprefix('-')}', which is none of films, film-search, film-list, found, "
        "search_*, rare, walk, unset, nothing."
    )


@pytest.mark.parametrize("entry", ["unset", "nothing"])
def test_a_choice_that_lacks_a_setting_is_told_which(entry: str):
    with pytest.raises(SetupError) as caught:
        seen(entry)
    assert str(caught.value) == f"NEO4J_MCP_TOOLS chooses '{entry}', which needs A_VARIABLE."


def test_what_can_not_be_seen_may_be_hidden():
    assert "film-list" in seen("-unset")


def test_who_has_a_tool_of_just_that_name_comes_before_patterns():
    anything = family("anything", "*")
    families = (*FAMILIES, anything)
    selection = Selection(["walk"], SOURCES, families)
    selection.check(families)
    assert selection.uses(RARE)
    assert not selection.uses(anything)
    assert Selection(["other"], SOURCES, families).uses(anything)


def test_the_entries_that_choose_single_tools_of_a_family_are_known():
    selection = Selection(["found", "search_a", "search_b*", "-search_c", "walk"], SOURCES, FAMILIES)
    assert selection.chosen(FOUND) == ["search_a", "search_b*"]
