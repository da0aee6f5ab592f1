"""A set-up that can't work: the server starts, lists its tool, says at the call what to fix, and tells no secret."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from clients import StdioServer, client, environment, free_port, items_of
from films import INDEX
from mcp_neo4j_vector_graphrag.server import build
from mcp_neo4j_vector_graphrag.settings import load

if TYPE_CHECKING:
    from films import Films
    from servers import Neo4jServer

TOOL = "neo4j_vector"
MARKER = "mArKeR-4711-s3cr3t"


@pytest.fixture(scope="module")
def films_server(neo4j_5: Neo4jServer) -> Neo4jServer:
    """Return the oldest Neo4j, whose errors are told in the same words."""
    return neo4j_5


@dataclass(frozen=True)
class Broken:
    """One fault in an otherwise working set-up, and what a call must say."""

    name: str
    says: str
    """A pattern for the whole line."""
    variables: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    def changes(self) -> dict[str, str]:
        """Return the variables, with a port that nobody listens on where they want one."""
        return {name: value.replace("{closed}", str(free_port())) for name, value in self.variables.items()}


UNREACHABLE = r"Neo4j can't be reached: check that it is running and that NEO4J_URI is right, then ask again\."
REFUSED_USER = r"Neo4j refused the user name or password: check NEO4J_USERNAME and NEO4J_PASSWORD\."
ONLY_READS = r"RETRIEVAL_QUERY is refused, since it may only read the graph: it holds .+\."

BROKEN = (
    Broken("database-down", UNREACHABLE, {"NEO4J_URI": "bolt://127.0.0.1:{closed}"}),
    Broken("routing-down", UNREACHABLE, {"NEO4J_URI": "neo4j://127.0.0.1:{closed}"}),
    Broken("host-unknown", UNREACHABLE, {"NEO4J_URI": "bolt://no-such-host.invalid"}),
    # A user of its own: Neo4j locks one out for a while after wrong passwords.
    Broken("wrong-password", REFUSED_USER, {"NEO4J_USERNAME": "nobody", "NEO4J_PASSWORD": MARKER}),
    Broken("wrong-password-flag", REFUSED_USER, {"NEO4J_USERNAME": "noone"}, ("--password", MARKER)),
    Broken(
        "unknown-database",
        r"There is no database 'nope' on this server: check NEO4J_DATABASE\.",
        {"NEO4J_DATABASE": "nope"},
    ),
    Broken(
        "unknown-index",
        rf"The vector index 'nope' \(INDEX_NAME\) does not exist in this database: its vector indexes are '{INDEX}'.*",
        {"INDEX_NAME": "nope"},
    ),
    Broken("other-dimensions", r".* 512 .*'threeWide'.* 3: set EMBEDDING_MODEL .*", {"INDEX_NAME": "threeWide"}),
    Broken("no-model", r"EMBEDDING_MODEL is not set: .*", {"EMBEDDING_MODEL": ""}),
    Broken("no-key", r".*OPENAI_API_KEY.*", {"OPENAI_API_KEY": ""}),
    Broken(
        "wrong-key", r"The provider of openai:\S+ refused the key: check OPENAI_API_KEY\.", {"OPENAI_API_KEY": MARKER}
    ),
    Broken(
        "provider-missing", r"EMBEDDING_MODEL cohere:x .* install langchain-cohere\.", {"EMBEDDING_MODEL": "cohere:x"}
    ),
    Broken("model-without-provider", r"EMBEDDING_MODEL .*provider.*", {"EMBEDDING_MODEL": "my-own-model"}),
    Broken("unknown-provider", r"EMBEDDING_MODEL: 'nope' is no provider .*", {"EMBEDDING_MODEL": "nope:x"}),
    Broken(
        "unknown-model", r"The provider does not know the model openai:nope: .*", {"EMBEDDING_MODEL": "openai:nope"}
    ),
    Broken(
        "provider-down",
        r"The provider of openai:\S+ can't be reached: check the network, then ask again\.",
        {"OPENAI_BASE_URL": f"http://user:{MARKER}@127.0.0.1:{{closed}}/v1"},
    ),
    Broken(
        "query-writes", ONLY_READS, {"RETRIEVAL_QUERY": f"SET node.seen = '{MARKER}' RETURN node.title AS text, score"}
    ),
    Broken(
        "query-loads-a-file",
        ONLY_READS,
        {"RETRIEVAL_QUERY": "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row[0] AS text, score"},
    ),
    Broken(
        "query-does-not-parse",
        r"RETRIEVAL_QUERY, line 2, column 3: .+",
        {"RETRIEVAL_QUERY": "WITH node, score\n  RETRUN node.title AS text, score"},
    ),
    Broken(
        "query-without-its-parameter", r"RETRIEVAL_QUERY .*\$nope.*", {"RETRIEVAL_QUERY": "RETURN $nope AS text, score"}
    ),
)


@pytest.fixture(scope="module")
def narrow_index(films: Films) -> None:
    """Make a vector index of three dimensions beside the films' own."""
    films.neo4j.query(
        "CREATE VECTOR INDEX threeWide FOR (n:ThreeWide) ON (n.embedding) "
        "OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}"
    )
    films.neo4j.query("CALL db.awaitIndexes(60)")


AS_PROCESSES = frozenset(
    {
        "database-down",
        *("wrong-password", "wrong-password-flag", "unknown-index", "no-key", "wrong-key", "provider-missing"),
        *("provider-down", "query-writes"),
    }
)
"""The faults that come near a secret: these are looked at from outside, with all that the process writes."""


@pytest.mark.parametrize(
    "broken", [broken for broken in BROKEN if broken.name in AS_PROCESSES], ids=lambda broken: broken.name
)
def test_the_call_says_what_to_fix_and_no_secret_gets_out(films: Films, broken: Broken):
    with (
        StdioServer(films.variables(LOG_LEVEL="DEBUG", **broken.changes()), *broken.flags) as server,
        client(server) as mcp,
    ):
        assert mcp.tool().name == TOOL
        said = mcp.refused(TOOL, query="a shark at sea")
        assert server.received
        wire = b"".join(server.stdout).decode("utf-8")
    for secret in (MARKER, films.neo4j.password, films.endpoint.key):
        assert secret not in wire
        assert secret not in server.log
    assert re.fullmatch(broken.says, said), said
    assert said in server.log, "the operator is told as well"
    assert "Traceback" not in server.log


@pytest.mark.usefixtures("narrow_index")
@pytest.mark.parametrize(
    "broken", [broken for broken in BROKEN if broken.name not in AS_PROCESSES], ids=lambda broken: broken.name
)
def test_the_call_says_what_to_fix_and_the_server_goes_on(
    films: Films, broken: Broken, monkeypatch: pytest.MonkeyPatch
):
    for name in set(os.environ) - set(environment()):
        monkeypatch.delenv(name)
    for name, value in films.variables(**broken.changes()).items():
        monkeypatch.setenv(name, value)

    with client(build(load({})), "auto") as mcp:
        assert mcp.tool().name == TOOL
        for _ in range(1 if broken.says is UNREACHABLE else 2):
            said = mcp.refused(TOOL, query="a shark at sea")
            assert re.fullmatch(broken.says, said), said


def test_the_provider_s_own_words_are_not_passed_on(films: Films):
    with (
        films.endpoint.failing(500, f"internal error, {MARKER}"),
        StdioServer(films.variables(LOG_LEVEL="DEBUG")) as server,
        client(server) as mcp,
    ):
        said = mcp.refused(TOOL, query="a shark at sea")
        assert re.fullmatch(r"The provider of openai:\S+ failed: ask again in a while\.", said)
        assert MARKER not in server.log


def test_a_provider_that_recovers_is_asked_again_without_a_restart(films: Films):
    with StdioServer(films.variables()) as server, client(server) as mcp:
        with films.endpoint.failing(400):
            mcp.refused(TOOL, query="a shark at sea")

        assert len(items_of(mcp.call(TOOL, query="a shark at sea"))) == 5


def test_an_index_that_is_made_later_is_found_without_a_restart(films: Films):
    with StdioServer(films.variables(INDEX_NAME="later")) as server, client(server) as mcp:
        assert "'later'" in mcp.refused(TOOL, query="a shark at sea")
        films.neo4j.query(
            "CREATE VECTOR INDEX later FOR (n:Later) ON (n.embedding) OPTIONS {indexConfig: {`vector.dimensions`: 512}}"
        )
        films.neo4j.query("CALL db.awaitIndexes(60)")

        assert items_of(mcp.call(TOOL, query="a shark at sea")) == []
    films.neo4j.query("DROP INDEX later")


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "NEO4J_URI is not set: set it to where Neo4j is, such as bolt://localhost:7687."),
        ({"NEO4J_URI": f"bolt:{MARKER}"}, "NEO4J_URI has no scheme that Neo4j knows"),
        ({"NEO4J_URI": f"bolt://neo4j:{MARKER}@127.0.0.1:1", "INDEX_NAME": "x"}, "NEO4J_URI"),
        ({"NEO4J_URI": f"bolt://neo4j:a/{MARKER}@127.0.0.1:1", "INDEX_NAME": "x"}, "NEO4J_URI"),
        ({"NEO4J_URI": f"bolt://127.0.0.1:{MARKER}", "INDEX_NAME": "x"}, "NEO4J_URI"),
        ({"NEO4J_URI": "bolt://127.0.0.1:1", "TOP_K": MARKER}, "TOP_K (--top-k): "),
        ({"NEO4J_URI": "bolt://127.0.0.1:1", "LOG_LEVEL": MARKER}, "LOG_LEVEL (--log-level): "),
        ({"NEO4J_URI": "bolt://127.0.0.1:1", "INDEX_NAME": "x", "NEO4J_NAMESPACE": "a b"}, "NEO4J_NAMESPACE"),
    ],
    ids=[
        *("no-uri", "no-scheme", "user-info", "user-info-with-slash", "bad-port"),
        *("bad-number", "bad-level", "bad-namespace"),
    ],
)
def test_what_needs_no_database_to_be_seen_stops_the_start_with_one_line(variables: dict[str, str], says: str):
    with StdioServer(environment(**variables)) as server:
        server.close_stdin()  # what starts all the same ends here, with 0
        assert server.wait(60) == 2
        assert server.stdout == []
        [line] = server.log.splitlines()
        assert line.startswith("mcp-neo4j-vector-graphrag: ")
        assert says in line
        assert MARKER not in line
