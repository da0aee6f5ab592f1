"""Values of a real server in a row: plain JSON, none lost, no vector."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from neo4j.vector import Vector

from embedders import KnownTexts
from graphs import DIMENSIONS, Films, nearest, vectors
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.retrieval.items import search
from mcp_neo4j_vector_graphrag.retrieval.result import SearchResult
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

QUESTION = [float(value) for value in vectors(1, seed=1)[0]]

VALUES: dict[str, tuple[str, Any]] = {
    "a null": ("null", None),
    "a long integer": ("9007199254740993", 9007199254740993),
    "a date": ("date('2024-02-29')", "2024-02-29"),
    "a datetime": ("datetime('2024-02-29T12:30:00+02:00')", "2024-02-29T12:30:00+02:00"),
    "a datetime in a zone": ("datetime('2024-02-29T12:30:00[Europe/Berlin]')", "2024-02-29T12:30:00+01:00"),
    "a local datetime": ("localdatetime('2024-02-29T12:30:00')", "2024-02-29T12:30:00"),
    "a time": ("time('12:30:00+01:00')", "12:30:00+01:00"),
    "a local time": ("localtime('12:30:00.000000001')", "12:30:00.000000001"),
    "a duration": ("duration('P1Y2M3DT4H5M6.7S')", "P1Y2M3DT4H5M6.7S"),
    "a point": ("point({x: 1, y: 2})", {"srid": 7203, "x": 1.0, "y": 2.0}),
    "a place": (
        "point({longitude: 12.5, latitude: 55.6, height: 3})",
        {"srid": 4979, "x": 12.5, "y": 55.6, "z": 3.0},
    ),
    "no number": ("0.0 / 0.0", None),
    "infinity": ("1.0 / 0.0", None),
    "the day Caesar died": ("date({year: -43, month: 3, day: 15})", "-0043-03-15"),
    "a day of the year 0": ("date({year: 0, month: 2, day: 29})", "0000-02-29"),
    "a day long after us": ("date({year: 12000, month: 1, day: 31})", "12000-01-31"),
    "an early moment": ("localdatetime({year: -43, month: 3, day: 15, hour: 11})", "-0043-03-15T11:00:00"),
    "an early moment in a zone": (
        "datetime({year: -43, month: 3, day: 15, hour: 11, timezone: '+02:00'})",
        "-0043-03-15T09:00:00Z",
    ),
    "an early date at depth": ("{a: [date({year: -43, month: 3, day: 15})]}", {"a": ["-0043-03-15"]}),
    "a long list of integers": ("range(1, 200)", list(range(1, 201))),
    "a short list of floats": ("[0.5, 1.5]", [0.5, 1.5]),
    "a vector's length at depth": (f"{{a: [[d IN range(1, {DIMENSIONS}) | d / 2.0], 1]}}", {"a": [None, 1]}),
    "a vector property as text": ("{emb: 'about embeddings'}", {"emb": "about embeddings"}),
}


@pytest.fixture(scope="module")
def row(database: Database, films: Films) -> dict[str, Any]:
    """All values in one row, in JSON and back."""
    columns = ", ".join(f"{cypher} AS `{name}`" for name, (cypher, _) in VALUES.items())
    retriever = VectorGraphRetriever(
        database, films.films, retrieval_query=f"RETURN node.text AS text, score, {columns}"
    )
    [item] = retriever.search(query_vector=QUESTION, top_k=1).items
    return json.loads(json.dumps(item.metadata, allow_nan=False))


@pytest.mark.parametrize("name", VALUES)
def test_a_value_comes_through(row: dict[str, Any], name: str):
    assert row[name] == VALUES[name][1]


def one(database: Database, films: Films, query: str, **parameters: object) -> dict[str, Any]:
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=query)
    [item] = retriever.search(query_vector=QUESTION, top_k=1, query_params=parameters).items
    return json.loads(json.dumps(item.metadata, allow_nan=False))


def test_a_node_has_its_labels_and_properties_and_no_vector(database: Database, films: Films):
    best = nearest(films.embeddings, QUESTION)[0][0]
    node = one(database, films, "RETURN 'x' AS text, node AS n, elementId(node) AS id")
    assert node["n"] == {
        "id": node["id"],
        "labels": [films.film],
        "properties": {"i": best, "text": f"film {best}", "year": 1980 + best},
    }


def test_a_relationship_has_its_type_its_properties_and_both_ends(database: Database, films: Films):
    best = nearest(films.embeddings, QUESTION)[0][0]
    found = one(
        database,
        films,
        f"MATCH (c)-[r:{films.review}]->(node) "
        "RETURN 'x' AS text, r AS r, elementId(r) AS id, elementId(c) AS c, elementId(node) AS n",
    )
    assert found["r"] == {
        "id": found["id"],
        "type": films.review,
        "start": found["c"],
        "end": found["n"],
        "properties": {"i": best, "text": f"review {best}"},
    }


def test_a_path_has_its_nodes_and_relationships_in_order(database: Database, films: Films):
    best = nearest(films.embeddings, QUESTION)[0][0]
    path = one(
        database,
        films,
        f"MATCH p = (:{films.critic})-[:{films.review}]->(node)-[:{films.genre}]->() RETURN 'x' AS text, p AS p",
    )["p"]
    assert [node["labels"] for node in path["nodes"]] == [[films.critic], [films.film], [films.topic]]
    assert [node["properties"].get("name") for node in path["nodes"]] == [f"critic {best}", None, f"genre {best % 4}"]
    first, second = path["relationships"]
    assert (first["type"], second["type"]) == (films.review, films.genre)
    assert [first["start"], first["end"], second["end"]] == [node["id"] for node in path["nodes"]]


def test_bytes_are_base64(database: Database, films: Films):
    assert one(database, films, "RETURN 'x' AS text, $bytes AS b, {b: $bytes} AS m", bytes=b"\x00\xff") == {
        "b": "AP8=",
        "m": {"b": "AP8="},
    }


def test_a_value_of_the_vector_type_is_left_out(neo4j_server: Neo4jServer, database: Database, films: Films):
    if neo4j_server.version.startswith("5."):
        pytest.skip("Neo4j 5 has no such type")
    vector = Vector([0.1, 0.2], "f32")
    found = one(database, films, "RETURN 'x' AS text, $v AS v, {v: $v, kept: [$v, 1]} AS m", v=vector)
    assert found == {"m": {"kept": [None, 1]}}


def test_a_row_with_a_number_that_json_has_not_leaves_the_others_whole(database: Database, films: Films):
    query = "RETURN node.text AS text, CASE WHEN node.i % 2 = 0 THEN 0.0 / 0.0 ELSE score END AS score, node.i AS i"
    retriever = VectorGraphRetriever(database, films.films, retrieval_query=query)
    found = retriever.search(query_vector=QUESTION, top_k=20).items
    assert {item.metadata["i"] for item in found} == set(range(20))
    assert all(("score" in item.metadata) is (item.metadata["i"] % 2 == 1) for item in found)


def test_the_answer_of_a_tool_has_the_same_values(database: Database, films: Films, neo4j_server: Neo4jServer):
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        retriever = VectorGraphRetriever(
            Database(driver, database.name),
            films.films,
            embedder=KnownTexts({"what?": QUESTION}),
            retrieval_query="RETURN node.text AS text, score, date({year: -43, month: 3, day: 15}) AS d, node AS n",
        )
        [item] = SearchResult.collect(search(retriever, "what?", {"top_k": 1}).items).results
    best, score = nearest(films.embeddings, QUESTION)[0]
    assert item.text == f"film {best}"
    assert item.score == pytest.approx(score, abs=1e-4)
    assert item.metadata["d"] == "-0043-03-15"
    assert "emb" not in item.metadata["n"]["properties"]
