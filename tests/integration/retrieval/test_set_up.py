"""What is said of an index, an embedder or a connection that does not fit, and that a search works once it does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from embedders import KnownTexts
from graphs import DIMENSIONS, Films, create_index, remove, unique, vectors
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer

QUESTION = [float(value) for value in vectors(1, seed=1)[0]]
RETURN_TEXT = "RETURN node.text AS text, score"


@pytest.fixture
def label(neo4j_server: Neo4jServer) -> Iterator[str]:
    """A label of the test's own, on three nodes, and of nothing else."""
    name = unique("Note")
    neo4j_server.query(
        f"UNWIND range(0, 2) AS i CREATE (:{name} {{text: 'note ' + i, emb: $v[i]}})", v=vectors(3).tolist()
    )
    yield name
    remove(neo4j_server, name)


@pytest.fixture
def index(neo4j_server: Neo4jServer) -> Iterator[str]:
    """A name for an index, which is gone afterwards."""
    name = unique("notes")
    yield name
    remove(neo4j_server, indexes=[name])


def refusal(retriever: VectorGraphRetriever, question: list[float] = QUESTION) -> str:
    with pytest.raises(SetupError) as caught:
        retriever.search(query_vector=question)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def works(retriever: VectorGraphRetriever, question: list[float] = QUESTION) -> bool:
    found = retriever.search(query_vector=question).items
    return {item.content for item in found} == {"note 0", "note 1", "note 2"}


def test_a_missing_index_is_told_with_the_names_that_exist_and_found_once_it_is_there(
    database: Database, films: Films, neo4j_server: Neo4jServer, label: str, index: str
):
    retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_TEXT, index_setting="INDEX_NAME")
    text = refusal(retriever)
    assert text.startswith(f"The vector index '{index}' (INDEX_NAME) does not exist in this database: ")
    assert f"'{films.films}'" in text
    assert f"'{films.reviews}'" in text
    create_index(neo4j_server, index, label)
    assert works(retriever)


def test_a_full_text_index_is_told_as_one(database: Database, neo4j_server: Neo4jServer, label: str, index: str):
    neo4j_server.query(f"CREATE FULLTEXT INDEX {index} FOR (n:{label}) ON EACH [n.text]")
    assert f"The vector index '{index}' is a full-text index: " in refusal(VectorGraphRetriever(database, index))


def test_other_dimensions_are_told_with_both_numbers_and_the_index(
    database: Database, neo4j_server: Neo4jServer, label: str, index: str
):
    create_index(neo4j_server, index, label, dimensions=4)
    embedder = KnownTexts({"what?": QUESTION})
    retriever = VectorGraphRetriever(database, index, embedder=embedder, retrieval_query=RETURN_TEXT)
    with pytest.raises(SetupError) as caught:
        retriever.search(query_text="what?")
    text = str(caught.value)
    assert f"vectors of {DIMENSIONS} dimensions" in text
    assert f"the index '{index}' holds vectors of 4" in text
    assert "EMBEDDING_MODEL" in text


def test_a_retriever_works_once_the_index_is_made_anew_with_the_right_dimensions(
    database: Database, neo4j_server: Neo4jServer, label: str, index: str
):
    create_index(neo4j_server, index, label, dimensions=4)
    retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_TEXT)
    assert "holds vectors of 4" in refusal(retriever)
    neo4j_server.query(f"DROP INDEX {index}")
    create_index(neo4j_server, index, label)
    assert works(retriever)


def test_a_warm_retriever_learns_that_the_index_has_other_dimensions(
    database: Database, neo4j_server: Neo4jServer, label: str, index: str
):
    create_index(neo4j_server, index, label)
    retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_TEXT)
    assert works(retriever)
    neo4j_server.query(f"DROP INDEX {index}")
    neo4j_server.query(f"MATCH (n:{label}) SET n.emb = n.emb[..4]")
    create_index(neo4j_server, index, label, dimensions=4)
    refusal(retriever)  # in the words of what it knew
    assert f"the index '{index}' holds vectors of 4" in refusal(retriever)
    assert works(retriever, QUESTION[:4])


def test_a_warm_retriever_survives_that_its_index_is_dropped(
    database: Database, neo4j_server: Neo4jServer, label: str, index: str
):
    create_index(neo4j_server, index, label)
    retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_TEXT)
    assert works(retriever)
    neo4j_server.query(f"DROP INDEX {index}")
    assert index in refusal(retriever)
    assert "does not exist in this database" in refusal(retriever)
    create_index(neo4j_server, index, label)
    assert works(retriever)


def test_an_index_that_is_being_populated_is_told_and_searched_when_it_is_online(
    database: Database, neo4j_server: Neo4jServer, index: str
):
    label = unique("Many")
    neo4j_server.query(
        f"UNWIND range(1, 2000) AS i CREATE (:{label} {{text: 'x', emb: [d IN range(1, 64) | rand() - 0.5]}})"
    )
    retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_TEXT)
    create = (
        f"CREATE VECTOR INDEX {index} FOR (n:{label}) ON n.emb OPTIONS {{indexConfig: "
        "{`vector.dimensions`: 64, `vector.similarity_function`: 'cosine'}}"
    )
    told = None
    for _ in range(10):  # population may be over before the question is asked
        neo4j_server.query(create)
        try:
            retriever.search(query_vector=[1.0] * 64)
        except UnavailableError as error:
            told = str(error)
            break
        neo4j_server.query(f"DROP INDEX {index}")
    assert told == f"The vector index '{index}' is still being populated: ask again when it is online."
    neo4j_server.query("CALL db.awaitIndexes()")
    assert len(retriever.search(query_vector=[1.0] * 64, top_k=3).items) == 3
    remove(neo4j_server, label)


def test_without_an_embedder_a_text_cannot_be_searched_and_a_vector_can(database: Database, films: Films):
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=RETURN_TEXT)
    with pytest.raises(SetupError, match="No embedder is set"):
        retriever.search(query_text="what?")
    assert retriever.search(query_vector=QUESTION, top_k=1).items


def test_a_wrong_password_is_told_without_it(neo4j_server: Neo4jServer, films: Films):
    with open_driver(neo4j_server.uri, neo4j_server.username, "hunter2-hunter2") as driver:
        text = refusal(VectorGraphRetriever(Database(driver, neo4j_server.database), films.films))
    assert text == "Neo4j refused the user name or password: check NEO4J_USERNAME and NEO4J_PASSWORD."


def test_no_password_where_one_is_asked_for_is_told(neo4j_server: Neo4jServer, films: Films):
    with open_driver(neo4j_server.uri, neo4j_server.username, None) as driver:
        assert "NEO4J_PASSWORD" in refusal(VectorGraphRetriever(Database(driver, neo4j_server.database), films.films))


def test_a_database_that_does_not_exist_is_named(neo4j_server: Neo4jServer, films: Films):
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        text = refusal(VectorGraphRetriever(Database(driver, "nope"), films.films))
    assert text == "There is no database 'nope' on this server: check NEO4J_DATABASE."


def test_without_a_name_the_users_home_database_is_searched(neo4j_server: Neo4jServer, films: Films):
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        found = VectorGraphRetriever(Database(driver), films.films).search(query_vector=QUESTION, top_k=1).items
    assert len(found) == 1


def test_a_retrieval_query_that_runs_long_is_ended_by_the_database(neo4j_server: Neo4jServer, films: Films):
    query = (
        "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b "
        "WITH node, score, sum(a * b) AS sum RETURN node.text AS text, sum, score"
    )
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        retriever = VectorGraphRetriever(
            Database(driver, neo4j_server.database, read_timeout=0.5), films.films, retrieval_query=query
        )
        with pytest.raises(UnavailableError) as caught:
            retriever.search(query_vector=QUESTION)
    assert str(caught.value).startswith("The search took longer than 0.5 s and was ended: ")
    deadline = time.monotonic() + 20
    running = [{}]
    while running and time.monotonic() < deadline:
        running = neo4j_server.query(
            "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS $part "
            "AND NOT currentQuery STARTS WITH 'SHOW' RETURN currentQuery",
            part="sum(a * b)",
        )
    assert running == []
