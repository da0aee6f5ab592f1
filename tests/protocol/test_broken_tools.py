"""Faults that only the database shows: they take the tool that they are of, and no other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clients import client, environment, items_of
from mcp_neo4j_vector_graphrag.server import build
from mcp_neo4j_vector_graphrag.settings import load
from notes import CONNECTION, by_shark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from clients import McpClient
    from notes import Notes

MARKER = "mArKeR-4711-s3cr3t"

TABLES = """
[[retriever]]
name = "refused"
description = "A database that refuses the user."
database = "locked"
index = "notes"

[[retriever]]
name = "good"
description = "Notes by their words."
database = "here"
fulltext_index = "note_texts"
retrieval_query = "RETURN toString(node.i) AS text, score"

[[retriever]]
name = "missing"
description = "An index that is not there."
database = "here"
index = "nope"

[[retriever]]
name = "missing_texts"
description = "A full-text index that is not there."
database = "here"
index = "notes"
fulltext_index = "nope"

[[retriever]]
name = "swapped"
description = "Each index in the place of the other."
database = "here"
index = "note_texts"
fulltext_index = "notes"

[[retriever]]
name = "apart"
description = "Two indexes on different entities."
database = "here"
index = "notes"
fulltext_index = "saying_texts"

[[retriever]]
name = "unreadable"
description = "A query that does not parse."
database = "here"
index = "notes"
retrieval_query = '''
RETRUN node.text AS text, score'''

[[retriever]]
name = "writing"
description = "A query that writes."
database = "here"
index = "notes"
retrieval_query = "SET node.seen = true RETURN node.text AS text, score"

[[retriever]]
name = "narrow"
description = "A model whose vectors are of another length."
database = "here"
index = "notes"
embedding_model = "local:use-multilingual-v3"
"""

SAYS = {
    "missing": "The vector index 'nope' (of 'missing' in RETRIEVERS_FILE) does not exist in this database: its vector ",
    "missing_texts": "The full-text index 'nope' (of 'missing_texts' in RETRIEVERS_FILE) does not exist in this ",
    "swapped": "'note_texts' ",
    "apart": "'saying_texts'",
    "unreadable": "retrieval_query of 'unreadable' in RETRIEVERS_FILE, line 1, column 1: ",
    "writing": "retrieval_query of 'writing' in RETRIEVERS_FILE is refused, since it may only read the graph",
    "refused": "Neo4j refused the user name or password",
    "narrow": " 512 ",
}
"""What each broken tool must say."""


@pytest.fixture(scope="module")
def serve(notes: Notes) -> Iterator[object]:
    """Return what serves the notes with some variables changed, inside this process."""
    with pytest.MonkeyPatch.context() as patch:

        def served(**changes: str) -> AbstractContextManager[McpClient]:
            for name in set(os.environ) - set(environment()):
                patch.delenv(name)
            for name, value in environment(**notes.connection(), **notes.passwords, **changes).items():
                patch.setenv(name, value)
            return client(build(load({})))

        yield served


@pytest.fixture(scope="module")
def broken(notes: Notes, serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    """Return a client of a file of which one table is sound."""
    file: Path = tmp_path_factory.mktemp("broken") / "retrievers.toml"
    here = CONNECTION.format(table="here", server=notes.neo4j, variable="HERE_PASSWORD")
    locked = CONNECTION.format(table="locked", server=notes.neo4j, variable="LOCKED_PASSWORD")
    locked = locked.replace('"neo4j"\npassword', '"nobody-here"\npassword')
    file.write_text(here + locked + TABLES, "utf-8")
    with serve(RETRIEVERS_FILE=str(file), LOCKED_PASSWORD=MARKER, NEO4J_MCP_TOOLS="declared,connectors") as mcp:
        yield mcp


@pytest.mark.parametrize("tool", SAYS)
def test_a_broken_table_takes_its_own_tool_alone(broken: McpClient, tool: str):
    assert {each.name for each in broken.tools()} == {"good", *SAYS, "search", "fetch"}
    said = broken.refused(tool, query="shark")
    assert SAYS[tool] in said
    assert MARKER not in said

    assert [int(item["text"]) for item in items_of(broken.call("good", query="shark"))] == by_shark()[:5]


def test_the_connectors_search_and_fetch_what_can_be(broken: McpClient):
    found = broken.call("search", query="onlyd").structured_content
    assert found
    [hit] = [each for each in found["results"] if " onlyd " in each["text"]]
    whole = broken.call("fetch", id=hit["id"]).structured_content
    assert whole
    assert whole["metadata"]["i"] == 3

    gone = hit["id"].rpartition(":")[0] + ":987654"
    assert "Neo4j refused the user name or password" in broken.refused("fetch", id=gone), "it may be there"


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("neo4j_vector", "The vector index 'note_texts' (INDEX_NAME) "),
        ("neo4j_hybrid", "'note_texts' "),
    ],
)
def test_indexes_that_are_swapped_are_told_with_their_settings(serve, tool: str, says: str):
    with serve(INDEX_NAME="note_texts", FULLTEXT_INDEX_NAME="notes") as mcp:
        said = mcp.refused(tool, query="shark")

    assert says in said
    assert "INDEX_NAME" in said


def test_the_retrieval_query_is_applied_to_what_the_hybrid_search_finds(notes: Notes, serve):
    query = (
        "MATCH (node)<-[:says]-(critic) RETURN critic.name AS text, score, "
        "{words: text_rank, meaning: vector_rank} AS metadata"
    )
    with serve(INDEX_NAME="notes", FULLTEXT_INDEX_NAME="note_texts", RETRIEVAL_QUERY=query) as mcp:
        found = items_of(mcp.call("neo4j_hybrid", query="shark", alpha=0, top_k=3))

    by_meaning = notes.by_meaning("shark")
    assert [(item["text"], item["metadata"]) for item in found] == [
        (f"critic {i}", {"words": place, "meaning": by_meaning.index(i) + 1})
        for place, i in enumerate((19, 18, 17), start=1)
    ]
