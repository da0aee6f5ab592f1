"""Retrieval queries as people write them, and what is said of one that does not work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphs import Films, create_index, nearest, remove, unique, vectors
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from servers import Neo4jServer

QUESTION = [float(value) for value in vectors(1, seed=1)[0]]


def texts(database: Database, index: str, query: str) -> list[str]:
    retriever = VectorGraphRetriever(database, index, retrieval_query=query)
    return [item.content for item in retriever.search(query_vector=QUESTION, top_k=3).items]


def refusal(database: Database, index: str, query: str) -> str:
    with pytest.raises(SetupError) as caught:
        texts(database, index, query)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "RETURN node.text AS text, score",
        "RETURN node.text AS text, score;",
        "RETURN node.text AS text, score ;\n;\n",
        "RETURN node.text AS text, score // the best three",
        "RETURN node.text AS text, score; // the best three",
        "RETURN node.text AS text, score /* the best\nthree */",
        "// the best three\nRETURN node.text AS text, score",
        r"RETURN node.text AS text,\n  score",
        r"RETURN node.text AS text,\r\n  score",
        r"// the best three\nRETURN node.text AS text, score",
        r"RETURN node.text AS text, // text\n  score",
        "CYPHER 5 RETURN node.text AS text, score",
        "cypher 5\nRETURN node.text AS text, score",
        "// the best three\nCYPHER 5 RETURN node.text AS text, score",
        "\n\n  RETURN node.text AS text, score\n",
    ],
)
def test_a_query_works_as_it_is_written(database: Database, films: Films, query: str):
    assert texts(database, films.films, query) == [f"film {i}" for i, _ in nearest(films.embeddings, QUESTION)[:3]]


def test_a_backslash_n_in_a_string_stays_what_it_is(database: Database, films: Films):
    assert texts(database, films.films, r"RETURN 'a\nb' AS text, score")[0] == "a\nb"


def test_cypher_25_is_taken_where_the_server_has_it(database: Database, films: Films, neo4j_server: Neo4jServer):
    query = "CYPHER 25 RETURN node.text AS text, score"
    if neo4j_server.version.startswith("5."):
        assert "25 is not a valid option for cypher version" in refusal(database, films.films, query)
    else:
        assert texts(database, films.films, query) == [f"film {i}" for i, _ in nearest(films.embeddings, QUESTION)[:3]]


@pytest.mark.parametrize(
    ("query", "place", "told"),
    [
        ("RETRUN node.text AS text", "line 1, column 1", "RETRUN"),
        ("MATCH (node)--(x)\nRETRUN x", "line 2, column 1", "RETRUN"),
        ("MATCH (node)--(x)\nRETURN x.name AS text, y AS more", "line 2, column 24", "`y` not defined"),
        (r"MATCH (node)--(x)\nRETURN y", "line 2, column 8", "`y` not defined"),
        ("\n\nMATCH (node)--(x)\nRETURN y", "line 4, column 8", "`y` not defined"),
        ("CYPHER 5\nMATCH (node)--(x)\nRETURN y", "line 3, column 8", "`y` not defined"),
        ("CYPHER 5 RETURN y", "line 1, column 17", "`y` not defined"),
        ("RETURN nofunction(node) AS text", "line 1, column 8", "nofunction"),
    ],
)
def test_a_mistake_is_told_with_its_place_in_the_query(
    database: Database, films: Films, query: str, place: str, told: str
):
    text = refusal(database, films.films, query)
    assert text.startswith(f"RETRIEVAL_QUERY, {place}: ")
    assert told in text


def test_a_mistake_in_cypher_25_is_not_taken_for_old_cypher(neo4j_2026: Neo4jServer):
    label, index = unique("Film"), unique("films")
    neo4j_2026.query(f"CREATE (:{label} {{emb: $v}})", v=QUESTION)
    create_index(neo4j_2026, index, label)
    with open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password) as driver:
        text = refusal(Database(driver, neo4j_2026.database), index, "LET y = node.text\nRETURN y AS text, z AS more")
    assert text == "RETRIEVAL_QUERY, line 2, column 19: Variable `z` not defined"
    remove(neo4j_2026, label, indexes=[index])


def test_a_query_of_comments_alone_is_refused_without_a_place_of_ours(database: Database, films: Films):
    assert refusal(database, films.films, "// nothing").startswith("RETRIEVAL_QUERY is refused by Neo4j: ")


def test_two_statements_are_refused(database: Database, films: Films):
    text = refusal(database, films.films, "RETURN node.text AS text; MATCH (n) DETACH DELETE n")
    assert text.startswith("RETRIEVAL_QUERY")
    assert "one statement" in text


def test_a_parameter_that_is_not_given_is_named(database: Database, films: Films):
    text = refusal(database, films.films, "RETURN node.text + $suffix AS text, $top_k AS k, '$none' AS x")
    assert text == "RETRIEVAL_QUERY uses the parameter $suffix, which is not given: $query_text and $top_k are."


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("CREATE (:Made) RETURN node.text AS text", "a clause that writes"),
        ("SET node.text = 'gone' RETURN node.text AS text", "a clause that writes"),
        ("DETACH DELETE node RETURN 1 AS text", "a clause that writes"),
        ("LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line[0] AS text", "LOAD CSV"),
        ("CALL dbms.listConfig() YIELD name RETURN name AS text", "the procedure dbms.listConfig"),
    ],
)
def test_a_query_that_does_more_than_read_is_refused_before_it_runs(
    database: Database, films: Films, neo4j_server: Neo4jServer, query: str, told: str
):
    text = refusal(database, films.films, query)
    assert text.startswith("RETRIEVAL_QUERY is refused, since it may only read the graph: it holds ")
    assert told in text
    assert neo4j_server.query(f"MATCH (n:{films.film}) WHERE n.text STARTS WITH 'film' RETURN count(n) AS n") == [
        {"n": 20}
    ]
    assert neo4j_server.query("MATCH (n) WHERE 'Made' IN labels(n) RETURN count(n) AS n") == [{"n": 0}]


def test_a_procedure_that_the_operator_allows_is_called(database: Database, films: Films):
    query = "CALL db.info() YIELD name RETURN name AS text, score"
    assert "ALLOWED_PROCEDURES" in refusal(database, films.films, query)
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=query, allowed_procedures=["db.info"])
    [item] = retriever.search(query_vector=QUESTION, top_k=1).items
    assert item.content == database.name


@pytest.mark.parametrize(
    ("query", "content", "metadata"),
    [
        ("RETURN null AS text, node.i AS i", '{"text":null,"i":%d}', {}),
        ("RETURN node.text AS text, 'no map' AS metadata", "film %d", {"metadata": "no map"}),
        ("RETURN node.text AS text, [1, 2] AS metadata", "film %d", {"metadata": [1, 2]}),
        ("RETURN node.text AS text, null AS metadata", "film %d", {}),
    ],
)
def test_odd_columns_do_not_cost_the_row(
    database: Database, films: Films, query: str, content: str, metadata: dict[str, object]
):
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=query)
    [item] = retriever.search(query_vector=QUESTION, top_k=1).items
    assert (item.content, item.metadata) == (content % nearest(films.embeddings, QUESTION)[0][0], metadata)


def test_what_fails_while_it_runs_is_told_in_neo4js_words(database: Database, films: Films):
    text = refusal(database, films.films, "RETURN 1 / (node.i - node.i) AS text")
    assert text == "Neo4j refused the search: / by zero"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("RETURN node.text AS text, node.txet AS more", {("line 1, column 32", "property `txet`")}),
        (
            "OPTIONAL MATCH (node)-[:NO_SUCH]->(x:Nowhere)\nRETURN node.text AS text, x.text AS more",
            {("line 1, column 25", "relationship type `NO_SUCH`"), ("line 1, column 38", "label `Nowhere`")},
        ),
        ("RETURN node.text AS text, score", set()),
    ],
)
def test_a_name_that_the_database_lacks_is_told_in_the_log(
    database: Database, films: Films, caplog: pytest.LogCaptureFixture, query: str, told: set[tuple[str, str]]
):
    assert texts(database, films.films, query)
    lines = [record.getMessage() for record in caplog.records if "contact" in record.name]

    assert len(lines) == len(told)
    for place, name in told:
        assert any(line.startswith(f"RETRIEVAL_QUERY, {place}: The {name} does not exist") for line in lines)
