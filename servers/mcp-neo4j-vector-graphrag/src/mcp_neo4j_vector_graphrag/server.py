"""Composition: settings make retrievers, retrievers make tools, tools make a server."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Mapping
from concurrent.futures import wait
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import uvicorn
from fastmcp import FastMCP
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.backend import Backend, with_demo_defaults
from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.tools.changing import LIST_SECONDS
from mcp_neo4j_vector_graphrag.tools.configured import VECTOR_NAME
from mcp_neo4j_vector_graphrag.tools.faults import ArgumentFaults
from mcp_neo4j_vector_graphrag.tools.own import search_tools
from mcp_neo4j_vector_graphrag.tools.registry import serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from fastmcp.server.middleware import Middleware as MCPMiddleware
    from fastmcp.tools import Tool
    from neo4j_graphrag.retrievers.base import Retriever
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Served

    Lifespan = Callable[[FastMCP], AbstractAsyncContextManager[None]]

PACKAGE = "mcp-neo4j-vector-graphrag"

_logger = logging.getLogger(__name__)


def create_mcp_server(
    retrievers: Retriever | Mapping[str, Retriever],
    namespace: str | None = None,
    *,
    descriptions: Mapping[str, str] | None = None,
) -> FastMCP:
    """Return an MCP server whose tools are retrievers.

    Only the retrievers of this project are held to reading, by a check of the plan and READ sessions; what others ask
    of a database is not checked.

    Args:
        retrievers: One retriever, whose tool is `neo4j_vector`, or a mapping from tool names to retrievers: those of
            neo4j-graphrag, of this project, or your own.
        namespace: Prefix of each name: with `dev`, `neo4j_vector` becomes `dev-neo4j_vector`.
        descriptions: What each tool searches, by its name without the prefix; a model chooses between tools by it.

    Raises:
        SetupError: A name that clients refuse, or something that is no retriever.
    """
    named = dict(retrievers) if isinstance(retrievers, Mapping) else {VECTOR_NAME: retrievers}
    return _server(tool.build() for tool in search_tools(named, namespace, descriptions or {}))


def build(settings: Settings, prepare_seconds: float = 0.0) -> FastMCP:
    """Return the server that the settings describe; it connects to nothing yet.

    Args:
        settings: The operator's.
        prepare_seconds: So long its start waits for a look at what the settings name, of which faults go to the log; it
            goes on meanwhile.

    Raises:
        SetupError: The settings can't be served; with `require_index`, the database can't be searched either.
        UnavailableError: With `require_index`, the database can't be reached.
    """
    settings = with_demo_defaults(settings) if settings.demo else settings
    backend = Backend(settings)
    try:
        families = serve(settings, backend)
        if settings.require_index:
            _require_index(settings, backend, families)
    except Exception:
        backend.close()
        raise
    has_providers = any(family.providers for family in families)
    return _server(
        [tool for family in families for tool in family.tools],
        lifespan=_lifespan(backend, families, prepare_seconds),
        providers=[provider for family in families for provider in family.providers],
        middleware=[middleware for family in families for middleware in family.middleware],
        cache_ttl=LIST_SECONDS if has_providers else None,
    )


def _require_index(settings: Settings, backend: Backend, families: Iterable[Served]) -> None:
    """See that what the settings name can be searched or, where they name nothing, that there is a vector index.

    Raises:
        SetupError: It can't, or there is none.
        UnavailableError: The database can't be reached.
    """
    for family in families:
        family.require()
    if settings.names_retrievers:
        return
    database = backend.database()
    from mcp_neo4j_vector_graphrag.retrieval.discovery import how_to_begin  # noqa: PLC0415 - 0.8 s

    with database.translated():
        indexes = read_indexes(database)
        if not indexes.online:
            lack = "The database has no vector index that can be searched, and --require-index asks for one."
            raise SetupError(f"{lack} {indexes.waiting or how_to_begin(database)}")


def _lifespan(backend: Backend, families: Sequence[Served], prepare_seconds: float) -> Lifespan:
    """Return what a server does around its life: prepare what the first call needs, and close the connections."""

    @asynccontextmanager
    async def lifespan(_: FastMCP) -> AsyncIterator[None]:
        preparing = [deadline.start(family.prepare) for family in families]
        if prepare_seconds:
            await asyncio.to_thread(wait, preparing, prepare_seconds)
        try:
            yield
        finally:
            for family in families:
                family.close()
            backend.close()

    return lifespan


def run(settings: Settings) -> None:
    """Serve until standard input closes (stdio), or until a signal (HTTP).

    Raises:
        SetupError: The settings can't be served.
        UnavailableError: With `require_index`, the database can't be reached.
    """
    with _nothing_on_stdout():
        server = build(settings)
    if settings.transport == "stdio":
        server.run("stdio", show_banner=False)
        return
    if settings.transport == "sse":
        _logger.warning("The transport sse is deprecated: clients of today speak http.")
    with _listening(settings.server_host, settings.server_port) as listening:
        app = http_app(server, settings)
        where = f"{settings.server_host}:{settings.server_port}/{settings.server_path.strip('/')}"
        print(f"Serving MCP on http://{where} until Ctrl-C.", file=sys.stderr)  # noqa: T201 - for who started it by hand
        uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5)).run([listening])


@contextmanager
def _nothing_on_stdout() -> Iterator[None]:
    """Send what is printed to standard error: stdout belongs to the protocol, and an operator's module may print."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        SetupError: The address can't be listened on.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        why = (error.strerror or type(error).__name__).partition(" (")[0]
        raise SetupError(
            f"HTTP can't listen on {host}, port {port} ({why}): choose another NEO4J_MCP_SERVER_HOST or _PORT."
        ) from None


def http_app(server: FastMCP, settings: Settings) -> ASGIApp:
    """Return the ASGI application: stateless, Host and Origin checked, with `/health` beside the endpoint."""

    @server.custom_route("/health", methods=["GET"])
    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    path = "/" + settings.server_path.strip("/")
    return server.http_app(
        path=path,
        transport="sse" if settings.transport == "sse" else "http",
        stateless_http=settings.transport == "http",
        json_response=settings.transport == "http",
        host_origin_protection=True,
        allowed_hosts=settings.allowed_hosts,
        allowed_origins=settings.allowed_origins,
        middleware=[Middleware(_EitherSlash, path=path)],
    )


class _EitherSlash:
    """Answers `/mcp/` as `/mcp`: a redirect loses the body with some clients."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == f"{self._path}/":
            scope = {**scope, "path": self._path, "raw_path": self._path.encode()}
        await self._app(scope, receive, send)


def _server(
    tools: Iterable[Tool],
    middleware: Iterable[MCPMiddleware] = (),
    **options: Any,  # noqa: ANN401 - FastMCP's own
) -> FastMCP:
    server = FastMCP(
        PACKAGE,
        version=version(PACKAGE),
        middleware=[ArgumentFaults(), *middleware],
        on_duplicate="error",
        mask_error_details=True,
        **options,
    )
    for tool in tools:
        server.add_tool(tool)
    return server
