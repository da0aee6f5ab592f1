"""Which index a search may use."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, Indexes, VectorIndex
from mcp_neo4j_vector_graphrag.errors import GraphRAGError


def index(name: str, state: str = "ONLINE", dimensions: int | None = 3, prop: str = "emb") -> VectorIndex:
    return VectorIndex(
        name=name,
        variable="node",
        labels=("Doc",),
        property=prop,
        filter_properties=(),
        dimensions=dimensions,
        similarity="cosine",
        state=state,
    )


def texts(name: str, state: str = "ONLINE") -> FulltextIndex:
    return FulltextIndex(
        name=name, variable="node", labels=("Doc",), properties=("text",), analyzer="english", state=state
    )


def indexes(*vector: VectorIndex, fulltext: tuple[FulltextIndex, ...] = ()) -> Indexes:
    return Indexes(vector={each.name: each for each in vector}, fulltext={each.name: each for each in fulltext})


def test_an_index_that_is_online_is_searched():
    docs = index("docs")
    assert indexes(docs, index("other")).searchable("docs") is docs


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (
            indexes(index("b"), index("a")),
            "'docs' (INDEX_NAME) does not exist in this database: its vector indexes are 'a', 'b'.",
        ),
        (indexes(), "'docs' (INDEX_NAME) does not exist in this database: it has no vector index; create one first."),
        (
            indexes(index("a"), fulltext=(texts("docs"),)),
            "'docs' (INDEX_NAME) is a full-text index: its vector indexes are 'a'.",
        ),
        (indexes(index("docs", "POPULATING")), "'docs' is still being populated: ask again when it is online."),
        (indexes(index("docs", "FAILED")), "'docs' is in state FAILED: drop it and create it again."),
    ],
)
def test_an_index_that_cannot_be_searched_is_told(known: Indexes, told: str):
    with pytest.raises(GraphRAGError) as caught:
        known.searchable("docs", "INDEX_NAME")
    assert str(caught.value) == f"The vector index {told}"


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (
            indexes(fulltext=(texts("b"), texts("a"))),
            "'docs' (FULLTEXT_INDEX_NAME) does not exist in this database: its full-text indexes are 'a', 'b'.",
        ),
        (
            indexes(),
            (
                "'docs' (FULLTEXT_INDEX_NAME) does not exist in this database: it has no full-text index; "
                "create one first."
            ),
        ),
        (
            indexes(index("docs"), fulltext=(texts("a"),)),
            "'docs' (FULLTEXT_INDEX_NAME) is a vector index: its full-text indexes are 'a'.",
        ),
        (
            indexes(fulltext=(texts("docs", "POPULATING"),)),
            "'docs' is still being populated: ask again when it is online.",
        ),
        (indexes(fulltext=(texts("docs", "FAILED"),)), "'docs' is in state FAILED: drop it and create it again."),
    ],
)
def test_a_fulltext_index_that_cannot_be_searched_is_told(known: Indexes, told: str):
    with pytest.raises(GraphRAGError) as caught:
        known.searchable_fulltext("docs", "FULLTEXT_INDEX_NAME")
    assert str(caught.value) == f"The full-text index {told}"


def test_a_fulltext_index_that_is_online_is_searched():
    found = texts("docs")
    assert indexes(fulltext=(found,)).searchable_fulltext("docs") is found


def test_what_holds_vectors_is_known_over_all_indexes():
    known = indexes(index("a"), index("b", dimensions=None, prop="vec"), index("c", dimensions=1536))
    assert known.vector_properties == {"emb", "vec"}
    assert known.vector_dimensions == {3, 1536}


def test_indexes_that_are_not_online_are_told_with_their_states():
    known = indexes(index("c"), index("b", "FAILED"), index("a", "POPULATING"))
    assert [each.name for each in known.online] == ["c"]
    assert known.waiting == "The index 'a' is POPULATING, 'b' is FAILED."
    assert indexes(index("c")).waiting == ""
