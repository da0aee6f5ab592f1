"""No index is named: every vector index of the database becomes a search tool with typed filters."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from clients import COMMAND as PROGRAM
from clients import ERAS, Era, Process, StdioServer, client, environment, error_of, items_of, text_of, until
from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings
from proxy import Relay
from schema_lint import complaints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clients import McpClient
    from servers import Neo4jServer

ARTICLES = "search_articles"
QUOTES = re.compile(r"search_quotes_by_author_[0-9a-f]{6}")
PUBLISHED = {"language": "en", "date": {"min": "2026-01-01", "max": "2026-12-31"}, "sentiment": {"min": 0.5}}
IN_TIME = 8.0
"""Seconds, generous for a busy machine: about 3 is what a first list waits for a database."""

TEXTS = (
    ("A great white shark hunts bathers off a beach town.", "en", "2026-03-01", 0.9),
    ("A shark was seen near the harbour, and swimmers stayed ashore.", "en", "2025-06-01", 0.8),
    ("Ein weißer Hai jagt Badegäste vor der Küste.", "de", "2026-04-01", 0.7),
    ("Sharks are dying in nets.", "en", "2026-05-01", 0.1),
    ("A rat who loves to cook helps a kitchen boy in Paris.", "en", "2026-06-01", 0.6),
    ("Un rat fait la cuisine à Paris.", "fr", "2026-07-01", 0.5),
    ("The central bank left interest rates where they were.", "en", "2026-08-01", 0.4),
)


@dataclass(frozen=True)
class Articles:
    """The graph, and how a server gets to it."""

    neo4j: Neo4jServer

    def variables(self, **changes: str) -> dict[str, str]:
        """Return an environment with the connection and the model, for these tools alone."""
        settings = {
            "NEO4J_URI": self.neo4j.uri,
            "NEO4J_USERNAME": self.neo4j.username,
            "NEO4J_PASSWORD": self.neo4j.password,
            "NEO4J_DATABASE": self.neo4j.database,
            "EMBEDDING_MODEL": "local:use-multilingual-v3",
            "NEO4J_MCP_TOOLS": "discovered",
        }
        return environment(**{**settings, **changes})

    def create_index(self, name: str, label: str) -> None:
        self.neo4j.query(
            f"CREATE VECTOR INDEX `{name}` FOR (a:{label}) ON a.embedding "
            "OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine'}}"
        )
        self.neo4j.query("CALL db.awaitIndexes()")


@pytest.fixture(scope="module")
def articles(neo4j_2026: Neo4jServer) -> Iterator[Articles]:
    neo4j_2026.clear()
    vectors = LocalEmbeddings().embed_documents([text for text, *_ in TEXTS])
    rows = [
        {"i": i, "text": text, "language": language, "date": day, "sentiment": sentiment, "vector": vectors[i]}
        for i, (text, language, day, sentiment) in enumerate(TEXTS)
    ]
    neo4j_2026.query(
        "UNWIND $rows AS row CREATE (a:Article {i: row.i, text: row.text, language: row.language, "
        "date: date(row.date), sentiment: row.sentiment, embedding: row.vector, checked: row.i % 2 = 0, "
        "seen: datetime(row.date + 'T12:00:00+02:00'), places: range(1, 200)}) "
        "CREATE (:Author {name: 'author ' + row.i, embedding: row.vector})"
        "-[:QUOTES {text: row.text, weight: row.i, embedding: row.vector}]->(a)",
        rows=rows,
    )
    neo4j_2026.query(
        "CYPHER 25 CREATE VECTOR INDEX articles FOR (a:Article) ON a.embedding WITH [a.language, a.date, a.sentiment] "
        "OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine'}}"
    )
    neo4j_2026.query(
        "CREATE VECTOR INDEX `quotes by author` FOR ()-[q:QUOTES]-() ON q.embedding "
        "OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine'}}"
    )
    neo4j_2026.query("CALL db.awaitIndexes()")
    yield Articles(neo4j_2026)
    neo4j_2026.clear()


@dataclass(frozen=True)
class Connected:
    """A server and a client of one era that is connected to it."""

    server: StdioServer
    mcp: McpClient
    era: Era


@pytest.fixture(scope="module", params=ERAS)
def connected(request: pytest.FixtureRequest, articles: Articles) -> Iterator[Connected]:
    """One for each era, which all tests share that need no settings of their own."""
    with StdioServer(articles.variables()) as server, client(server, request.param) as mcp:
        yield Connected(server, mcp, request.param)


@pytest.fixture
def mcp(connected: Connected) -> McpClient:
    return connected.mcp


IN_ONE_ERA = pytest.mark.parametrize("connected", ["legacy"], indirect=True)
"""For permutations of arguments, to which the era makes no difference."""


def quotes_tool(mcp: McpClient) -> str:
    return next(tool.name for tool in mcp.tools() if QUOTES.fullmatch(tool.name))


def found_texts(mcp: McpClient, filters: Any = None, **more: Any) -> list[int]:
    """Return the numbers of the articles that a question about sharks finds."""
    arguments = {"query": "a shark at the beach", **more} | ({} if filters is None else {"filters": filters})
    return [item["doc"]["i"] for item in items_of(mcp.call(ARTICLES, **arguments))]


def test_every_index_is_a_tool_and_they_come_by_name(mcp: McpClient):
    names = [tool.name for tool in mcp.tools()]

    assert names[0] == ARTICLES
    assert QUOTES.fullmatch(names[1])
    assert len(names) == 2
    assert names == [tool.name for tool in mcp.tools()]


def test_input_schemas_have_nothing_that_clients_refuse(mcp: McpClient):
    for tool in mcp.tools():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert complaints(tool.input_schema) == []
        assert set(tool.input_schema["properties"]) == {"query", "top_k", "filters"}
        assert tool.input_schema["required"] == ["query"]
        assert tool.annotations
        assert tool.annotations.read_only_hint is True


def test_arguments_are_described_with_types_places_and_real_values(mcp: McpClient):
    tool = mcp.tools()[0]
    top_k = tool.input_schema["properties"]["top_k"]
    filters = tool.input_schema["properties"]["filters"]["properties"]

    assert (top_k["default"], top_k["minimum"], top_k["maximum"]) == (10, 1, 100)
    assert list(filters)[:3] == ["date", "language", "sentiment"], "those in the index first"
    assert set(filters) == {"date", "language", "sentiment", "checked", "i", "seen", "text"}
    assert filters["language"]["description"] == 'Text; seen: "en", "de", "fr"'
    assert filters["date"]["description"].startswith('Date; e.g. "2025-06-01"')
    assert filters["i"]["description"].startswith("Whole number; slower, not in the index; e.g. 0")
    assert filters["checked"]["type"] == "boolean"
    assert "Article" in str(tool.description)
    assert "7 " in str(tool.description)
    jsonschema.validate({"query": "x", "filters": PUBLISHED}, tool.input_schema)


def test_without_filters_the_nearest_come_first(mcp: McpClient):
    found = found_texts(mcp, top_k=3)
    assert len(found) == 3
    assert set(found) <= {0, 1, 2, 3}
    assert len(found_texts(mcp)) == len(TEXTS)


def test_the_published_shape_works_as_an_object_and_as_text(mcp: McpClient):
    assert sorted(found_texts(mcp, PUBLISHED)) == [0, 4]
    assert found_texts(mcp, PUBLISHED)[0] == 0
    assert found_texts(mcp, json.dumps(PUBLISHED)) == found_texts(mcp, PUBLISHED)
    parts = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in PUBLISHED.items()}
    assert found_texts(mcp, parts) == found_texts(mcp, PUBLISHED)


@IN_ONE_ERA
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"language": ["de", "fr"]}, {2, 5}),
        ({"i": "3"}, {3}),
        ({"i": [1, "3"]}, {1, 3}),
        ({"checked": "true"}, {0, 2, 4, 6}),
        ({"seen": "2026-04-01"}, {2}),
        ({"seen": {"min": "2026-06-01"}}, {4, 5, 6}),
        ({"sentiment": {"max": "0.4"}, "checked": True}, {6}),
        ({"language": "xx"}, set()),
        ({"language": None}, set(range(7))),
        ("", set(range(7))),
    ],
)
def test_each_filter_is_coerced_to_what_is_stored(mcp: McpClient, filters: Any, expected: set[int]):
    found = found_texts(mcp, filters)
    assert len(found) == len(set(found))
    assert set(found) == expected


ALLOWED = "checked, date, i, language, seen, sentiment, text"


@IN_ONE_ERA
@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ({"embedding": [1.0]}, f"There is no filter 'embedding'; allowed are: {ALLOWED}."),
        ({"a` OR true //\n": 1}, f"There is no filter 'a` OR true //'; allowed are: {ALLOWED}."),
        ({"x" * 50_000: 1}, f"allowed are: {ALLOWED}."),
        ({"i": "many"}, 'filters.i: "many" is no whole number; for example 0.'),
        ({"i": 10**30}, "is no whole number"),
        ({"date": {"min": "2026-02-01", "max": "2026-01-01"}}, "filters.date: min lies above max"),
        ({"language": []}, "filters.language: the list is empty"),
        ({"language": {"min": "a"}}, "use a value or a list"),
        ({"i": {"least": 3}}, "'least' is unknown; allowed are a value, a list, min and max."),
        ("{", "filters is a text that is no JSON"),
        (7, "filters must be an object, for example {"),
    ],
)
def test_what_can_not_be_filtered_is_one_line_that_says_what_can(mcp: McpClient, filters: Any, told: str):
    assert told in mcp.refused(ARTICLES, query="a shark", filters=filters)


def test_results_are_documents_without_vectors_and_valid_against_the_schema(mcp: McpClient):
    tool = mcp.tools()[0]
    assert tool.output_schema
    result = mcp.call(ARTICLES, query="a shark at the beach", top_k=2)

    jsonschema.validate(result.structured_content, tool.output_schema)
    [first, second] = items_of(result)
    assert first["score"] > second["score"]
    assert set(first["doc"]) == {"i", "text", "language", "date", "sentiment", "checked", "seen", "places"}
    assert first["doc"]["date"] == TEXTS[first["doc"]["i"]][2]
    assert first["doc"]["places"] == list(range(1, 201)), "another long list is whole"
    assert first["doc"]["text"] in text_of(result)
    assert "embedding" not in json.dumps(result.structured_content)


def test_results_of_relationships_carry_type_properties_and_both_ends(mcp: McpClient):
    tool = quotes_tool(mcp)
    [item] = items_of(mcp.call(tool, query="a rat who cooks", top_k=1, filters={"weight": 4}))

    assert item["doc"]["type"] == "QUOTES"
    assert item["doc"]["properties"] == {"text": TEXTS[4][0], "weight": 4}
    assert item["doc"]["start"] == {"name": "author 4"}
    assert item["doc"]["end"]["i"] == 4
    assert "embedding" not in json.dumps(item)


def test_a_filter_that_is_none_is_refused_in_one_line(mcp: McpClient):
    told = f"There is no filter 'nope'; allowed are: {ALLOWED}."
    assert told in mcp.refused(ARTICLES, query="a shark", filters={"nope": 1})


def test_nothing_found_is_an_empty_list_and_a_sentence(mcp: McpClient):
    result = mcp.call(ARTICLES, query="a shark", filters={"language": "xx"})

    assert items_of(result) == []
    assert text_of(result) == "No results: the search ran, and nothing was found."


def changes_told(server: StdioServer) -> int:
    return sum(message.get("method") == "notifications/tools/list_changed" for message in server.received)


def test_an_index_that_comes_is_found_and_one_that_goes_is_told(articles: Articles, connected: Connected):
    server, mcp = connected.server, connected.mcp
    assert len(mcp.tools()) == 2
    told = changes_told(server)
    articles.create_index("latecomer", "Author")
    try:
        # A list would be looked up again after its time; a tool that is not known is looked up at once.
        assert len(items_of(mcp.call("search_latecomer", query="a shark", top_k=2))) == 2
        until(lambda: changes_told(server) > told, "the client is told of the change")
        assert [tool.name for tool in mcp.tools()][1] == "search_latecomer"
    finally:
        articles.neo4j.query("DROP INDEX latecomer")

    told = changes_told(server)
    gone = "There is no tool search_latecomer; the search tools are now: search_articles, search_"
    assert mcp.refused("search_latecomer", query="a shark").startswith(gone)
    until(lambda: changes_told(server) > told, "the client is told of the change")
    assert "search_latecomer" not in [tool.name for tool in mcp.tools()]
    assert mcp.refused("search_latecomer", query="a shark").startswith(gone)
    assert "Traceback" not in server.log


def test_the_list_says_how_long_it_is_good_for_where_the_era_has_that(connected: Connected):
    connected.mcp.tools()
    lists = [message["result"] for message in connected.server.received if "tools" in message.get("result", {})]
    assert {each.get("ttlMs") for each in lists} == ({30_000} if connected.era == "auto" else {None})


@pytest.fixture(scope="module")
def configured(articles: Articles) -> Iterator[Connected]:
    """A server with a namespace and a retrieval query that fits one of the indexes, and that must have an index."""
    query = (
        "MATCH (node)<-[:QUOTES]-(a:Author) RETURN node.i AS id, a.name AS author, {text: node.text} AS metadata, score"
    )
    variables = articles.variables(NEO4J_NAMESPACE="dev", RETRIEVAL_QUERY=query)
    with StdioServer(variables, "--require-index") as server, client(server) as mcp:
        yield Connected(server, mcp, "legacy")


def test_the_namespace_is_in_front(configured: Connected):
    assert configured.mcp.tools()[0].name == f"dev-{ARTICLES}"
    assert len(items_of(configured.mcp.call(f"dev-{ARTICLES}", query="a shark", top_k=1))) == 1


def test_a_retrieval_query_is_applied_where_it_fits(configured: Connected):
    tool = configured.mcp.tool().name
    assert tool.endswith(ARTICLES)
    [item] = items_of(configured.mcp.call(tool, query="a rat who cooks", top_k=1, filters={"language": "en"}))
    assert item["doc"] == {"id": 4, "author": "author 4", "metadata": {"text": TEXTS[4][0]}}
    assert "The index 'quotes by author' gets no tool: RETRIEVAL_QUERY" in configured.server.log


def test_an_index_that_must_be_there_and_is_stops_nothing(configured: Connected):
    assert configured.server.returncode is None
    assert configured.mcp.tools()


def run_to_end(variables: Mapping[str, str], *flags: str) -> tuple[int, str]:
    with Process([PROGRAM, *flags], variables) as process:
        return process.wait(30), process.log


@pytest.fixture
def without_indexes(articles: Articles) -> Iterator[Articles]:
    created = articles.neo4j.query(
        "CYPHER 25 SHOW VECTOR INDEXES YIELD name, createStatement RETURN name, createStatement AS statement"
    )
    for row in created:
        articles.neo4j.query(f"DROP INDEX `{row['name']}`")
    yield articles
    for row in created:
        articles.neo4j.query(f"CYPHER 25 {row['statement']}")
    articles.neo4j.query("CALL db.awaitIndexes()")


def test_without_an_index_the_list_is_empty_and_the_log_has_the_statement(without_indexes: Articles):
    with StdioServer(without_indexes.variables()) as server, client(server) as mcp:
        assert mcp.tools() == []
        statement = re.search(
            r"The database has no vector index that is online\. Create one: (CREATE VECTOR INDEX .*)", server.log
        )
        assert statement
        assert error_of(mcp.call(ARTICLES, query="a shark")) == (
            f"There is no tool {ARTICLES}; the search tools are now: none. The database has no vector index that is "
            "online."
        )
        without_indexes.neo4j.query(statement[1])
        without_indexes.neo4j.query("CALL db.awaitIndexes()")
        try:
            [name] = [row["name"] for row in without_indexes.neo4j.query("SHOW VECTOR INDEXES YIELD name")]
            assert len(items_of(mcp.call(f"search_{name}", query="a shark", top_k=2))) == 2
        finally:
            without_indexes.neo4j.query(f"DROP INDEX `{name}`")


def test_an_index_that_must_be_there_stops_the_start(without_indexes: Articles):
    code, log = run_to_end(without_indexes.variables(), "--require-index")

    assert code == 2
    assert "The database has no vector index that can be searched, and --require-index asks for one." in log
    assert "CREATE VECTOR INDEX " in log
    assert "Traceback" not in log


def test_a_namespace_that_leaves_no_room_for_a_name_stops_the_start(articles: Articles):
    code, log = run_to_end(articles.variables(NEO4J_NAMESPACE="n" * 60))

    assert code == 2
    assert "NEO4J_NAMESPACE" in log


@pytest.mark.parametrize(("state", "era"), [("down", "auto"), ("silent", "legacy")])
def test_a_database_that_is_away_at_the_first_list_is_not_waited_for_long(articles: Articles, state: str, era: Any):
    with Relay(urlsplit(articles.neo4j.uri).port or 0) as relay:
        if state == "down":
            relay.cut()
        else:
            relay.stall()
        variables = articles.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")
        with StdioServer(variables) as server, client(server, era) as mcp:
            begin = time.monotonic()
            assert mcp.tools() == []
            assert time.monotonic() - begin < IN_TIME

            relay.cut()
            relay.restore()
            until(lambda: len(mcp.tools()) == 2, "the tools appear")
            assert len(items_of(mcp.call(ARTICLES, query="a shark", top_k=2))) == 2
            assert "Traceback" not in server.log


def test_a_client_that_got_an_empty_list_is_told_when_the_database_is_there(articles: Articles):
    with Relay(urlsplit(articles.neo4j.uri).port or 0) as relay:
        relay.cut()
        variables = articles.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")
        with StdioServer(variables) as server, client(server) as mcp:
            assert mcp.tools() == []
            assert changes_told(server) == 0
            relay.restore()
            until(lambda: changes_told(server), "the client is told")
            assert len(mcp.tools()) == 2
            assert changes_told(server) == 1
            assert server.log.count("The indexes could not be looked up") == 1


def test_a_client_without_a_session_asks_again_when_the_database_is_there(articles: Articles):
    with Relay(urlsplit(articles.neo4j.uri).port or 0) as relay:
        relay.cut()
        variables = articles.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")
        with StdioServer(variables) as server, client(server, "auto") as mcp:
            assert mcp.tools() == []
            relay.restore()
            until(mcp.tools, "the tools appear")
            assert len(items_of(mcp.call(ARTICLES, query="a shark", top_k=2))) == 2
            assert changes_told(server) == 0


def test_it_ends_when_standard_input_closes_while_the_database_is_silent(articles: Articles):
    with Relay(urlsplit(articles.neo4j.uri).port or 0) as relay:
        relay.stall()
        variables = articles.variables(NEO4J_URI=f"bolt://127.0.0.1:{relay.port}")
        with StdioServer(variables) as server:
            with client(server) as mcp:
                assert mcp.tools() == []
            server.close_stdin()
            assert server.wait(10) == 0
