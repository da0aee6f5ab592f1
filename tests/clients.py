"""The server as a process, over stdio and over HTTP, and MCP clients of both protocol eras that talk to it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import anyio
import anyio.from_thread
import httpx
import mcp_types
from anyio.to_thread import run_sync
from fastmcp import Client
from fastmcp.client.transports import ClientTransport
from fastmcp.client.transports.base import TransportOptions
from mcp.shared.message import SessionMessage

from mcp_neo4j_vector_graphrag.settings import options

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from fastmcp import FastMCP
    from mcp import ClientSession
    from mcp_types import CallToolResult, Tool

Era = Literal["legacy", "auto"]
"""`legacy` speaks `initialize` of 2025-11-25, `auto` the stateless 2026-07-28."""

ERAS: tuple[Era, ...] = ("legacy", "auto")
LEGACY_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

COMMAND = str(Path(sys.executable).with_name("mcp-neo4j-vector-graphrag"))

PATIENCE = 60.0
"""Seconds after which a test gives up, on a busy machine too."""

_OURS = frozenset(variable for option in options() for variable in option.variables)
_FOREIGN = (
    "OPENAI_",
    "AZURE_",
    "COHERE_",
    "FASTMCP_",
    "MCP_",
    "LANGCHAIN_",
    "LANGSMITH_",
    "NEO4J_",
    "PYTHON",
    "PYTEST",
)


def environment(**variables: str) -> dict[str, str]:
    """Return this process's environment without what the server would read, and with some variables."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _OURS and name != "VIRTUAL_ENV" and not name.startswith(_FOREIGN)
    }
    return {**kept, **variables}


def until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Return once a condition holds.

    Raises:
        TimeoutError: It doesn't within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.02)


class Process:
    """A subprocess whose output is kept, line by line, while it runs. Leaving it as a context manager ends it."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], cwd: Path | None = None) -> None:
        self._process = subprocess.Popen(
            list(command),
            env=dict(variables),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._news = threading.Condition()
        self.stdout: list[bytes] = []
        self.stderr: list[bytes] = []
        self._ended = 0
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._stdin = self._process.stdin
        self._readers = [
            threading.Thread(target=self._read, args=(pipe, lines), daemon=True)
            for pipe, lines in ((self._process.stdout, self.stdout), (self._process.stderr, self.stderr))
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_stdin()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)  # the process has a group of its own
            self._process.wait()
        for reader in self._readers:
            reader.join()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """What it exited with; `None` while it runs."""
        return self._process.poll()

    @property
    def log(self) -> str:
        """All that it wrote to stderr so far."""
        return b"".join(self.stderr).decode("utf-8")

    def write(self, line: bytes) -> None:
        """Write to its standard input."""
        self._stdin.write(line)
        self._stdin.flush()

    def close_stdin(self) -> None:
        """Close its standard input."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def wait(self, seconds: float) -> int:
        """Return its exit status, once it has ended and all its output is here.

        Raises:
            subprocess.TimeoutExpired: It goes on.
        """
        code = self._process.wait(seconds)
        for reader in self._readers:
            reader.join(seconds)
        return code

    def line(self, place: int, seconds: float | None = None) -> bytes | None:
        """Return a line of stdout, once it is there; `None` if stdout ends before.

        Raises:
            TimeoutError: Neither within `seconds`.
        """
        with self._news:
            if not self._news.wait_for(lambda: len(self.stdout) > place or self._ended, seconds):
                raise TimeoutError(f"No line within {seconds:g} s")
            return self.stdout[place] if len(self.stdout) > place else None

    def _read(self, pipe: Any, lines: list[bytes]) -> None:
        with pipe:
            for line in pipe:
                with self._news:
                    lines.append(line)
                    self._news.notify_all()
        with self._news:
            self._ended += lines is self.stdout
            self._news.notify_all()


class StdioServer(Process):
    """The server over stdio, with all that passes in both directions."""

    def __init__(
        self,
        variables: Mapping[str, str],
        *flags: str,
        command: Sequence[str] = (COMMAND,),
        cwd: Path | None = None,
    ) -> None:
        super().__init__([*command, *flags], variables, cwd)
        self.sent: list[dict[str, Any]] = []
        self._taken = 0

    @property
    def received(self) -> list[dict[str, Any]]:
        """What it wrote to stdout: whole lines, each a JSON-RPC message in UTF-8."""
        return [json_rpc(line) for line in self.stdout]

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self.sent.append(message)
        self.write(json.dumps(message).encode() + b"\n")

    def next_line(self) -> bytes | None:
        """Return the next line of stdout, however long it takes; `None` at its end."""
        line = self.line(self._taken)
        self._taken += line is not None
        return line

    def answer(self, seconds: float = PATIENCE) -> dict[str, Any]:
        """Return the next message, for tests that do without a client.

        Raises:
            TimeoutError: There is none within `seconds`.
        """
        line = self.line(self._taken, seconds)
        assert line is not None, self.log
        self._taken += 1
        return json_rpc(line)


def json_rpc(line: bytes) -> dict[str, Any]:
    """Return a line of stdout as the JSON-RPC message that it must be."""
    assert line.endswith(b"\n")
    message = json.loads(line.decode("utf-8"), parse_constant=_no_json)
    assert message["jsonrpc"] == "2.0"
    assert "method" in message or ("id" in message and ("result" in message) != ("error" in message))
    return dict(message)


def _no_json(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


class _Stdio(ClientTransport):
    """FastMCP's client on the pipes of a server that is a process already."""

    def __init__(self, server: StdioServer) -> None:
        self._server = server

    @contextlib.asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Any
    ) -> AsyncGenerator[ClientSession, None]:
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](100)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](100)
        session_class = (transport_options or TransportOptions()).session_class

        async def receive() -> None:
            async with incoming:
                while line := await run_sync(self._server.next_line, abandon_on_cancel=True):
                    message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    await incoming.send(SessionMessage(message))

        async def send() -> None:
            async with outgoing:
                async for message in outgoing:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._server.send(json.loads(text))

        async with anyio.create_task_group() as tasks, read, write:
            tasks.start_soon(receive)
            tasks.start_soon(send)
            async with session_class(read, write, **session_kwargs) as session:
                yield session
            tasks.cancel_scope.cancel()


@dataclass
class McpClient:
    """A real MCP client, for tests that are plain functions."""

    _client: Client[Any]
    _portal: anyio.from_thread.BlockingPortal

    def tools(self) -> list[Tool]:
        """Return what `tools/list` lists."""
        return self._portal.call(self._client.list_tools)

    def tool(self) -> Tool:
        """Return the only tool."""
        [tool] = self.tools()
        return tool

    def submit(self, name: str, **arguments: Any) -> Future[CallToolResult]:
        """Begin to call a tool."""
        return self._portal.start_task_soon(self._call, name, arguments)

    def call(self, name: str, **arguments: Any) -> CallToolResult:
        """Call a tool and return the answer, be it a result or an error."""
        return self.submit(name, **arguments).result(PATIENCE)

    def refused(self, name: str, **arguments: Any) -> str:
        """Call a tool that must answer with an error, of one plain line and nothing else; return the line."""
        return error_of(self.call(name, **arguments))

    async def _call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        return await self._client.call_tool_mcp(name, arguments)


@contextlib.contextmanager
def client(server: StdioServer | FastMCP | str, era: Era = "legacy") -> Iterator[McpClient]:
    """Connect to a server that is a process, an object, or a URL."""
    transport = _Stdio(server) if isinstance(server, StdioServer) else server
    with anyio.from_thread.start_blocking_portal() as portal:
        real: Client[Any] = Client(transport, mode=era, timeout=PATIENCE)
        with portal.wrap_async_context_manager(real):
            yield McpClient(real, portal)


def text_of(result: CallToolResult) -> str:
    """Return the text of an answer, which is one block."""
    [block] = result.content
    assert isinstance(block, mcp_types.TextContent)
    return block.text


def items_of(result: CallToolResult) -> list[dict[str, Any]]:
    """Return the items of an answer that is no error."""
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return list(result.structured_content["results"])


def error_of(result: CallToolResult) -> str:
    """Return the one line of an error, which has no structured content."""
    text = text_of(result)
    assert result.is_error, text
    assert result.structured_content is None
    assert_one_plain_line(text)
    return text


def assert_one_plain_line(text: str) -> None:
    """Check that a text is a line for people: no trace, no Python notation, no link to a library's manual."""
    assert text.strip()
    assert len(text.splitlines()) == 1
    assert len(text) <= 400
    for foreign in ("Traceback", "pydantic", "input_value", "Error calling tool", "<Record", "0x"):
        assert foreign not in text


@dataclass
class HttpServer:
    """The server over HTTP, with raw requests."""

    process: Process
    url: str
    """Without a path."""
    _http: httpx.Client = field(repr=False)

    def post(self, path: str, message: dict[str, Any], **headers: str) -> httpx.Response:
        """Post a JSON-RPC message, following no redirect."""
        accept = {"Accept": "application/json, text/event-stream"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._http.post(self.url + path, json=message, headers={**accept, **named})

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Get a path, following no redirect."""
        return self._http.get(self.url + path, headers=headers)


@contextlib.contextmanager
def http_server(variables: Mapping[str, str], *flags: str) -> Iterator[HttpServer]:
    """Run the server over HTTP on a free port, until the block is left."""
    port = free_port()
    command = [COMMAND, "--transport", "http", "--server-port", str(port), *flags]
    with Process(command, variables) as process, httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        server = HttpServer(process, f"http://127.0.0.1:{port}", http)

        def answers() -> bool:
            assert process.returncode is None, process.log
            with contextlib.suppress(httpx.TransportError):
                return server.get("/health").status_code == 200
            return False

        until(answers, "the server listens")
        try:
            yield server
        finally:
            process.terminate()


def free_port() -> int:
    """Return a port on loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
