"""Loading the demo graph into a real database."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings
from mcp_neo4j_vector_graphrag.local.demo_graph import FULLTEXT_INDEX, VECTOR_INDEX, load_graph, read_graph

MOVIES = len(read_graph().movies)

COUNTS = """
MATCH (n) UNWIND labels(n) AS kind RETURN kind, count(*) AS number
UNION ALL
MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS number
"""


class LengthEmbedder:
    """A model whose vector is the text's length, and who counts the texts."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.texts = 0

    def embed_documents(self, texts):
        self.texts += len(texts)
        return [[float(len(text)), *[1.0] * (self.dimensions - 1)] for text in texts]


class InterruptedLoadError(Exception):
    """What ends a run half-way."""


def counts(server):
    return {row["kind"]: row["number"] for row in server.query(COUNTS)}


def load(server, embedder):
    progress = []
    load_graph(server.driver, server.database, embedder, lambda *step: progress.append(step))
    return progress


@pytest.fixture
def server(neo4j_2026):
    neo4j_2026.clear()
    yield neo4j_2026
    neo4j_2026.clear()


@pytest.fixture
def any_server(neo4j_server):
    neo4j_server.clear()
    yield neo4j_server
    neo4j_server.clear()


def test_loading_twice_gives_the_same_graph(server):
    graph = read_graph()
    embedder = LengthEmbedder(8)
    progress = load(server, embedder)
    assert progress[0] == (0, MOVIES)
    assert progress[-1] == (MOVIES, MOVIES)
    expected = counts(server)
    assert {"Movie": MOVIES, "User": 300, "RATED": len(graph.ratings)}.items() <= expected.items()
    assert expected["ACTED_IN"] == sum(len(movie.cast) for movie in graph.movies)
    assert expected["DIRECTED"] == sum(len(movie.directors) for movie in graph.movies)
    assert expected["IN_GENRE"] == sum(len(movie.genres) for movie in graph.movies)

    embedder.texts = 0
    assert load(server, embedder) == [(MOVIES, MOVIES)]
    assert embedder.texts == 1
    assert expected == counts(server)


def test_an_interrupted_run_is_completed_by_the_next(server):
    def interrupt(done, _total):
        if done:
            raise InterruptedLoadError

    with pytest.raises(InterruptedLoadError):
        load_graph(server.driver, server.database, LengthEmbedder(8), interrupt)
    assert load(server, LengthEmbedder(8))[0] == (50, MOVIES)
    assert server.query("MATCH (m:Movie) RETURN DISTINCT size(m.plotEmbedding) AS size") == [{"size": 8}]


def test_only_films_with_a_changed_text_are_embedded_again(server):
    load(server, LengthEmbedder(8))
    server.query("MATCH (m:Movie {title: 'Jaws'}) SET m.plot = 'A calm summer.'")
    assert load(server, LengthEmbedder(8))[0] == (MOVIES - 1, MOVIES)
    assert server.query("MATCH (m:Movie {title: 'Jaws'}) RETURN m.plot CONTAINS 'shark' AS told") == [{"told": True}]


def test_a_wrong_fact_is_replaced(server):
    load(server, LengthEmbedder(8))
    expected = counts(server)
    server.query("""
        MATCH (m:Movie {title: 'Jaws'})<-[r:DIRECTED]-(), (other:Person {name: 'Akira Kurosawa'})
        DELETE r CREATE (other)-[:DIRECTED]->(m)
    """)
    load(server, LengthEmbedder(8))
    assert server.query("MATCH (p)-[:DIRECTED]->(:Movie {title: 'Jaws'}) RETURN p.name AS name") == [
        {"name": "Steven Spielberg"}
    ]
    assert expected == counts(server)


def test_another_model_replaces_vectors_and_index(server):
    load(server, LengthEmbedder(8))
    assert load(server, LengthEmbedder(4))[0] == (0, MOVIES)
    assert server.query(
        "SHOW VECTOR INDEXES YIELD options RETURN options.indexConfig['vector.dimensions'] AS size"
    ) == [{"size": 4}]
    assert server.query("MATCH (m:Movie) RETURN DISTINCT size(m.plotEmbedding) AS size") == [{"size": 4}]


def test_both_indexes_are_online_on_every_release(any_server):
    load(any_server, LengthEmbedder(8))
    filters = ["year", "runtime", "imdbRating", "released"] if any_server.version.startswith("2026") else []
    assert any_server.query(
        "SHOW INDEXES YIELD name, type, state, properties WHERE type IN ['FULLTEXT', 'VECTOR'] "
        "RETURN name, state, properties ORDER BY type"
    ) == [
        {"name": FULLTEXT_INDEX, "state": "ONLINE", "properties": ["title", "plot"]},
        {"name": VECTOR_INDEX, "state": "ONLINE", "properties": ["plotEmbedding", *filters]},
    ]


def test_values_have_their_types(server):
    load(server, LengthEmbedder(8))
    row = server.query("""
        MATCH (m:Movie {title: 'Inception'})<-[:ACTED_IN {role: 'Cobb'}]-(p:Person:Actor)
        MATCH (:User {name: 'User ' + 17, userId: 17})-[r:RATED]->()
        RETURN p.name AS name, m.released = date('2010-07-16') AS released, m.imdbRating AS rating,
               valueType(r.rating) AS stars, valueType(r.timestamp) AS time LIMIT 1
    """)
    assert row == [
        {
            "name": "Leonardo DiCaprio",
            "released": True,
            "rating": 8.8,
            "stars": "FLOAT NOT NULL",
            "time": "INTEGER NOT NULL",
        }
    ]


QUESTIONS = {
    "dreams inside dreams": "Inception",
    "a shark terrorises a beach town": "Jaws",
    "a rat who cooks in a restaurant in Paris": "Ratatouille",
    "a man relives the same day over and over": "Groundhog Day",
    "a knight plays chess with Death": "The Seventh Seal",
    "zombies on a train": "Train to Busan",
    "an astronaut stranded on Mars grows potatoes": "The Martian",
    "old Cuban musicians": "Buena Vista Social Club",
    "Ein Hai bedroht einen Badeort": "Jaws",
    "좀비가 나오는 기차": "Train to Busan",
}


def test_questions_find_their_film(server):
    embedder = LocalEmbeddings()
    load(server, embedder)
    for question, title in QUESTIONS.items():
        rows = server.query(
            f"""
            CYPHER 25
            MATCH (m:Movie) SEARCH m IN (VECTOR INDEX {VECTOR_INDEX} FOR $vector LIMIT 50) SCORE AS score
            RETURN m.title AS title ORDER BY vector.similarity.cosine(m.plotEmbedding, $vector) DESC LIMIT 3
            """,
            vector=embedder.embed_query(question),
        )
        assert title in [row["title"] for row in rows], question
