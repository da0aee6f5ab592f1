"""What a full-text search returns, against Lucene's formula computed here."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import pytest

from graphs import SIZE, Films, Sightings, bm25, remove, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever
from releases import ON_NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

RETURN_I = "RETURN node.i AS i, node.text AS text, score"
OF_RELATIONSHIP = (
    "RETURN relationship.i AS i, 'x' AS text, score, startNode(relationship).name AS critic, "
    "endNode(relationship).i AS note"
)
SHARKS = bm25(range(SIZE))
"""Note `i` holds the word `i` times."""


def ids(retriever: FulltextGraphRetriever, question: str, top_k: int = SIZE, **more: Any) -> list[int]:
    return [record["i"] for record in retriever.get_search_results(question, top_k, **more).records]


@pytest.fixture
def notes(database: Database, sightings: Sightings) -> FulltextGraphRetriever:
    return FulltextGraphRetriever(database, sightings.note_texts, retrieval_query=RETURN_I)


@pytest.mark.parametrize("top_k", [1, 5, 2 * SIZE])
def test_the_best_texts_come_in_order_with_lucenes_scores(notes: FulltextGraphRetriever, top_k: int):
    found = notes.get_search_results("shark", top_k).records
    assert [record["i"] for record in found] == [i for i, _ in SHARKS][:top_k]
    assert [record["score"] for record in found] == pytest.approx([score for _, score in SHARKS][:top_k], abs=1e-4)


def test_relationships_come_once_each_with_both_ends(database: Database, sightings: Sightings):
    retriever = FulltextGraphRetriever(database, sightings.saying_texts, retrieval_query=OF_RELATIONSHIP)
    found = retriever.get_search_results("shark", 2 * SIZE).records
    assert [(record["i"], record["critic"], record["note"]) for record in found] == [
        (i, f"critic {i}", i) for i, _ in SHARKS
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "what is onlyd?",
        "who directed: onlyd",
        "onlyd -shark?",
        "NOT onlyd",
        "(onlyd",
        "onlyd]",
        'say "onlyd',
        "/onlyd",
        "onlyd\\",
        "onlyd^ AND",
        "OR onlyd!",
        "text: onlyd~",
        "+onlyd && ||",
        "onlyd' OR 1=1 //",
        "* onlyd",
    ],
)
def test_a_sentence_finds_what_its_words_find(notes: FulltextGraphRetriever, sentence: str):
    """No text holds the other words, save `shark`, which never comes before the rare one."""
    assert ids(notes, sentence)[:1] == ids(notes, "onlyd")[:1] == [3]
    if "shark" not in sentence:
        assert ids(notes, sentence) == [3]


def test_a_minus_excludes_nothing(notes: FulltextGraphRetriever):
    assert sorted(ids(notes, "shark -onlyd")) == [i for i in range(SIZE) if i]


def test_lucenes_own_syntax_is_read_when_asked_for(notes: FulltextGraphRetriever):
    assert ids(notes, "onlyd OR (onlye AND nothing)", lucene=True) == [3]
    assert sorted(ids(notes, "only*", lucene=True)) == list(range(SIZE))
    assert sorted(ids(notes, "shark -onlyd", lucene=True)) == [i for i in range(SIZE) if i not in (0, 3)]


@pytest.mark.parametrize(
    "broken", ["(", "AND", '"x', "foo/bar", "x:", "[a TO", "x^", " OR ".join(f"w{i}" for i in range(1500))]
)
def test_a_fault_in_lucenes_syntax_is_the_questions(notes: FulltextGraphRetriever, broken: str):
    told = r"^Lucene (can't read this question|takes no question of so many words): "
    with pytest.raises(QuestionError, match=told) as caught:
        notes.get_search_results(broken, lucene=True)
    assert broken not in str(caught.value) or len(broken) < 3


def test_a_very_long_question_is_cut_and_says_so(notes: FulltextGraphRetriever):
    found = notes.get_search_results("onlyd " + " ".join(f"千{i}" for i in range(25_000)))
    assert [record["i"] for record in found.records] == [3]
    assert found.metadata is not None
    assert "Only the first words of the question were searched for" in found.metadata["notice"]


FILTERS: dict[str, tuple[Any, Callable[[int], bool]]] = {
    "range": ({"year": {"min": 1983, "max": 1986}}, lambda i: 3 <= i <= 6),
    "value": ({"lang": "en"}, lambda i: i % 2 == 0),
    "two": ({"lang": "de", "mood": "calm"}, lambda i: i in (1, 3)),
    "operator": ([{"property": "mood", "operator": "<>", "value": "wild"}], lambda i: i < 4),
    "nothing": ({"year": 1776}, lambda _: False),
}


@pytest.mark.parametrize("case", FILTERS)
@pytest.mark.parametrize("on", ["node", "relationship"])
def test_a_filter_keeps_what_matches_in_order(database: Database, sightings: Sightings, case: str, on: str):
    index, query = {
        "node": (sightings.note_texts, RETURN_I),
        "relationship": (sightings.saying_texts, OF_RELATIONSHIP),
    }[on]
    filters, holds = FILTERS[case]
    retriever = FulltextGraphRetriever(database, index, retrieval_query=query)
    found = retriever.get_search_results("shark?", 3, filters=filters)
    expected = [(i, score) for i, score in SHARKS if holds(i)][:3]
    assert [record["i"] for record in found.records] == [i for i, _ in expected]
    assert [record["score"] for record in found.records] == pytest.approx([score for _, score in expected], abs=1e-4)
    assert found.metadata == {"__retriever": "FulltextGraphRetriever"} or not (found.metadata or {}).get("notice")


@pytest.mark.parametrize("rare", [5, 1_500, 11_900])
def test_a_filter_finds_what_lies_deep(database: Database, neo4j_server: Neo4jServer, rare: int):
    """Of 12,000 texts the ones that match are the last, or near the last, by score: longer texts score less."""
    label, index = unique("Deep"), unique("deep")
    neo4j_server.query(
        f"UNWIND range(0, 11999) AS i CREATE (:{label} {{i: i, wanted: i IN [$rare, $rare + 1], "
        "text: 'shark' + CASE WHEN i < 100 THEN '' WHEN i < 10000 THEN ' x x' ELSE ' x x x x x x x x' END})",
        rare=rare,
    )
    neo4j_server.query(f"CREATE FULLTEXT INDEX {index} FOR (n:{label}) ON EACH [n.text]")
    neo4j_server.query("CALL db.awaitIndexes()")
    retriever = FulltextGraphRetriever(database, index, retrieval_query=RETURN_I)
    found = retriever.get_search_results("shark", 5, filters={"wanted": True})
    assert sorted(record["i"] for record in found.records) == [rare, rare + 1]
    assert not (found.metadata or {}).get("notice")
    remove(neo4j_server, label, indexes=[index])


def test_without_a_retrieval_query_a_node_tells_its_properties_and_not_its_vector(
    database: Database, sightings: Sightings
):
    [item] = FulltextGraphRetriever(database, sightings.note_texts).search(query_text="onlyd", top_k=1).items
    assert f'"text":"{Sightings.text(3)}"' in item.content
    assert "emb" not in item.content
    assert item.metadata["labels"] == [sightings.note]
    assert item.metadata["score"] > 0


def test_a_retrieval_query_in_cypher_5_is_taken(database: Database, sightings: Sightings):
    query = "CYPHER 5 RETURN node.i AS i, $query_text + $top_k + $mine AS text, score"
    retriever = FulltextGraphRetriever(database, sightings.note_texts, retrieval_query=query)
    [record] = retriever.get_search_results("onlyd?", 4, query_params={"mine": "!"}).records
    assert (record["i"], record["text"]) == (3, "onlyd?4!")


def test_an_index_of_two_properties_and_labels_takes_a_question_of_any_length(
    database: Database, neo4j_server: Neo4jServer
):
    label, other, index = unique("A"), unique("B"), unique("both")
    neo4j_server.query(f"CREATE (:{label} {{i: 1, title: 'one'}}), (:{other} {{i: 2, note: 'two'}})")
    neo4j_server.query(f"CREATE FULLTEXT INDEX {index} FOR (n:{label}|{other}) ON EACH [n.title, n.note]")
    neo4j_server.query("CALL db.awaitIndexes()")
    retriever = FulltextGraphRetriever(database, index, retrieval_query="RETURN node.i AS i, 'x' AS text, score")
    for filler in ("千" * 100_000, " ".join(f"w{i}-{i}" for i in range(10_000)), "x" * 100_000, "🐉" * 20_000):
        assert sorted(ids(retriever, f"one two {filler}")) == [1, 2]
    remove(neo4j_server, label, other, indexes=[index])


@ON_NEWEST
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query_text": " \n"}, "The question is blank: ask for something in a few words."),
        ({"query_text": "?! ... (+)"}, "The question holds no word: ask with letters or numbers."),
        ({"query_text": " ", "lucene": True}, "The question is blank: ask for something in a few words."),
        ({"query_text": "x", "top_k": 0}, "top_k is 0: take a number from 1 to 10000."),
        (
            {"query_text": "x", "query_params": {"fulltext_query": 3}},
            "The parameters fulltext_query are set by the search itself: use other names.",
        ),
        (
            {"query_text": "x", "filters": {"nope": 1}},
            "There is no filter 'nope'; allowed are: i, lang, mood, text, year.",
        ),
    ],
)
def test_a_bad_argument_is_one_plain_line(notes: FulltextGraphRetriever, arguments: dict[str, Any], told: str):
    with pytest.raises(QuestionError) as caught:
        notes.get_search_results(**arguments)
    assert str(caught.value) == told


def test_a_vector_index_in_the_place_of_a_fulltext_index_is_told(database: Database, films: Films):
    with pytest.raises(SetupError) as caught:
        FulltextGraphRetriever(database, films.films, index_setting="FULLTEXT_INDEX_NAME").prepare()
    assert str(caught.value).startswith(
        f"The full-text index '{films.films}' (FULLTEXT_INDEX_NAME) is a vector index: its full-text indexes are "
    )


def test_a_retrieval_query_that_writes_is_refused(database: Database, sightings: Sightings):
    with pytest.raises(SetupError, match="it may only read"):
        FulltextGraphRetriever(
            database, sightings.note_texts, retrieval_query="SET node.x = 1 RETURN node.text AS text"
        ).prepare()


def test_an_index_that_was_dropped_is_told_and_found_again(database: Database, neo4j_server: Neo4jServer):
    label, index = unique("Gone"), unique("gone")
    create = f"CREATE FULLTEXT INDEX {index} FOR (n:{label}) ON EACH [n.text]"
    neo4j_server.query(f"CREATE (:{label} {{i: 1, text: 'shark'}})")
    neo4j_server.query(create)
    neo4j_server.query("CALL db.awaitIndexes()")
    retriever = FulltextGraphRetriever(database, index, retrieval_query=RETURN_I)
    assert ids(retriever, "shark") == [1]
    neo4j_server.query(f"DROP INDEX {index}")
    with pytest.raises(SetupError, match=f"'{index}' does not exist in this database"):
        retriever.get_search_results("shark")
    neo4j_server.query(create)
    neo4j_server.query("CALL db.awaitIndexes()")
    assert ids(retriever, "shark") == [1]
    remove(neo4j_server, label, indexes=[index])


def test_a_warm_search_is_one_round_trip(notes: FulltextGraphRetriever, caplog: pytest.LogCaptureFixture):
    notes.prepare()
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        notes.get_search_results("shark")
    sent = (re.search(r"C: ([A-Z]+) ", record.getMessage() + " ") for record in caplog.records)
    assert [match[1] for match in sent if match] == ["RUN", "PULL"]


def test_a_wrong_password_is_told_without_it(neo4j_server: Neo4jServer, sightings: Sightings):
    with open_driver(neo4j_server.uri, neo4j_server.username, "hunter2-hunter2") as driver:
        retriever = FulltextGraphRetriever(Database(driver, neo4j_server.database), sightings.note_texts)
        with pytest.raises(SetupError, match=r"^Neo4j refused the user name or password"):
            retriever.get_search_results("shark")
