"""A key with a unique marker, everything that can fail made to fail: the marker goes to the database and nowhere else.

What goes to the database is read off the wire by a relay, where it may stand in a parameter and in no statement's text.
"""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from clients import StdioServer, client, environment, error_of, http_server, items_of
from digest_embedder import digest_vector
from genai_plugin import GENAI_KEY
from mcp_neo4j_vector_graphrag.database import capabilities
from mcp_neo4j_vector_graphrag.server import build
from mcp_neo4j_vector_graphrag.settings import load
from proxy import Relay

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from clients import McpClient
    from servers import Neo4jServer

TOOL = "vector-search"
MARKER = "mArKeR-4711-s3cr3t"
LEAKED = f"leak-{MARKER}"
"""The stand-in for the plugin quotes it in its error."""

FAILED = (
    "The database could not embed the question: check that the GenAI plugin is installed and its credentials are "
    "valid; the server's log has the details."
)
UNREACHABLE = "Neo4j can't be reached: check that it is running and that NEO4J_URI is right, then ask again."


class Eavesdropped:
    """A socket whose received bytes are kept."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real
        self.received = bytearray()

    def recv(self, size: int) -> bytes:
        """Receive, and keep it."""
        chunk = self._real.recv(size)
        self.received += chunk
        return chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class Tap(Relay):
    """A relay that keeps what clients send."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self._tapped: list[Eavesdropped] = []
        self._tap_lock = threading.Lock()

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        tapped = Eavesdropped(client)
        with self._tap_lock:
            self._tapped.append(tapped)
        super()._relay(tapped, server)  # type: ignore[arg-type] # quacks like one

    @property
    def sent(self) -> bytes:
        """All that was sent, with the seams of Bolt's chunks."""
        return b"".join(bytes(tapped.received) for tapped in self._tapped)

    def statements(self) -> list[tuple[str, bytes]]:
        """Return the text of each RUN message, and the rest of the message, which is its parameters."""
        messages = [message for tapped in self._tapped for message in bolt_messages(bytes(tapped.received))]
        return [run_parts(message) for message in messages if message.startswith(b"\xb3\x10")]


def bolt_messages(stream: bytes) -> list[bytes]:
    """Return the messages that a client sent over one connection: chunks, each with its length before it."""
    if not stream:
        return []
    assert stream.startswith(b"\x60\x60\xb0\x17"), "Bolt's greeting"
    begin = stream.index(b"\xb1\x01")  # HELLO, the first message, whose chunk's length stands before it
    messages, message, place = [], b"", begin - 2
    while place + 2 <= len(stream):
        size = int.from_bytes(stream[place : place + 2], "big")
        message, place = message + stream[place + 2 : place + 2 + size], place + 2 + size
        if not size and message:
            messages.append(message)
            message = b""
    return messages


def run_parts(message: bytes) -> tuple[str, bytes]:
    """Return the text of a RUN message, which is its first field, and what stands after it."""
    kind, place = message[2], 3
    if 0x80 <= kind <= 0x8F:
        size = kind - 0x80
    else:
        width = {0xD0: 1, 0xD1: 2, 0xD2: 4}[kind]
        size, place = int.from_bytes(message[3 : 3 + width], "big"), 3 + width
    return message[place : place + size].decode("utf-8"), message[place + size :]


@dataclass(frozen=True)
class Broken:
    """A set-up in which calls fail."""

    name: str
    calls: tuple[tuple[dict[str, Any], str], ...]
    """Arguments, and how the answer begins."""
    variables: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    secrets: tuple[str, ...] = (MARKER,)
    reaches: bool = True
    """Whether the secrets get as far as the database."""
    ends_down: bool = False
    """Whether the database goes away in the end."""


BEDROCK = {
    "NEO4J_EMBEDDING_PROVIDER": "bedrock-titan",
    "NEO4J_EMBEDDING_AWS_ACCESS_KEY_ID": f"leak-id-{MARKER}",
    "NEO4J_EMBEDDING_AWS_SECRET_ACCESS_KEY": LEAKED,
    "NEO4J_EMBEDDING_AWS_REGION": "r",
}
LONG = (
    "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b "
    "WITH node, score, sum(a * b) AS sum RETURN node.title AS title, sum, score"
)
FILTERED = {"query": "paths", "filters": [{"property": "title", "operator": "ENDS WITH", "value": "s"}]}
"""A search with a filter that no index checks."""
PLAIN = {"query": "paths"}

BROKEN = (
    Broken(
        "bad key",
        (
            (PLAIN, FAILED),
            ({"query": "paths", "index_name": "nope"}, "The vector index 'nope' does not exist"),
            (
                {"query": "paths", "filters": [{"property": "nope", "operator": "IS NULL"}]},
                "There is no filter 'nope'",
            ),
            ({"query": "paths", "top_k": "x"}, "Invalid arguments: top_k: "),
        ),
        ends_down=True,
    ),
    Broken("quoted key", ((PLAIN, FAILED), (FILTERED, FAILED)), {"NEO4J_EMBEDDING_API_KEY": LEAKED}),
    Broken(
        "quoted long key by a flag",
        ((PLAIN, FAILED),),
        {"NEO4J_EMBEDDING_API_KEY": ""},
        ("--embedding-api-key", LEAKED + "x" * 1_500),
    ),
    Broken("quoted keys of AWS", ((PLAIN, FAILED),), BEDROCK),
    Broken(
        "syntax error",
        ((PLAIN, "RETRIEVAL_QUERY, line 1, column "),),
        {"RETRIEVAL_QUERY": "RETRUN node"},
        reaches=False,
    ),
    Broken(
        "right key",
        (
            ({"query": "fail: now"}, FAILED),
            (PLAIN, "The search took longer than 1 s and was ended"),
            ({"query": "sleep:8 please"}, "Neo4j gave no answer within 6 s"),
        ),
        {"NEO4J_EMBEDDING_API_KEY": GENAI_KEY, "NEO4J_READ_TIMEOUT": "1", "RETRIEVAL_QUERY": LONG},
        secrets=(GENAI_KEY,),
    ),
)


@pytest.fixture(scope="module")
def papers(neo4j_2026: Neo4jServer) -> Iterator[Neo4jServer]:
    """Return a database with one vector index."""
    neo4j_2026.clear()
    neo4j_2026.query("CREATE (:Paper {title: 'paths', emb: $emb})", emb=digest_vector("paths"))
    neo4j_2026.query(
        "CREATE VECTOR INDEX papers FOR (e:Paper) ON e.emb OPTIONS {indexConfig: {`vector.dimensions`: 8}}"
    )
    neo4j_2026.query("CALL db.awaitIndexes()")
    yield neo4j_2026
    neo4j_2026.clear()


@pytest.fixture
def tap(papers: Neo4jServer) -> Iterator[Tap]:
    """Return the way to the database."""
    with Tap(urlsplit(papers.uri).port or 0) as way:
        yield way


def variables(papers: Neo4jServer, port: int, **changes: str) -> dict[str, str]:
    """Return an environment that embeds inside the database, and logs all there is."""
    ours = {
        "NEO4J_URI": f"bolt://127.0.0.1:{port}",
        "NEO4J_PASSWORD": papers.password,
        "NEO4J_DATABASE": papers.database,
        "NEO4J_EMBEDDING_PROVIDER": "openai",
        "NEO4J_EMBEDDING_MODEL": "m",
        "NEO4J_EMBEDDING_API_KEY": MARKER,
        "LOG_LEVEL": "DEBUG",
    }
    return environment(**{name: value for name, value in {**ours, **changes}.items() if value})


@dataclass
class Outside:
    """All that leaves the server for people and models: answers, and what it writes."""

    mcp: McpClient
    written: list[list[bytes]]

    def text(self) -> str:
        """Return all that it wrote so far."""
        return b"".join(line for lines in self.written for line in lines).decode("utf-8")


@contextmanager
def served(transport: str, settings: dict[str, str], *flags: str) -> Iterator[Outside]:
    """Start the server and connect a client to it."""
    with ExitStack() as stack:
        if transport == "stdio":
            server = stack.enter_context(StdioServer(settings, *flags))
            yield Outside(stack.enter_context(client(server)), [server.stdout, server.stderr])
        else:
            http = stack.enter_context(http_server(settings, *flags))
            mcp = stack.enter_context(client(http.url + "/mcp", "auto"))
            yield Outside(mcp, [http.process.stdout, http.process.stderr])


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_the_marker_is_in_no_answer_and_no_log_and_no_statement(
    papers: Neo4jServer, tap: Tap, transport: str, broken: Broken
):
    with served(transport, variables(papers, tap.port, **broken.variables), *broken.flags) as outside:
        answers = [str(outside.mcp.tools())]
        for arguments, says in broken.calls:
            result = outside.mcp.call(TOOL, **arguments)
            assert error_of(result).startswith(says)
            answers.append(str(result))
        if broken.ends_down:
            tap.cut()
            result = outside.mcp.call(TOOL, **PLAIN)
            assert error_of(result) == UNREACHABLE
            answers.append(str(result))
    log = outside.text()

    assert broken.calls[0][1] in log, "the operator is told"
    assert "Traceback" not in log
    for secret in (*broken.secrets, papers.password):
        assert all(secret not in answer for answer in answers)
        assert secret not in log
    statements = tap.statements()
    assert statements
    for secret in broken.secrets:
        inside = [parameters for _, parameters in statements if secret.encode() in parameters]
        assert bool(inside) is broken.reaches
        assert all(secret not in text for text, _ in statements)
        assert tap.sent.count(secret.encode()) == sum(part.count(secret.encode()) for part in inside)


def test_the_tap_tells_statements_from_their_parameters(papers: Neo4jServer, tap: Tap):
    """What the canary stands on: a marker in a statement's text would be seen."""
    settings = variables(papers, tap.port, RETRIEVAL_QUERY=f"RETURN node.title AS title, score // {MARKER}")
    with served("stdio", {**settings, "NEO4J_EMBEDDING_API_KEY": GENAI_KEY}) as outside:
        [item] = items_of(outside.mcp.call(TOOL, query="paths"))
    assert item["doc"] == {"title": "paths"}
    statements = tap.statements()
    assert any(MARKER in text for text, _ in statements)
    [(text, parameters)] = [(text, rest) for text, rest in statements if GENAI_KEY.encode() in rest]
    assert "FOR ai.text.embed($embedding_text, $embedding_provider, $embedding_configuration)" in text
    assert b"embedding_configuration" in parameters
    assert GENAI_KEY not in "".join(text for text, _ in statements)


def test_the_marker_is_in_no_span(papers: Neo4jServer, tap: Tap, tmp_path: Path):
    spans = tmp_path / "spans"
    settings = variables(papers, tap.port, NEO4J_EMBEDDING_API_KEY=LEAKED, SPANS=str(spans), PYTHONWARNINGS="error")
    command = [sys.executable, str(Path(__file__).with_name("traced_server.py"))]
    with StdioServer(settings, command=command) as server, client(server) as mcp:
        assert mcp.refused(TOOL, query="paths") == FAILED
        assert mcp.refused(TOOL, **FILTERED) == FAILED
        assert "nope" in mcp.refused(TOOL, query="paths", index_name="nope")
        tap.cut()
        assert mcp.refused(TOOL, query="paths") == UNREACHABLE
    told = spans.read_text(encoding="utf-8")
    assert "tools/call" in told
    assert FAILED in told, "what fails is in the spans"
    assert UNREACHABLE in told
    assert MARKER not in told
    assert MARKER not in server.log
    assert papers.password not in told


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"NEO4J_EMBEDDING_PROVIDER": "nope"}, "NEO4J_EMBEDDING_PROVIDER (--embedding-provider): "),
        ({"NEO4J_EMBEDDING_PROVIDER": MARKER}, "NEO4J_EMBEDDING_PROVIDER (--embedding-provider): "),
        ({"NEO4J_EMBEDDING_PROVIDER": "vertexai"}, "NEO4J_EMBEDDING_VERTEX_PROJECT"),
        ({"NEO4J_EMBEDDING_DIMENSIONS": MARKER}, "NEO4J_EMBEDDING_DIMENSIONS (--embedding-dimensions): "),
        ({"EMBEDDING_MODEL": f"openai:{MARKER}"}, "EMBEDDING_MODEL and NEO4J_EMBEDDING_PROVIDER"),
    ],
    ids=["unknown-provider", "key-as-provider", "lacking", "key-as-length", "contradiction"],
)
def test_what_stops_the_start_is_one_line_without_the_marker(changes: dict[str, str], says: str):
    settings = environment(
        **{
            "NEO4J_URI": "bolt://127.0.0.1:1",
            "NEO4J_EMBEDDING_PROVIDER": "openai",
            "NEO4J_EMBEDDING_MODEL": "m",
            "NEO4J_EMBEDDING_API_KEY": MARKER,
            **changes,
        }
    )
    with StdioServer(settings) as server:
        assert server.wait(60) == 2
        assert server.stdout == []
        [line] = server.log.splitlines()
    assert says in line
    assert MARKER not in line


def test_a_database_without_the_plugin_is_never_sent_the_key(
    papers: Neo4jServer, tap: Tap, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("DEBUG")
    missing = capabilities._FUNCTIONS.replace("'ai.'", "'no.'").replace("'genai.'", "'no.'")
    monkeypatch.setattr(capabilities, "_FUNCTIONS", missing)  # as if the plugin were not there
    for name, value in variables(papers, tap.port).items():
        monkeypatch.setenv(name, value)
    with client(build(load({}))) as mcp:
        said = mcp.refused(TOOL, query="paths")
    assert said.startswith("This Neo4j has no function that embeds text: install the GenAI plugin on the server")
    assert MARKER not in said
    assert MARKER not in caplog.text
    assert tap.statements()
    assert MARKER.encode() not in tap.sent
