"""The tables of a file as tools, and their defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools import declared
from mcp_neo4j_vector_graphrag.tools.family import Context

if TYPE_CHECKING:
    from pathlib import Path

FILE = """
[database.one]
uri = "bolt://127.0.0.1:1"

[database.two]
uri = "bolt://127.0.0.1:2"
name = "second"

[[retriever]]
name = "films_by-plot"
description = "Films."
database = "one"
index = "plots"

[[retriever]]
name = "people"
title = "All people"
description = "People."
database = "two"
index = "people"
top_k = 7
retrieval_query = "WITH node, score WHERE node.age >= $age AND node.born >= $born RETURN node.name AS text, score"

[retriever.parameters.age]
type = "integer"
default = 18

[retriever.parameters.born]
type = "date"

[[retriever]]
name = "words"
description = "Films by their words."
database = "one"
fulltext_index = "words"
"""


@pytest.fixture
def context(tmp_path: Path) -> Context:
    file = tmp_path / "retrievers.toml"
    file.write_text(FILE, "utf-8")
    return made(file)


def made(file: Path, **more: object) -> Context:
    settings = Settings(**cast("dict[str, Any]", {"RETRIEVERS_FILE": str(file), **more}))
    backend = Backend(settings)
    return Context(settings, backend, lambda name: name != "hidden", Sources(settings, backend))


def schemas(context: Context) -> dict[str, dict[str, Any]]:
    served = declared.build(context)
    return {tool.name: tool.parameters for tool in served.tools}


@pytest.mark.parametrize(("top_k", "default"), [(None, 5), (9, 9)])
def test_a_table_says_how_many_or_else_the_operator_does(context: Context, top_k: int | None, default: int):
    file = context.settings.retrievers_file
    defaults = {
        name: schema["properties"]["top_k"]["default"]
        for name, schema in schemas(made(file, TOP_K=top_k)).items()  # type: ignore[arg-type] # as text
    }

    assert defaults == {"films_by-plot": default, "people": 7, "words": default}


def test_a_parameter_shows_its_default_or_must_be_sent(context: Context):
    people = schemas(context)["people"]

    assert people["properties"]["age"] == {"type": "integer", "default": 18}
    assert people["properties"]["born"]["type"] == "string"
    assert people["required"] == ["query", "born"]


def test_a_table_without_a_title_has_one_of_its_name(context: Context):
    served = declared.build(context)

    assert [tool.title for tool in served.tools] == ["Films by plot", "All people", "Words"]
