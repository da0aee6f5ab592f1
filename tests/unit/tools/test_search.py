"""What a client is told of a search tool beside its description."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import pytest
from pydantic import TypeAdapter, ValidationError

from mcp_neo4j_vector_graphrag.tools.calls import UNCHECKED
from mcp_neo4j_vector_graphrag.tools.schema import Labels
from mcp_neo4j_vector_graphrag.tools.schema import Types as ShownTypes
from mcp_neo4j_vector_graphrag.tools.search import SearchTool
from mcp_neo4j_vector_graphrag.tools.walking import Ids
from mcp_neo4j_vector_graphrag.tools.walking import Types as WalkedTypes


def refuse() -> NoReturn:
    raise AssertionError("nothing is searched here")


TOOL = SearchTool(name="films", title="Films", description="Films.", retriever=refuse)


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


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("a", ["a"]),
        ("[a", ["[a"]),
        (" ", []),
    ],
)
@pytest.mark.parametrize("kind", [Ids, WalkedTypes, Labels, ShownTypes], ids=["ids", "walked", "labels", "types"])
def test_a_list_of_texts_may_come_as_json_or_as_its_only_text(kind: Any, given: object, expected: list[str]):
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    if kind is Ids and not expected:
        with pytest.raises(ValidationError):
            adapter.validate_python(given)
        return
    assert adapter.validate_python(given) == expected


def test_the_schema_of_a_list_of_texts_asks_for_a_list():
    schema = TypeAdapter[Any](Ids).json_schema()
    assert (schema["type"], schema["items"]) == ("array", {"type": "string"})
    assert TypeAdapter[Any](Labels).json_schema()["anyOf"] == [
        {"type": "array", "items": {"type": "string"}},
        {"type": "null"},
    ]
