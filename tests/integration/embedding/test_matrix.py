"""The same rows in the same order, whoever embeds the question, whatever is searched, and wherever filters are checked.

Twenty entries lie in one plane with the question, 8 degrees apart, so that rank and score of each are known beforehand.
"""

from __future__ import annotations

import ast
import logging
import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings
from neo4j.exceptions import Neo4jError
from pydantic import SecretStr

from digest_embedder import DigestEmbedder, digest_vector
from genai_plugin import GENAI_KEY
from graphs import DIMENSIONS, SIZE, remove, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.embedding.in_database import InDatabaseEmbedder
from mcp_neo4j_vector_graphrag.embedding.provider import Credentials
from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.database.capabilities import EmbedFunction
    from servers import Neo4jServer

QUESTION = "which films are about a journey?"
TOP_K = 5

DEGREES = 8
RANKED = [(7 * rank + 3) % SIZE for rank in range(SIZE)]
"""The entries, nearest first; the one of rank r lies 8 (r + 1) degrees from the question."""
SCORES = [(1 + math.cos(math.radians(DEGREES * (rank + 1)))) / 2 for rank in range(SIZE)]
"""Neo4j's score of a cosine, by rank."""

OUTSIDE_SHARE = [{"property": "text", "operator": "ENDS WITH", "value": "odd"}]
INSIDE_SHARE = [{"property": "year", "operator": ">=", "value": 1990}]

FILTERS: dict[str, tuple[list[dict[str, Any]], list[int]]] = {
    "no filter": ([], RANKED),
    "inside": (INSIDE_SHARE, [i for i in RANKED if i >= 10]),
    "outside": (OUTSIDE_SHARE, [i for i in RANKED if i % 2 == 1]),
    "both": ([*INSIDE_SHARE, *OUTSIDE_SHARE], [i for i in RANKED if i >= 10 and i % 2 == 1]),
}
"""What is asked for, and all that match, nearest first. The index holds `year`; no index checks how a text ends."""

STATEMENTS = {"no filter": 1, "inside": 1, "outside": 3, "both": 3}
"""A fallback is three: the nearest of which some match, all that match since they are few, and the retrieval query."""

EMBEDDERS = ("in database, new", "in database, old", "local", "LangChain")
NOT_THERE = {
    ("5.26.14", "in database, new"): "ai.text.embed came with 2025.11",
    ("2025.10.1", "in database, new"): "ai.text.embed came with 2025.11",
    ("5.26.14", "inside"): "an index holds no other properties before 2026.01",
    ("2025.10.1", "inside"): "an index holds no other properties before 2026.01",
    ("5.26.14", "both"): "an index holds no other properties before 2026.01",
    ("2025.10.1", "both"): "an index holds no other properties before 2026.01",
}
"""The cells that can't exist, by release and embedder or filter."""


class DigestEmbeddings(Embeddings):
    """An embedding model of LangChain's."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [digest_vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return digest_vector(text)


@dataclass(frozen=True)
class Plane:
    """The entries: `(:place {i, text, year, emb})-[:road {i, text, year, emb}]->(:end)`, and their indexes."""

    place: str
    end: str
    road: str
    node: str
    relationship: str
    words: str


def embeddings() -> list[list[float]]:
    """Return each entry's vector."""
    towards = np.asarray(digest_vector(QUESTION))
    towards /= np.linalg.norm(towards)
    across = np.eye(DIMENSIONS)[0] - towards[0] * towards
    across /= np.linalg.norm(across)
    rows = [np.zeros(DIMENSIONS)] * SIZE
    for rank, i in enumerate(RANKED):
        angle = math.radians(DEGREES * (rank + 1))
        rows[i] = math.cos(angle) * towards + math.sin(angle) * across
    return [row.tolist() for row in rows]


def holds_properties(server: Neo4jServer) -> bool:
    """Whether the release's vector indexes hold properties to filter by, by its version."""
    return server.version.startswith("2026.")


def create_index(server: Neo4jServer, name: str, pattern: str) -> None:
    """Create a vector index that holds the year, if the release can."""
    language, held = ("CYPHER 25 ", "WITH [e.year] ") if holds_properties(server) else ("", "")
    server.query(
        f"{language}CREATE VECTOR INDEX {name} FOR {pattern} ON e.emb {held}OPTIONS {{indexConfig: "
        f"{{`vector.dimensions`: {DIMENSIONS}, `vector.similarity_function`: 'cosine', "
        "`vector.quantization.enabled`: false}}"
    )


@pytest.fixture(scope="module")
def plane(neo4j_server: Neo4jServer) -> Iterator[Plane]:
    """The entries, which no test changes."""
    graph = Plane(*(unique(name) for name in ("Place", "End", "road", "places", "roads", "words")))
    neo4j_server.query(
        f"UNWIND range(0, {SIZE - 1}) AS i "
        "WITH i, {i: i, text: 'entry ' + i + CASE i % 2 WHEN 1 THEN ' odd' ELSE ' even' END, year: 1980 + i, "
        "emb: $emb[i]} AS properties "
        f"CREATE (p:{graph.place}) SET p = properties "
        f"CREATE (p)-[r:{graph.road}]->(:{graph.end}) SET r = properties",
        emb=embeddings(),
    )
    create_index(neo4j_server, graph.node, f"(e:{graph.place})")
    create_index(neo4j_server, graph.relationship, f"()-[e:{graph.road}]-()")
    neo4j_server.query(f"CREATE FULLTEXT INDEX {graph.words} FOR (e:{graph.place}) ON EACH [e.text]")
    neo4j_server.query("CALL db.awaitIndexes()")
    yield graph
    remove(neo4j_server, graph.place, graph.end, indexes=[graph.node, graph.relationship, graph.words])


@contextmanager
def opened(server: Neo4jServer, function: EmbedFunction | None = None) -> Iterator[Database]:
    """Open the product's way to a server; told a function, it takes that for the only one that embeds."""
    with open_driver(server.uri, server.username, server.password) as driver:
        database = Database(driver, server.database)
        if function:
            database._capabilities = (database.epoch, replace(database.capabilities, embed_function=function))
        yield database


def in_database() -> InDatabaseEmbedder:
    credentials = Credentials(model="m", api_key=SecretStr(GENAI_KEY), dimensions=DIMENSIONS)
    return InDatabaseEmbedder("openai", credentials)


@pytest.fixture(scope="session", params=EMBEDDERS)
def embedding(request: pytest.FixtureRequest, neo4j_server: Neo4jServer) -> Iterator[tuple[str, Database, Embedder]]:
    """One way to embed, with the way to the server that goes with it."""
    name: str = request.param
    if reason := NOT_THERE.get((neo4j_server.version, name)):
        pytest.skip(reason)
    functions: dict[str, EmbedFunction] = {
        "in database, new": "ai.text.embed",
        "in database, old": "genai.vector.encode",
    }
    lazy = LazyEmbedder("digest:any")
    lazy._embedder = DigestEmbeddings()  # in place of what LangChain would make
    embedders: dict[str, Embedder] = {"local": DigestEmbedder(), "LangChain": lazy}
    with opened(neo4j_server, functions.get(name)) as database:
        yield name, database, embedders.get(name) or in_database()


def statements(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return the statements that the driver sent, each with its parameters, by its own log."""
    runs = [record.getMessage().partition("C: RUN ")[2] for record in caplog.records]
    return [_split(run) for run in runs if run]


def _split(run: str) -> tuple[str, str]:
    """Tell a statement, which is written as Python writes a text, from what stands after it."""
    quote, end = run[0], 1
    while run[end] != quote:
        end += 2 if run[end] == "\\" else 1
    return ast.literal_eval(run[: end + 1]), run[end + 1 :]


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("entity", ["node", "relationship"])
def test_every_cell_has_the_same_rows_in_the_same_order(  # noqa: PLR0913 - the sides of the matrix
    neo4j_server: Neo4jServer,
    plane: Plane,
    embedding: tuple[str, Database, Embedder],
    entity: str,
    filters: str,
    caplog: pytest.LogCaptureFixture,
):
    if reason := NOT_THERE.get((neo4j_server.version, filters)):
        pytest.skip(reason)
    name, database, embedder = embedding
    asked, matching = FILTERS[filters]
    retriever = VectorGraphRetriever(
        database,
        getattr(plane, entity),
        embedder=embedder,
        retrieval_query=f"RETURN {entity}.text AS text, {entity}.i AS i, score",
    )
    retriever.search(query_text=QUESTION, top_k=TOP_K, filters=asked)
    caplog.clear()

    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        items = retriever.search(query_text=QUESTION, top_k=TOP_K, filters=asked).items

    sent = statements(caplog)
    expected = matching[:TOP_K]
    assert [item.metadata["i"] for item in items] == expected
    assert [item.content for item in items] == [f"entry {i} {'odd' if i % 2 else 'even'}" for i in expected]
    assert [item.metadata["score"] for item in items] == pytest.approx(
        [SCORES[RANKED.index(i)] for i in expected], abs=1e-5
    )
    assert len(sent) == STATEMENTS[filters]
    embeds = [place for place, (text, _) in enumerate(sent) if "$embedding_text" in text]
    assert embeds == ([0] if name.startswith("in database") else []), "the question is embedded once"
    told = [place for place, (_, parameters) in enumerate(sent) if GENAI_KEY in parameters]
    assert told == embeds, "the key travels with the question and not again"


def test_hybrid_search_has_the_question_embedded_in_the_same_ways(
    plane: Plane, embedding: tuple[str, Database, Embedder], caplog: pytest.LogCaptureFixture
):
    _, database, embedder = embedding
    retriever = HybridGraphRetriever(
        database, plane.node, plane.words, embedder=embedder, retrieval_query="RETURN node.i AS i, score"
    )
    retriever.prepare()
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        found = retriever.get_search_results(QUESTION, top_k=TOP_K, alpha=1).records
    assert [record["i"] for record in found] == RANKED[:TOP_K]
    assert len(statements(caplog)) == 1

    odd = retriever.get_search_results("odd", top_k=SIZE, alpha=0, filters=OUTSIDE_SHARE).records
    assert {record["i"] for record in odd} == {i for i in range(SIZE) if i % 2 == 1}


@pytest.mark.parametrize("filters", FILTERS)
def test_all_that_match_are_found_however_many_are_asked_for(
    neo4j_server: Neo4jServer, plane: Plane, embedding: tuple[str, Database, Embedder], filters: str
):
    if reason := NOT_THERE.get((neo4j_server.version, filters)):
        pytest.skip(reason)
    _, database, embedder = embedding
    asked, matching = FILTERS[filters]
    retriever = VectorGraphRetriever(
        database, plane.node, embedder=embedder, retrieval_query="RETURN 'x' AS text, node.i AS i, score"
    )
    items = retriever.search(query_text=QUESTION, top_k=50, filters=asked).items
    assert [item.metadata["i"] for item in items] == matching


def test_a_filter_that_enough_of_the_nearest_meet_needs_no_look_at_all_others(
    plane: Plane, embedding: tuple[str, Database, Embedder], caplog: pytest.LogCaptureFixture
):
    name, database, embedder = embedding
    retriever = VectorGraphRetriever(
        database, plane.node, embedder=embedder, retrieval_query="RETURN 'x' AS text, node.i AS i, score"
    )
    retriever.search(query_text=QUESTION, top_k=2, filters=OUTSIDE_SHARE)
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        items = retriever.search(query_text=QUESTION, top_k=2, filters=OUTSIDE_SHARE).items
    sent = statements(caplog)
    assert [item.metadata["i"] for item in items] == [i for i in RANKED if i % 2 == 1][:2]
    assert len(sent) == 2
    assert ["$embedding_text" in text for text, _ in sent] == [name.startswith("in database"), False]


def test_a_retrieval_query_walks_on_from_what_the_database_embedded(
    plane: Plane, embedding: tuple[str, Database, Embedder]
):
    _, database, embedder = embedding
    query = (
        f"MATCH (node)-[r:{plane.road}]->(e:{plane.end}) "
        "RETURN $query_text + '/' + $top_k + '/' + r.text AS text, score, {end: labels(e)} AS metadata"
    )
    retriever = VectorGraphRetriever(database, plane.node, embedder=embedder, retrieval_query=query)
    items = retriever.search(query_text=QUESTION, top_k=2).items
    texts = [f"entry {i} {'odd' if i % 2 else 'even'}" for i in RANKED[:2]]
    assert [item.content for item in items] == [f"{QUESTION}/2/{text}" for text in texts]
    assert [item.metadata["end"] for item in items] == [[plane.end]] * 2


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("kind", ["vector", "hybrid"])
def test_a_retrieval_query_may_compare_with_the_questions_vector_whatever_is_filtered(  # noqa: PLR0913 - as above
    neo4j_server: Neo4jServer,
    plane: Plane,
    embedding: tuple[str, Database, Embedder],
    kind: str,
    filters: str,
    caplog: pytest.LogCaptureFixture,
):
    if reason := NOT_THERE.get((neo4j_server.version, filters)):
        pytest.skip(reason)
    name, database, embedder = embedding
    asked, matching = FILTERS[filters]
    query = "RETURN node.i AS i, vector.similarity.cosine(node.emb, $query_vector) AS similarity, score"
    shared: dict[str, Any] = {"embedder": embedder, "retrieval_query": query}
    if kind == "vector":
        by_meaning = VectorGraphRetriever(database, plane.node, **shared)
        by_meaning.prepare()
        with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
            found = by_meaning.get_search_results(query_text=QUESTION, top_k=TOP_K, filters=asked).records
    else:
        by_both = HybridGraphRetriever(database, plane.node, plane.words, **shared)
        by_both.prepare()
        with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
            found = by_both.get_search_results(QUESTION, top_k=TOP_K, alpha=1, filters=asked).records
    expected = matching[:TOP_K]
    assert [record["i"] for record in found] == expected
    assert [record["similarity"] for record in found] == pytest.approx(
        [SCORES[RANKED.index(i)] for i in expected], abs=1e-5
    )
    embeds = ["$embedding_text" in text for text, _ in statements(caplog)]
    assert sum(embeds) == name.startswith("in database"), "the question is embedded once"


@pytest.mark.parametrize("language", ["5", "25"])
def test_a_retrieval_query_may_say_its_language(
    neo4j_server: Neo4jServer, plane: Plane, embedding: tuple[str, Database, Embedder], language: str
):
    _, database, embedder = embedding
    if language == "25" and neo4j_server.version.startswith("5."):
        pytest.skip("Neo4j 5 knows Cypher 5 only")
    query = f"CYPHER {language} RETURN node.text AS text, node.i AS i, score"
    retriever = VectorGraphRetriever(database, plane.node, embedder=embedder, retrieval_query=query)
    items = retriever.search(query_text=QUESTION, top_k=3).items
    assert [item.metadata["i"] for item in items] == RANKED[:3]


def test_the_newest_function_of_the_database_is_the_one_that_is_used(neo4j_server: Neo4jServer):
    newest = "ai.text.embed" if neo4j_server.version.startswith("2026.") else "genai.vector.encode"
    with opened(neo4j_server) as database:
        assert database.capabilities.embed_function == newest


def test_the_cells_that_are_left_out_can_not_exist(neo4j_server: Neo4jServer):
    label = unique("Any")
    left_out = {what for version, what in NOT_THERE if version == neo4j_server.version}
    names = {str(row["name"]) for row in neo4j_server.query("SHOW FUNCTIONS YIELD name")}
    if holds_properties(neo4j_server):
        assert left_out == set()
        return
    assert left_out == {"in database, new", "inside", "both"}
    assert "ai.text.embed" not in names
    with pytest.raises(Neo4jError, match="WITH"):
        neo4j_server.query(
            f"CREATE VECTOR INDEX {label} FOR (e:{label}) ON e.emb WITH [e.year] "
            f"OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSIONS}}}}}"
        )
