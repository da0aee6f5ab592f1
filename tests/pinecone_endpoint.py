"""A stand-in for Pinecone: its REST API on loopback, as far as a search asks for it. It compares with every vector."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class PineconeEndpoint:
    """Answers for one cosine index what `GET /indexes/<name>` and `POST /query` ask.

    Use it as a context manager; `url` is what `PINECONE_CONTROLLER_HOST` takes.

    Args:
        index: The index's name.
        vectors: The vector of each id.
        key: The key that is asked for.
    """

    def __init__(self, index: str, vectors: Mapping[str, Sequence[float]], key: str = "pc-stand-in-0123") -> None:
        self.key = key
        self._index = index
        self._vectors = {each: np.array(vector) for each, vector in vectors.items()}
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
    def url(self) -> str:
        """The address of the control plane, and of the index too."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, request: str, key: str | None, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body for a request, such as `POST /query`."""
        if key != self.key:
            return 401, {"error": {"code": "UNAUTHENTICATED", "message": "Invalid API key"}, "status": 401}
        if request == f"GET /indexes/{self._index}":
            return 200, self._description()
        if request == "POST /query":
            scores = {each: _cosine(vector, np.array(body["vector"])) for each, vector in self._vectors.items()}
            best = sorted(scores, key=lambda each: -scores[each])[: body["topK"]]
            return 200, {"matches": [{"id": each, "score": scores[each]} for each in best], "namespace": ""}
        return 404, {"error": {"code": "NOT_FOUND", "message": f"Not stood in for: {request}"}, "status": 404}

    def _description(self) -> dict[str, Any]:
        size = len(next(iter(self._vectors.values())))
        return {
            "name": self._index,
            "host": self.url,
            "status": {"ready": True, "state": "Ready"},
            "schema": {"fields": {"_values": {"type": "dense_vector", "dimension": size, "metric": "cosine"}}},
            "deployment": {"deployment_type": "managed", "cloud": "aws", "region": "us-east-1"},
            "deletion_protection": "disabled",
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply()

            def do_POST(self) -> None:
                self._reply()

            def _reply(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
                status, answer = endpoint.answer(f"{self.command} {self.path}", self.headers.get("Api-Key"), body)
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        return Handler


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
