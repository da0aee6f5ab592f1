"""What a search returns, against brute force."""

from __future__ import annotations

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from embedders import KnownTexts
from graphs import DIMENSIONS, SIZE, Films, create_index, nearest, remove, unique, vectors
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from servers import quoted

if TYPE_CHECKING:
    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

QUESTION = [float(value) for value in vectors(1, seed=1)[0]]
RETURN_I = "RETURN node.i AS i, node.text AS text, score"


def ranked(
    retriever: VectorGraphRetriever, question: list[float] = QUESTION, top_k: int = 5
) -> list[tuple[Any, float]]:
    """Return what is found as pairs of `i` and score."""
    found = retriever.search(query_vector=question, top_k=top_k).items
    return [(item.metadata["i"], item.metadata["score"]) for item in found]


@pytest.mark.parametrize("top_k", [1, 5, SIZE, 2 * SIZE])
def test_the_nearest_nodes_come_in_order_with_their_scores(database: Database, films: Films, top_k: int):
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=RETURN_I)
    expected = nearest(films.embeddings, QUESTION)[:top_k]
    found = ranked(retriever, top_k=top_k)
    assert [i for i, _ in found] == [i for i, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-4)


def test_the_nearest_relationships_come_once_each_in_order(database: Database, films: Films):
    query = (
        "RETURN relationship.i AS i, relationship.text AS text, type(relationship) AS type, score, "
        "startNode(relationship).name AS critic, endNode(relationship).text AS film"
    )
    retriever = VectorGraphRetriever(database, films.reviews, retrieval_query=query)
    expected = nearest(films.embeddings, QUESTION)[:7]
    items = retriever.search(query_vector=QUESTION, top_k=7).items
    assert [item.content for item in items] == [f"review {i}" for i, _ in expected]
    assert [item.metadata["score"] for item in items] == pytest.approx([score for _, score in expected], abs=1e-4)
    assert [(item.metadata["critic"], item.metadata["film"], item.metadata["type"]) for item in items] == [
        (f"critic {i}", f"film {i}", films.review) for i, _ in expected
    ]


def test_without_a_retrieval_query_a_node_tells_its_own_properties_and_not_its_vector(database: Database, films: Films):
    [item] = VectorGraphRetriever(database, films.films).search(query_vector=QUESTION, top_k=1).items
    best, score = nearest(films.embeddings, QUESTION)[0]
    assert f'"text":"film {best}"' in item.content
    assert f'"year":{1980 + best}' in item.content
    assert "emb" not in item.content
    assert item.metadata["labels"] == [films.film]
    assert item.metadata["score"] == pytest.approx(score, abs=1e-4)


def test_without_a_retrieval_query_a_relationship_tells_its_type_and_both_ends(database: Database, films: Films):
    [item] = VectorGraphRetriever(database, films.reviews).search(query_vector=QUESTION, top_k=1).items
    best = nearest(films.embeddings, QUESTION)[0][0]
    assert f'"text":"review {best}"' in item.content
    assert item.metadata["type"] == films.review
    assert item.metadata["start"] == {"name": f"critic {best}"}
    assert item.metadata["end"] == {"i": best, "text": f"film {best}", "year": 1980 + best}


def test_an_index_on_two_labels_returns_nodes_of_both(neo4j_2026: Neo4jServer):
    first, second, index = unique("A"), unique("B"), unique("both")
    embeddings = vectors()
    neo4j_2026.query(
        f"UNWIND range(0, {SIZE - 1}) AS i "
        f"FOREACH (_ IN CASE i % 2 WHEN 0 THEN [1] ELSE [] END | CREATE (:{first} {{i: i, emb: $v[i]}})) "
        f"FOREACH (_ IN CASE i % 2 WHEN 1 THEN [1] ELSE [] END | CREATE (:{second} {{i: i, emb: $v[i]}}))",
        v=embeddings.tolist(),
    )
    create_index(neo4j_2026, index, f"{first}|{second}", prefix="CYPHER 25")
    with open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password) as driver:
        retriever = VectorGraphRetriever(
            Database(driver, neo4j_2026.database), index, retrieval_query="RETURN 'x' AS text, node.i AS i, score"
        )
        expected = [i for i, _ in nearest(embeddings, QUESTION)[:8]]
        assert {i % 2 for i in expected} == {0, 1}
        assert [i for i, _ in ranked(retriever, top_k=8)] == expected
    remove(neo4j_2026, first, second, indexes=[index])


def test_an_index_on_two_types_returns_relationships_of_both_once(neo4j_2026: Neo4jServer):
    label, first, second, index = unique("N"), unique("A"), unique("B"), unique("both")
    embeddings = vectors()
    neo4j_2026.query(
        f"CREATE (n:{label})-[:{first} {{i: 0, emb: $v[0]}}]->(n), (n)-[:{second} {{i: 1, emb: $v[1]}}]->(n)",
        v=embeddings.tolist(),
    )
    create_index(neo4j_2026, index, f"{first}|{second}", on="relationship", prefix="CYPHER 25")
    with open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password) as driver:
        retriever = VectorGraphRetriever(
            Database(driver, neo4j_2026.database),
            index,
            retrieval_query="RETURN 'x' AS text, relationship.i AS i, score",
        )
        assert [i for i, _ in ranked(retriever)] == [i for i, _ in nearest(embeddings[:2], QUESTION)]
    remove(neo4j_2026, label, indexes=[index])


def test_a_euclidean_index_keeps_its_own_function(database: Database, neo4j_server: Neo4jServer):
    label, index = unique("Place"), unique("places")
    embeddings = vectors() * np.linspace(0.2, 5, SIZE)[:, None]  # lengths that cosine does not see
    neo4j_server.query(
        f"UNWIND range(0, {SIZE - 1}) AS i CREATE (:{label} {{i: i, emb: $v[i]}})", v=embeddings.tolist()
    )
    create_index(neo4j_server, index, label, similarity="euclidean")
    expected = nearest(embeddings, QUESTION, "euclidean")
    assert [i for i, _ in expected] != [i for i, _ in nearest(embeddings, QUESTION)]
    found = ranked(
        VectorGraphRetriever(database, index, retrieval_query="RETURN 'x' AS text, node.i AS i, score"), top_k=SIZE
    )
    assert [i for i, _ in found] == [i for i, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-3)
    remove(neo4j_server, label, indexes=[index])


def test_the_retrieval_query_sees_the_question_and_the_number(database: Database, films: Films):
    retriever = VectorGraphRetriever(
        database,
        films.films,
        embedder=KnownTexts({"what?": QUESTION}),
        retrieval_query="RETURN $query_text + '/' + $top_k + '/' + $mine AS text, score",
    )
    found = retriever.search(query_text="what?", top_k=2, query_params={"mine": "x"}).items
    assert [item.content for item in found] == ["what?/2/x"] * 2


def test_rows_of_a_walk_with_aggregation_come_best_first(database: Database, films: Films):
    query = (
        f"MATCH (node)-[:{films.genre}]->(t) "
        "RETURN t.name AS text, max(score) AS score, count(*) AS films, collect(node.i) AS ids"
    )
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=query)
    expected: dict[str, list[tuple[int, float]]] = {}
    for i, score in nearest(films.embeddings, QUESTION)[:12]:
        expected.setdefault(f"genre {i % 4}", []).append((i, score))
    found = retriever.search(query_vector=QUESTION, top_k=12).items
    assert [item.content for item in found] == list(expected)
    assert [sorted(item.metadata["ids"]) for item in found] == [
        sorted(i for i, _ in members) for members in expected.values()
    ]
    assert [item.metadata["score"] for item in found] == pytest.approx(
        [members[0][1] for members in expected.values()], abs=1e-4
    )


def test_an_order_inside_a_subquery_leaves_the_rows_best_first(database: Database, films: Films):
    query = (
        f"MATCH (t:{films.topic})<-[:{films.genre}]-(node) "
        "WITH t, node, score ORDER BY t.name DESC "
        "RETURN node.text AS text, node.i AS i, score, "
        f"COLLECT {{ MATCH (node)-[:{films.genre}]->(x) RETURN x.name ORDER BY x.name }} AS genres"
    )
    found = ranked(VectorGraphRetriever(database, films.films, retrieval_query=query), top_k=SIZE)
    assert [i for i, _ in found] == [i for i, _ in nearest(films.embeddings, QUESTION)]


def test_an_order_of_the_querys_own_is_kept(database: Database, films: Films):
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=f"{RETURN_I} ORDER BY node.i DESC")
    expected = sorted((i for i, _ in nearest(films.embeddings, QUESTION)[:6]), reverse=True)
    assert [i for i, _ in ranked(retriever, top_k=6)] == expected


def test_rows_without_a_score_come_as_the_query_returns_them(database: Database, films: Films):
    query = "WITH node, score ORDER BY node.i RETURN node.text AS text"
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=query)
    expected = sorted(i for i, _ in nearest(films.embeddings, QUESTION)[:4])
    assert [item.content for item in retriever.search(query_vector=QUESTION, top_k=4).items] == [
        f"film {i}" for i in expected
    ]


def test_no_rows_are_an_empty_list(database: Database, films: Films):
    retriever = VectorGraphRetriever(database, films.films, retrieval_query="WITH node WHERE false RETURN node")
    assert retriever.search(query_vector=QUESTION).items == []


def test_odd_names_of_index_label_and_property_are_harmless(database: Database, neo4j_server: Neo4jServer):
    name = "x` FOR $query_vector LIMIT 1) // with dots., ümläut'\"``"
    label, index, prop = (f"{unique(part)} {name}" for part in ("label", "index", "prop"))
    embeddings = vectors(3)
    neo4j_server.query(
        f"UNWIND range(0, 2) AS i CREATE (:{quoted(label)} {{i: i, {quoted(prop)}: $v[i]}})", v=embeddings.tolist()
    )
    create_index(neo4j_server, index, quoted(label), prop)
    found = VectorGraphRetriever(database, index).search(query_vector=QUESTION).items
    assert [item.content for item in found] == [f'{{"i":{i}}}' for i, _ in nearest(embeddings, QUESTION)]
    remove(neo4j_server, label, indexes=[index])


def test_an_index_without_dimensions_is_searched(database: Database, neo4j_server: Neo4jServer):
    label, index = unique("Open"), unique("open")
    embeddings = vectors(3)
    neo4j_server.query(f"UNWIND range(0, 2) AS i CREATE (:{label} {{i: i, emb: $v[i]}})", v=embeddings.tolist())
    create_index(neo4j_server, index, label, dimensions=None)
    found = ranked(VectorGraphRetriever(database, index, retrieval_query="RETURN 'x' AS text, node.i AS i, score"))
    assert [i for i, _ in found] == [i for i, _ in nearest(embeddings, QUESTION)]
    remove(neo4j_server, label, indexes=[index])


def requests(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the driver sent, by its own log."""
    sent = (re.search(r"C: ([A-Z]+) ", record.getMessage() + " ") for record in caplog.records)
    return [match[1] for match in sent if match]


def test_a_warm_search_is_one_round_trip(database: Database, films: Films, caplog: pytest.LogCaptureFixture):
    embedder = KnownTexts({"what?": QUESTION})
    retriever = VectorGraphRetriever(database, films.films, embedder=embedder, retrieval_query=RETURN_I)
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        retriever.search(query_text="what?")
        cold = requests(caplog)
        caplog.clear()
        retriever.search(query_text="what?")
        warm = requests(caplog)
    assert cold.count("RUN") > 1
    assert warm == ["RUN", "PULL"]
    assert embedder.calls == 2


def test_a_warm_search_of_an_index_without_dimensions_is_one_too(
    database: Database, neo4j_server: Neo4jServer, caplog: pytest.LogCaptureFixture
):
    label, index = unique("Open"), unique("open")
    neo4j_server.query(f"CREATE (:{label} {{i: 0, emb: $v}})", v=QUESTION)
    create_index(neo4j_server, index, label, dimensions=None)
    retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_I)
    retriever.search(query_vector=QUESTION)
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        retriever.search(query_vector=QUESTION)
    assert requests(caplog) == ["RUN", "PULL"]
    remove(neo4j_server, label, indexes=[index])


def test_a_query_that_fails_is_not_run_again(database: Database, films: Films, caplog: pytest.LogCaptureFixture):
    query = "RETURN 'x' AS text, node.i / (node.i - node.i) AS i, score"
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=query)
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, logger="neo4j.io"), pytest.raises(SetupError, match="by zero"):
            retriever.search(query_vector=QUESTION)
    assert requests(caplog).count("RUN") == 1


def test_many_threads_get_each_its_own_answer(database: Database, films: Films):
    rows = films.embeddings.tolist()
    embedder = KnownTexts({f"film {i}": row for i, row in enumerate(rows)})
    retriever = VectorGraphRetriever(database, films.films, embedder=embedder, retrieval_query=RETURN_I)

    def ask(call: int) -> list[str]:
        found = retriever.search(query_text=f"film {call % SIZE}", top_k=3).items
        return [item.content for item in found]

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(ask, range(96)))
    expected = [[f"film {i}" for i, _ in nearest(films.embeddings, row)[:3]] for row in rows]
    assert answers == [expected[call % SIZE] for call in range(96)]
    assert embedder.calls == 96


@pytest.mark.parametrize("vector", [[0.0] * DIMENSIONS, [float("nan")] * DIMENSIONS, [float("inf")] * DIMENSIONS])
def test_a_vector_that_points_nowhere_is_one_plain_line(database: Database, films: Films, vector: list[float]):
    with pytest.raises(QuestionError) as caught:
        VectorGraphRetriever(database, films.films).search(query_vector=vector)
    assert str(caught.value) == "The embedder made no usable vector of this question: rephrase it."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query_text": ""}, "blank"),
        ({"query_text": " \n"}, "blank"),
        ({}, "blank"),
        ({"query_vector": QUESTION, "top_k": 0}, "top_k is 0: take a number from 1 to 10000."),
        ({"query_vector": QUESTION, "top_k": 10**10}, "from 1 to 10000"),
        ({"query_vector": QUESTION, "query_params": {"top_k": 3}}, "top_k"),
        ({"query_vector": QUESTION, "filters": {"nope": 1}}, "There is no filter 'nope'; allowed are: i, text, year."),
    ],
)
def test_a_bad_argument_is_one_plain_line(database: Database, films: Films, arguments: dict[str, Any], told: str):
    with pytest.raises(QuestionError) as caught:
        VectorGraphRetriever(database, films.films).search(**arguments)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_index_that_is_made_anew_without_its_filter_properties_is_searched(neo4j_2026: Neo4jServer):
    label, index = unique("Film"), unique("films")
    embeddings = vectors(3)
    neo4j_2026.query(
        f"UNWIND range(0, 2) AS i CREATE (:{label} {{i: i, year: i, text: 'film ' + toString(i), emb: $v[i]}})",
        v=embeddings.tolist(),
    )
    config = f"OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSIONS}, `vector.similarity_function`: 'cosine'}}}}"
    create = f"CYPHER 25 CREATE VECTOR INDEX {index} FOR (n:{label}) ON n.emb"
    with open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password) as driver:
        retriever = VectorGraphRetriever(
            Database(driver, neo4j_2026.database), index, retrieval_query=RETURN_I, filterable=["year"]
        )
        for within in ("WITH [n.year]", ""):
            neo4j_2026.query(f"{create} {within} {config}")
            neo4j_2026.query("CALL db.awaitIndexes()")
            found = retriever.search(query_vector=QUESTION, top_k=3, filters={"year": {"min": 1}}).items
            assert {item.content for item in found} == {"film 1", "film 2"}
            neo4j_2026.query(f"DROP INDEX {index}")
    remove(neo4j_2026, label)
