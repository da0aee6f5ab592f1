"""The names of discovered tools: legal, stable, and never one for two indexes."""

from __future__ import annotations

import itertools
import re

import pytest

from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.namespace import search_tool_name

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")

ODD = (
    "a b",
    "a.b",
    "a_b",
    "a`b",
    "a  b",
    "_a_b_",
    "A_b",
    "ümläut",
    "umlaut",
    "千と千尋",
    "千と千",
    "!!!",
    "???",
    "`; DROP INDEX x //",
    "x" * 57,
    "x" * 58,
    "x" * 59,
    "x" * 60_000,
    "new\nline",
)


@pytest.mark.parametrize("name", ["docs", "moviePlotsEmbedding", "with-dash_and_9"])
def test_a_plain_name_is_kept(name: str):
    assert search_tool_name(name) == f"search_{name}"
    assert search_tool_name(name, "dev") == search_tool_name(name, "dev-") == f"dev-search_{name}"


@pytest.mark.parametrize("namespace", [None, "dev", "n" * 40, "n" * 49])
def test_every_name_is_legal_and_no_two_are_the_same(namespace: str | None):
    names = [search_tool_name(name, namespace) for name in ODD]
    assert [name for name in names if not LEGAL.fullmatch(name)] == []
    for (one, first), (other, second) in itertools.combinations(zip(ODD, names, strict=True), 2):
        assert first != second, (one, other)


def test_names_are_the_same_in_every_run():
    assert search_tool_name("a b") == "search_a_b_c8687a"
    assert search_tool_name("!!!") == "search__e84c53"


def test_a_name_that_must_be_cut_keeps_to_forty_characters():
    assert len(search_tool_name("a.b" * 100)) <= 40


@pytest.mark.parametrize("namespace", ["n" * 50, "n" * 55, "n" * 60, "n" * 200])
def test_a_namespace_that_leaves_no_room_is_refused(namespace: str):
    with pytest.raises(SetupError, match="NEO4J_NAMESPACE"):
        search_tool_name("a b", namespace)
