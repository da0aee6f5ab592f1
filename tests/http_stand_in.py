"""What the stand-ins for services have in common: HTTP on loopback, answered with JSON while a block runs."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from email.message import Message


class HttpStandIn(ABC):
    """A service on a free port of loopback. Use it as a context manager; several requests are answered at a time."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._server.server_port

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self.port}"

    @abstractmethod
    def answer(self, request: str, headers: Message, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body for a request.

        Args:
            request: Its method and path, such as `POST /query`.
            headers: Its headers, to be asked for in any case of letters.
            body: What it holds; empty if it holds nothing.
        """

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply()

            def do_POST(self) -> None:
                self._reply()

            def _reply(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
                status, answer = stand_in.answer(f"{self.command} {self.path}", self.headers, body)
                content = json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except ConnectionError:
                    self.close_connection = True  # the asker has given up

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        return Handler
