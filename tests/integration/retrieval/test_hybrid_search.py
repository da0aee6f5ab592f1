"""What a hybrid search returns, against both halves and their fusion computed here."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from digest_embedder import digest_vector
from embedders import KnownTexts
from genai_plugin import GENAI_KEY
from graphs import DIMENSIONS, SIZE, Films, Sightings, bm25, create_index, nearest, remove, unique, vectors
from mcp_neo4j_vector_graphrag.embedding.in_database import InDatabaseEmbedder
from mcp_neo4j_vector_graphrag.embedding.provider import Credentials
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from releases import ON_NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

QUESTION = [float(value) for value in vectors(1, seed=1)[0]]
COLUMNS = "score, vector_score, vector_rank, text_score, text_rank"
RETURN_I = f"RETURN node.i AS i, 'x' AS text, {COLUMNS}"
OF_RELATIONSHIP = f"RETURN relationship.i AS i, 'x' AS text, {COLUMNS}"


@dataclass(frozen=True)
class Expected:
    """One row of the fused order."""

    i: int
    score: float
    vector_score: float | None
    vector_rank: int | None
    text_score: float | None
    text_rank: int | None


def fuse(
    by_vector: Sequence[tuple[int, float]],
    by_text: Sequence[tuple[int, float]],
    alpha: float,
    constant: int | None = None,
) -> list[Expected]:
    """Return both halves in one order; with a constant by ranks, else by scaled scores."""
    near = {i: (score, rank) for rank, (i, score) in enumerate(by_vector, start=1)}
    worded = {i: (score, rank) for rank, (i, score) in enumerate(by_text, start=1)}
    lowest, highest = min(score for score, _ in near.values()), max(score for score, _ in near.values())
    rows = []
    for i in {**near, **worded}:
        vector_score, vector_rank = near.get(i, (None, None))
        text_score, text_rank = worded.get(i, (None, None))
        if constant is None:
            one = 0.0 if vector_score is None else (vector_score - lowest) / (highest - lowest)
            other = 0.0 if text_score is None else text_score / by_text[0][1]
        else:
            one = 0.0 if vector_rank is None else (constant + 1) / (constant + vector_rank)
            other = 0.0 if text_rank is None else (constant + 1) / (constant + text_rank)
        score = alpha * one + (1 - alpha) * other
        rows.append(Expected(i, score, vector_score, vector_rank, text_score, text_rank))
    return sorted(rows, key=lambda row: -row.score)


def search(retriever: HybridGraphRetriever, question: str = "shark?", top_k: int = SIZE, **more: Any) -> list[Any]:
    return list(retriever.get_search_results(question, QUESTION, top_k, **more).records)


def assert_same(found: list[Any], expected: list[Expected]) -> None:
    assert [record["i"] for record in found] == [row.i for row in expected]
    for name in ("vector_rank", "text_rank"):
        assert [record[name] for record in found] == [getattr(row, name) for row in expected]
    for name in ("score", "vector_score", "text_score"):
        for record, row in zip(found, expected, strict=True):
            assert record[name] == pytest.approx(getattr(row, name), abs=1e-3), name


@pytest.fixture
def notes(database: Database, sightings: Sightings) -> HybridGraphRetriever:
    return HybridGraphRetriever(database, sightings.notes, sightings.note_texts, retrieval_query=RETURN_I)


def halves(
    graph: Sightings, holds: Callable[[int], bool] = lambda _: True
) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    by_vector = [(i, score) for i, score in nearest(graph.embeddings, QUESTION) if holds(i)]
    return by_vector, [(i, score) for i, score in bm25(range(SIZE)) if holds(i)]


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.9])
@pytest.mark.parametrize("constant", [None, 1, 60])
@pytest.mark.parametrize("on", ["node", "relationship"])
def test_both_halves_are_ranked_as_computed(
    database: Database, sightings: Sightings, alpha: float, constant: int | None, on: str
):
    indexes, query = {
        "node": ((sightings.notes, sightings.note_texts), RETURN_I),
        "relationship": ((sightings.sayings, sightings.saying_texts), OF_RELATIONSHIP),
    }[on]
    retriever = HybridGraphRetriever(database, *indexes, retrieval_query=query, rank_constant=constant or 1)
    ranker = "linear" if constant is None else "rrf"
    expected = fuse(*halves(sightings), alpha, constant)
    assert_same(search(retriever, ranker=ranker, alpha=alpha, top_k=7), expected[:7])


@pytest.mark.parametrize("ranker", ["linear", "rrf"])
@pytest.mark.parametrize(("alpha", "first"), [(0, "text"), (1, "vector")])
def test_at_its_ends_alpha_leaves_one_halfs_pure_order(
    database: Database, sightings: Sightings, ranker: str, alpha: int, first: str
):
    """`onlyd` is in one text alone, so nearly all are found by one half only: they come last, in their own order."""
    given = {"retrieval_query": "RETURN node.i AS i, 'x' AS text, score"}
    text = FulltextGraphRetriever(database, sightings.note_texts, **given)
    vector = VectorGraphRetriever(database, sightings.notes, **given)
    question = "onlyd onlye"
    by_text = [record["i"] for record in text.get_search_results(question, SIZE).records]
    by_vector = [record["i"] for record in vector.get_search_results(QUESTION, top_k=SIZE).records]
    hybrid = HybridGraphRetriever(database, sightings.notes, sightings.note_texts, retrieval_query=RETURN_I)
    found = [record["i"] for record in search(hybrid, question, ranker=ranker, alpha=alpha)]
    assert len(by_text) == 2
    assert set(found[:2]) == set(by_text) if first == "text" else found == by_vector
    if first == "text":
        assert found[2:] == [i for i in by_vector if i not in by_text]


@pytest.mark.parametrize("ranker", ["linear", "rrf"])
def test_what_only_the_other_half_finds_comes_last(database: Database, neo4j_server: Neo4jServer, ranker: str):
    """Notes 0 to 4 have a vector, 5 and 6 have none; 3, 5 and 6 have the word, more often in that order."""
    label, docs, texts = unique("Whale"), unique("whales"), unique("whale_texts")
    embeddings = vectors(5)
    words = ["sea sea sea"] * 3 + ["whale sea sea", "sea sea sea", "whale whale sea", "whale whale whale"]
    neo4j_server.query(
        f"UNWIND range(0, 6) AS i CREATE (:{label} {{i: i, text: $words[i], emb: $v[i]}})",
        words=words,
        v=[*embeddings.tolist(), None, None],
    )
    create_index(neo4j_server, docs, label)
    neo4j_server.query(f"CREATE FULLTEXT INDEX {texts} FOR (n:{label}) ON EACH [n.text]")
    neo4j_server.query("CALL db.awaitIndexes()")
    retriever = HybridGraphRetriever(database, docs, texts, retrieval_query=RETURN_I)
    near = [i for i, _ in nearest(embeddings, QUESTION)]
    found = {alpha: search(retriever, "whale", 7, ranker=ranker, alpha=alpha) for alpha in (0, 1)}
    assert [record["i"] for record in found[1]] == [*near, 6, 5]
    assert [record["i"] for record in found[0]] == [6, 5, 3, *(i for i in near if i != 3)]
    assert [record["vector_rank"] for record in found[1]] == [1, 2, 3, 4, 5, None, None]
    assert [record["text_rank"] for record in found[0]] == [1, 2, 3, None, None, None, None]
    assert [record["i"] for record in search(retriever, "whale", 6, ranker=ranker, alpha=1)] == [*near, 6]
    remove(neo4j_server, label, indexes=[docs, texts])


FILTERS: dict[str, tuple[Any, Callable[[int], bool]]] = {
    "inside": ({"year": {"min": 1983, "max": 1990}}, lambda i: 3 <= i <= 10),
    "outside": ({"mood": "calm"}, lambda i: i < 4),
    "both": ({"lang": "de", "mood": "wild"}, lambda i: i % 2 == 1 and i >= 4),
}


@pytest.mark.parametrize("case", FILTERS)
@pytest.mark.parametrize("on", ["node", "relationship"])
def test_a_filter_holds_in_both_halves(database: Database, sightings: Sightings, case: str, on: str):
    indexes, query = {
        "node": ((sightings.notes, sightings.note_texts), RETURN_I),
        "relationship": ((sightings.sayings, sightings.saying_texts), OF_RELATIONSHIP),
    }[on]
    filters, holds = FILTERS[case]
    retriever = HybridGraphRetriever(database, *indexes, retrieval_query=query)
    for alpha in (0.0, 0.5, 1.0):
        expected = fuse(*halves(sightings, holds), alpha)
        found = search(retriever, ranker="linear", alpha=alpha, filters=filters)
        assert {record["i"] for record in found} == {i for i in range(SIZE) if holds(i)}
        if alpha == 0.5:
            assert_same(found, expected)
        else:
            worded = [row.i for row in expected if row.text_rank]
            assert [record["i"] for record in found][: len(worded)] == [row.i for row in expected][: len(worded)]


def test_a_filter_that_nothing_meets_gives_no_rows(notes: HybridGraphRetriever):
    assert search(notes, filters={"mood": "none"}) == []
    assert search(notes, filters={"year": 1776}) == []


@pytest.mark.parametrize("question", ["?!", "千", "nowhere"])
def test_without_a_word_that_is_found_the_vector_half_answers_alone(
    notes: HybridGraphRetriever, sightings: Sightings, question: str
):
    expected = fuse(nearest(sightings.embeddings, QUESTION), [], 1.0)
    found = search(notes, question, alpha=1)
    assert_same(found, expected)
    assert [record["i"] for record in search(notes, question)] == [row.i for row in expected]


def test_a_question_that_is_embedded_in_the_database_is_one_statement(database: Database, sightings: Sightings):
    credentials = Credentials(model="m", api_key=SecretStr(GENAI_KEY), dimensions=DIMENSIONS)
    embedder = InDatabaseEmbedder("openai", credentials)
    asked = digest_vector("onlyd", DIMENSIONS)
    for filters, holds in ((None, lambda _: True), ({"mood": "calm"}, lambda i: i < 4)):
        retriever = HybridGraphRetriever(
            database, sightings.notes, sightings.note_texts, embedder=embedder, retrieval_query=RETURN_I
        )
        found = retriever.get_search_results("onlyd", top_k=SIZE, alpha=1, filters=filters).records
        expected = [(i, score) for i, score in nearest(sightings.embeddings, asked) if holds(i)]
        assert [record["i"] for record in found] == [i for i, _ in expected]
        assert [record["vector_score"] for record in found] == pytest.approx([score for _, score in expected], abs=1e-3)
        assert [record["i"] for record in found if record["text_rank"]] == [3]


def test_a_retrieval_query_in_cypher_5_is_taken_with_filters_inside(database: Database, sightings: Sightings):
    retriever = HybridGraphRetriever(
        database, sightings.notes, sightings.note_texts, retrieval_query=f"CYPHER 5 {RETURN_I}"
    )
    filters, holds = FILTERS["inside"]
    assert_same(search(retriever, ranker="linear", alpha=0.5, filters=filters), fuse(*halves(sightings, holds), 0.5))
    assert_same(search(retriever, ranker="linear", alpha=0.5), fuse(*halves(sightings), 0.5))


def test_without_a_retrieval_query_all_scores_are_told_and_no_vector(database: Database, sightings: Sightings):
    retriever = HybridGraphRetriever(database, sightings.notes, sightings.note_texts)
    [item] = retriever.search(query_text="onlyd", query_vector=QUESTION, top_k=1, alpha=0).items
    assert f'"text":"{Sightings.text(3)}"' in item.content
    assert "emb" not in item.content
    assert item.metadata["text_rank"] == 1
    assert item.metadata["vector_rank"] == [i for i, _ in nearest(sightings.embeddings, QUESTION)].index(3) + 1
    assert item.metadata["score"] == 1


@ON_NEWEST
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query_text": " "}, "The question is blank: ask for something in a few words."),
        ({"query_text": "x", "alpha": 1.5}, "alpha is 1.5: take a number from 0 (only words count) to 1"),
        ({"query_text": "x", "alpha": -0.1}, "alpha is -0.1: take a number from 0"),
        ({"query_text": "x", "alpha": float("nan")}, "alpha is nan: take a number from 0"),
        ({"query_text": "x", "ranker": "naive"}, "There is no ranker 'naive'; allowed are linear, rrf."),
        ({"query_text": "x", "top_k": 10**10}, "from 1 to 10000"),
        ({"query_text": "x", "query_params": {"hybrid_alpha": 1}}, "The parameters hybrid_alpha are set"),
        ({"query_text": "x", "filters": {"nope": 1}}, "There is no filter 'nope'"),
    ],
)
def test_a_bad_argument_is_one_plain_line(notes: HybridGraphRetriever, arguments: dict[str, Any], told: str):
    with pytest.raises(QuestionError) as caught:
        notes.get_search_results(query_vector=QUESTION, **arguments)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_indexes_that_find_different_things_are_both_named(database: Database, sightings: Sightings, films: Films):
    for vector, label in ((films.films, f"nodes {films.film}"), (films.reviews, f"relationships {films.review}")):
        with pytest.raises(SetupError) as caught:
            HybridGraphRetriever(database, vector, sightings.note_texts).prepare()
        assert str(caught.value) == (
            f"The vector index '{vector}' is on {label} and the full-text index '{sightings.note_texts}' is on nodes "
            f"{sightings.note}: choose two indexes on the same label or type."
        )


def test_an_index_in_the_others_place_is_told(database: Database, sightings: Sightings):
    with pytest.raises(SetupError, match="is a full-text index: its vector indexes are "):
        HybridGraphRetriever(database, sightings.note_texts, sightings.notes).prepare()
    with pytest.raises(SetupError, match="is a vector index: its full-text indexes are "):
        HybridGraphRetriever(database, sightings.notes, sightings.notes).prepare()


@pytest.mark.parametrize(("filters", "statements"), [(None, 1), ({"year": {"min": 1985}}, 2)])
@ON_NEWEST
def test_a_warm_search_is_one_round_trip_and_one_more_with_a_filter_inside(
    database: Database,
    sightings: Sightings,
    caplog: pytest.LogCaptureFixture,
    filters: dict[str, Any] | None,
    statements: int,
):
    embedder = KnownTexts({"shark": QUESTION})
    retriever = HybridGraphRetriever(
        database, sightings.notes, sightings.note_texts, embedder=embedder, retrieval_query=RETURN_I
    )
    retriever.get_search_results("shark", filters=filters)
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        retriever.get_search_results("shark", filters=filters)
    sent = (re.search(r"C: ([A-Z]+) ", record.getMessage() + " ") for record in caplog.records)
    assert [match[1] for match in sent if match].count("RUN") == statements
    assert embedder.calls == 2
