"""What a client is told of a search tool beside its description."""

from __future__ import annotations

from dataclasses import replace

from mcp_neo4j_vector_graphrag.tools.calls import UNCHECKED
from mcp_neo4j_vector_graphrag.tools.search import SearchTool


def refuse() -> None:
    raise AssertionError("nothing is searched here")


TOOL = SearchTool(name="films", title="Films", description="Films.", retriever=refuse)  # type: ignore[arg-type]


def hints(tool: SearchTool) -> dict[str, bool]:
    annotations = tool.build().annotations
    assert annotations is not None
    return annotations.model_dump(by_alias=True, exclude_none=True)


def test_a_search_of_ours_is_known_to_only_read():
    assert hints(TOOL) == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": True,
    }


def test_nothing_is_promised_of_a_search_that_nobody_checks():
    assert hints(replace(TOOL, annotations=UNCHECKED)) == {"openWorldHint": True}
