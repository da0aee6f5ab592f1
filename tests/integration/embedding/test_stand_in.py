"""The stand-in for the GenAI plugin answers as the real one is documented to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import neo4j
import pytest
from neo4j.exceptions import ClientError, Neo4jError

from digest_embedder import DigestEmbedder, digest_vector
from genai_plugin import GENAI_ACCESS_KEY_ID, GENAI_KEY, has_ai_text
from servers import RELEASES

if TYPE_CHECKING:
    from servers import Neo4jServer

TEXT = "Gefährliche Reise, 旅"
OLD = "RETURN genai.vector.encode($text, $provider, $configuration) AS vector"
NEW = "CYPHER 25 RETURN ai.text.embed($text, $provider, $configuration) AS vector"
FUNCTIONS = (
    "SHOW FUNCTIONS YIELD name WHERE name STARTS WITH 'ai.' OR name STARTS WITH 'genai.' RETURN name ORDER BY name"
)

KEY = {"token": GENAI_KEY}
AWS = {"accessKeyId": GENAI_ACCESS_KEY_ID, "secretAccessKey": GENAI_KEY}
OPENAI = {**KEY, "model": "m"}
VERTEX = {"model": "m", "project": "p", "region": "r"}
TITAN = {**AWS, "model": "m", "region": "r"}

OLD_ACCEPTED = [
    ("OpenAI", KEY, 8),
    ("openai", {**KEY, "model": "m", "dimensions": 5}, 5),
    ("AzureOpenAI", {**KEY, "resource": "r", "deployment": "d", "dimensions": 32}, 32),
    ("VertexAI", {**KEY, "projectId": "p"}, 8),
    ("VERTEXAI", {**KEY, "projectId": "p", "model": "m", "region": "r", "taskType": "t", "title": "t"}, 8),
    ("Bedrock", AWS, 8),
    ("Bedrock", {**AWS, "model": "m", "region": "r"}, 8),
]
NEW_ACCEPTED = [
    ("openai", OPENAI, 8),
    ("OpenAI", {**OPENAI, "vendorOptions": {"dimensions": 5}, "maxBatchSize": 3}, 5),
    ("azure-openai", {**OPENAI, "resource": "r", "vendorOptions": {"dimensions": 1}}, 1),
    ("vertexai", {**VERTEX, **KEY}, 8),
    ("vertexai", {**VERTEX, "apiKey": GENAI_KEY, "publisher": "x", "vendorOptions": {"outputDimensionality": 5}}, 5),
    ("bedrock-titan", {**TITAN, "vendorOptions": {"dimensions": 5}}, 5),
]
OLD_REFUSED = [
    ("azure-openai", {**KEY, "resource": "r", "deployment": "d"}, "Unknown provider 'azure-openai'"),
    ("OpenAI", {}, "'token' is expected"),
    ("OpenAI", {**KEY, "vendorOptions": {}}, "unknown configuration 'vendorOptions'"),
    ("OpenAI", {**KEY, "dimensions": "5"}, "'dimensions' is expected to be a Long"),
    ("OpenAI", {**KEY, "dimensions": 33}, "between 1 and 32"),
    ("AzureOpenAI", {**KEY, "resource": "r"}, "'deployment' is expected"),
    ("AzureOpenAI", {**KEY, "resource": "r", "deployment": "d", "model": "m"}, "unknown configuration 'model'"),
    ("VertexAI", {**KEY, "project": "p"}, "'projectId' is expected"),
    ("VertexAI", {**KEY, "projectId": "p", "dimensions": 8}, "unknown configuration 'dimensions'"),
    ("Bedrock", {**AWS, "accessKeyId": "x"}, "401 Unauthorized"),
    ("Bedrock", {**AWS, "secretAccessKey": "x"}, "401 Unauthorized"),
]
NEW_REFUSED = [
    ("AzureOpenAI", {**OPENAI, "resource": "r"}, "Unknown provider 'AzureOpenAI'"),
    ("bedrock", TITAN, "Unknown provider 'bedrock'"),
    ("openai", KEY, "'model' is expected"),
    ("openai", {**OPENAI, "dimensions": 8}, "unknown configuration 'dimensions'"),
    (
        "openai",
        {**OPENAI, "vendorOptions": {"outputDimensionality": 8}},
        "unknown configuration 'outputDimensionality'",
    ),
    ("azure-openai", {**OPENAI, "deployment": "d", "resource": "r"}, "unknown configuration 'deployment'"),
    ("azure-openai", OPENAI, "'resource' is expected"),
    ("vertexai", VERTEX, "one of [apiKey, token] is expected"),
    ("vertexai", {**VERTEX, **KEY, "vendorOptions": {"dimensions": 8}}, "unknown configuration 'dimensions'"),
    ("vertexai", {**VERTEX, "apiKey": "x"}, "401 Unauthorized"),
    ("bedrock-titan", {**AWS, "model": "m"}, "'region' is expected"),
]


def embed(server: Neo4jServer, query: str, provider: str, configuration: dict[str, object], text: str = TEXT) -> object:
    [row] = server.query(query, text=text, provider=provider, configuration=configuration)
    return row["vector"]


def refusal(server: Neo4jServer, query: str, provider: str, configuration: dict[str, object], text: str = TEXT) -> str:
    with pytest.raises(ClientError) as caught:
        embed(server, query, provider, configuration, text)
    assert caught.value.code == "Neo.ClientError.Procedure.ProcedureCallFailed"
    return str(caught.value.message)


def test_the_old_function_returns_the_digest_as_a_list(neo4j_server: Neo4jServer):
    for provider, configuration, dimensions in OLD_ACCEPTED:
        assert embed(neo4j_server, OLD, provider, configuration) == digest_vector(TEXT, dimensions)


def test_the_new_function_returns_the_digest_as_a_vector(neo4j_2026: Neo4jServer):
    for provider, configuration, dimensions in NEW_ACCEPTED:
        vector = embed(neo4j_2026, NEW, provider, configuration)
        assert isinstance(vector, neo4j.vector.Vector)
        assert vector.dtype == "f32"
        assert vector.to_native() == pytest.approx(DigestEmbedder(dimensions).embed_query(TEXT), abs=1e-7)


def test_the_old_function_refuses_what_is_not_documented(neo4j_server: Neo4jServer):
    for provider, configuration, reason in OLD_REFUSED:
        assert reason in refusal(neo4j_server, OLD, provider, configuration)


def test_the_new_function_refuses_what_is_not_documented(neo4j_2026: Neo4jServer):
    for provider, configuration, reason in NEW_REFUSED:
        assert reason in refusal(neo4j_2026, NEW, provider, configuration)


def test_a_wrong_key_is_quoted_only_when_it_begins_with_leak(neo4j_server: Neo4jServer):
    assert "a-wrong-key" not in refusal(neo4j_server, OLD, "OpenAI", {"token": "a-wrong-key"})
    assert "leak-me" in refusal(neo4j_server, OLD, "OpenAI", {"token": "leak-me"})


def test_a_text_can_make_the_call_fail(neo4j_server: Neo4jServer):
    assert "500 Internal Server Error" in refusal(neo4j_server, OLD, "OpenAI", KEY, "fail: please")


def test_a_text_can_block_the_call(neo4j_server: Neo4jServer):
    started = time.monotonic()
    assert embed(neo4j_server, OLD, "OpenAI", KEY, "sleep:0.4 please") == digest_vector("sleep:0.4 please")
    assert time.monotonic() - started >= 0.4


def test_a_blocked_call_goes_on_after_the_timeout_of_its_transaction(neo4j_2026: Neo4jServer):
    query = neo4j.Query(NEW, timeout=0.05)  # looked at every two seconds
    parameters = {"text": "sleep:3.5 please", "provider": "openai", "configuration": OPENAI}
    started = time.monotonic()
    with neo4j_2026.driver.session() as session, pytest.raises(Neo4jError) as caught:
        session.run(query, parameters).consume()
    assert caught.value.code == "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
    assert time.monotonic() - started >= 3.5


def test_the_new_function_is_there_from_2025_11_on_for_cypher_25_only(neo4j_server: Neo4jServer):
    old, new = {"name": "genai.vector.encode"}, {"name": "ai.text.embed"}
    assert neo4j_server.query(FUNCTIONS) == [old]
    if has_ai_text(RELEASES[neo4j_server.version]):
        assert neo4j_server.query(f"CYPHER 25 {FUNCTIONS}") == [new, old]
        with pytest.raises(ClientError, match="Unknown function"):
            embed(neo4j_server, NEW.removeprefix("CYPHER 25 "), "openai", OPENAI)
    else:
        with pytest.raises(ClientError, match=r"Unknown function|25 is not a valid option"):
            embed(neo4j_server, NEW, "openai", OPENAI)


@pytest.mark.parametrize(
    ("function", "configuration"), [("genai.vector.encode", KEY), ("ai.text.embed", OPENAI)], ids=["old", "new"]
)
def test_both_functions_are_embedded_by_the_search_clause(
    neo4j_2026: Neo4jServer, function: str, configuration: dict[str, object]
):
    neo4j_2026.clear()
    neo4j_2026.query(
        "CREATE VECTOR INDEX films FOR (n:Film) ON (n.plot) OPTIONS "
        "{indexConfig: {`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}}"
    )
    neo4j_2026.query(
        "UNWIND $films AS film CREATE (n:Film {title: film.title}) "
        "WITH n, film CALL db.create.setNodeVectorProperty(n, 'plot', film.plot)",
        films=[{"title": title, "plot": digest_vector(title)} for title in ("Alien", "Heat", "Ran")],
    )
    neo4j_2026.query("CALL db.awaitIndexes()")

    rows = neo4j_2026.query(
        "CYPHER 25 MATCH (n:Film) SEARCH n IN "
        f"(VECTOR INDEX films FOR {function}($text, 'openai', $configuration) LIMIT 1) SCORE AS score "
        "RETURN n.title AS title, score",
        text="Heat",
        configuration=configuration,
    )

    assert rows == [{"title": "Heat", "score": pytest.approx(1)}]
    neo4j_2026.clear()
