"""A stand-in for a paid embedding provider: OpenAI's `/v1/embeddings` on loopback, with vectors of the local model."""

from __future__ import annotations

import base64
import struct
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from http_stand_in import HttpStandIn
from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

MODEL = "text-embedding-ada-002"
LONGEST_HOLD = 60.0
"""Seconds after which a held request is answered all the same, so that no failing test hangs."""


@cache
def local_model() -> LocalEmbeddings:
    """Return the local model, loaded once."""
    return LocalEmbeddings()


@cache
def vector(text: str) -> tuple[float, ...]:
    """Return a text's vector: 512 floats, unit length."""
    return tuple(local_model().embed_query(text))


class OpenAiEndpoint(HttpStandIn):
    """Answers embedding requests that carry its key and hold text, as the provider's API does.

    Its `url` is what `OPENAI_BASE_URL` takes.

    Args:
        key: The key that is asked for.
    """

    def __init__(self, key: str = "sk-stand-in-0123456789") -> None:
        super().__init__()
        self.key = key
        self.texts: list[str] = []
        """What was asked for, in order, the refused requests left out."""
        self.waiting: list[str] = []
        """Texts whose answers are held back just now."""
        self._held: str | None = None
        self._released = threading.Event()
        self._failure: tuple[int, str] | None = None

    def __exit__(self, *exception: object) -> None:
        self._released.set()
        super().__exit__(*exception)

    @property
    def url(self) -> str:
        """The base address of the API."""
        return f"{super().url}/v1"

    @contextmanager
    def holding(self, word: str) -> Iterator[None]:
        """Be slow: hold back the answers for texts with a word in them until the block is left."""
        self._released.clear()
        self._held = word
        try:
            yield
        finally:
            self._held = None
            self._released.set()

    @contextmanager
    def failing(self, status: int, message: str = "made to fail") -> Iterator[None]:
        """Answer every request with an error while the block runs."""
        self._failure = (status, message)
        try:
            yield
        finally:
            self._failure = None

    def answer(self, request: str, headers: Message, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body for a request."""
        if request != "POST /v1/embeddings":
            return 404, _error(f"Unknown request URL: {request}.", "invalid_request_error", "unknown_url")
        if headers.get("Authorization") != f"Bearer {self.key}":
            return 401, _error("Incorrect API key provided.", "invalid_request_error", "invalid_api_key")
        if self._failure:
            status, message = self._failure
            return status, _error(message, "server_error", None)
        if body.get("model") != MODEL:
            return 404, _error("The model does not exist.", "invalid_request_error", "model_not_found")
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not texts or not all(isinstance(text, str) for text in texts):
            return 400, _error("Only text is taken as input here.", "invalid_request_error", None)
        self.texts += texts
        self._hold(" ".join(texts))
        encode = _base64 if body.get("encoding_format") == "base64" else list
        data = [
            {"object": "embedding", "index": place, "embedding": encode(vector(text))}
            for place, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "data": data, "model": MODEL, "usage": usage}

    def _hold(self, text: str) -> None:
        if self._held and self._held in text:
            self.waiting.append(text)
            self._released.wait(LONGEST_HOLD)
            self.waiting.remove(text)


def _base64(values: tuple[float, ...]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def _error(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
