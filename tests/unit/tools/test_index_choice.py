"""Which indexes a call means, and what is told where that is not clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from neo4j.exceptions import ServiceUnavailable

from indexed import FakeBackend, FakeDatabase, fulltext, index
from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools.index_choice import IndexChoice

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.backend import Backend

SETTINGS = Settings(**cast("dict[str, Any]", {"NEO4J_URI": "bolt://127.0.0.1:1"}))


FILMS, PEOPLE = index("films", "(Film)", "emb"), index("people", "(Person)", "emb")
WORDS, NAMES = fulltext("words", "(Film)", "title"), fulltext("names", "(Person|Group)", "name")


def choice(*indexes: dict[str, Any], failure: Exception | None = None) -> IndexChoice:
    return chosen_from(FakeBackend(FakeDatabase(indexes, failure)))


def chosen_from(backend: FakeBackend) -> IndexChoice:
    return IndexChoice(SETTINGS, cast("Backend", backend), configured_embedder(SETTINGS))


@pytest.mark.parametrize("indexes", [(), (WORDS,)], ids=["none", "full-text-only"])
def test_without_a_vector_index_the_way_to_one_is_told(indexes: tuple[dict[str, Any], ...]):
    with pytest.raises(SetupError) as caught:
        choice(*indexes).vector()
    assert str(caught.value).startswith("The database has no vector index. ")
    assert "CREATE VECTOR INDEX" in str(caught.value)


def test_an_index_that_is_still_populating_is_told_with_its_state():
    with pytest.raises(UnavailableError, match=r"No index is online\. The index 'a' is POPULATING\."):
        choice(index("a", "(Film)", "emb", state="POPULATING")).vector()


def test_a_database_that_does_not_answer_is_told_in_its_own_words():
    with pytest.raises(UnavailableError) as caught:
        choice(failure=ServiceUnavailable("bolt://neo4j:pw@host")).vector()
    assert str(caught.value) == "translated ServiceUnavailable"


def test_the_only_index_is_taken():
    assert cast("Any", choice(FILMS, WORDS).vector()).index_name == "films"
    assert cast("Any", choice(FILMS, WORDS).fulltext()).index_name == "words"


def test_the_named_index_is_taken_and_its_retriever_kept():
    several = choice(FILMS, PEOPLE, WORDS, NAMES)
    assert cast("Any", several.vector("people")).index_name == "people"
    assert several.vector("people") is several.vector("people")
    assert several.vector(" people\n") is several.vector("people")
    assert cast("Any", several.fulltext("names")).index_name == "names"
    assert several.vector("people") is not several.fulltext("names")


def test_a_database_that_was_started_anew_gets_a_new_retriever():
    backend = FakeBackend(FakeDatabase([FILMS]))
    choice = chosen_from(backend)
    before = choice.vector("films")
    backend.now = FakeDatabase([FILMS])

    after = cast("Any", choice.vector("films"))

    assert after is not before
    assert after.database is backend.now


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("films", None), ("films", "words")),
        ((None, "names"), ("people", "names")),
        (("", "words"), ("films", "words")),
    ],
)
def test_two_indexes_on_the_same_entities_are_paired(given: tuple[str | None, str | None], expected: tuple[str, str]):
    pair = cast("Any", choice(FILMS, PEOPLE, WORDS, NAMES).hybrid(*given))
    assert (pair.vector_index_name, pair.fulltext_index_name) == expected


PAIRS = (
    "Name one of these as index_name and fulltext_index_name: 'films' and 'words' (Film, texts in title); "
    "'people' and 'names' (Person and Group, texts in name)."
)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((None, None), ""),
        (("films", "names"), "No other index is on a label or type of 'films' and 'names'. "),
        (("nope", None), "The vector index 'nope' does not exist in this database. "),
        (("words", None), "The vector index 'words' is a full-text index. "),
        ((None, "films"), "The full-text index 'films' is a vector index. "),
    ],
)
def test_names_that_fit_no_pair_are_told_with_those_that_do(given: tuple[str | None, str | None], told: str):
    with pytest.raises(QuestionError) as caught:
        choice(FILMS, PEOPLE, WORDS, NAMES).hybrid(*given)
    assert str(caught.value) == f"{told}{PAIRS}"


def test_full_text_indexes_are_listed_where_none_is_named():
    with pytest.raises(QuestionError) as caught:
        choice(FILMS, WORDS, NAMES).fulltext()
    assert str(caught.value) == (
        "Name one of these as index_name: 'names' (Person and Group, texts in name); 'words' (Film, texts in title)."
    )


@pytest.mark.parametrize(
    ("indexes", "told"),
    [
        ((), "The database has no vector index. "),
        ((FILMS,), "The database has no full-text index. Create one: CREATE FULLTEXT INDEX "),
        (
            (FILMS, NAMES),
            "No full-text index is on a label or type that has a vector index. Create one: CREATE FULLTEXT",
        ),
    ],
)
def test_what_hybrid_search_lacks_is_told(indexes: tuple[dict[str, Any], ...], told: str):
    with pytest.raises(SetupError) as caught:
        choice(*indexes).hybrid()
    assert str(caught.value).startswith(told)


def test_a_full_text_index_that_has_failed_is_told_with_its_state():
    with pytest.raises(SetupError, match=r"The full-text index 'broken' is in state FAILED: drop it"):
        choice(WORDS, fulltext("broken", "(Film)", "title", state="FAILED")).fulltext("broken")
