"""How the hits of several sources become one list."""

from __future__ import annotations

from mcp_neo4j_vector_graphrag.retrieval.documents import Hit
from mcp_neo4j_vector_graphrag.tools.connectors import _merged


def hit(name: str) -> Hit:
    return Hit(id=name, title=name, url="", text="")


def merged(*sources: str) -> str:
    # The order of several sources shows only with several databases or indexes.
    return "".join(each.id for each in _merged([[hit(name) for name in source] for source in sources]))


def test_what_several_sources_find_comes_before_what_one_finds_first():
    # 1/61 = 0.0164 for a and d; 1/63 + 1/63 = 0.0317 for c.
    assert merged("abc", "dec") == "cadbe"


def test_one_source_keeps_its_order():
    assert merged("cab") == "cab"


def test_nothing_found_is_nothing():
    assert merged() == merged("", "") == ""
