"""The one embedder of the tests: exact, without a network, and it refuses what it was not told of."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from neo4j_graphrag.embeddings.base import Embedder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class UnknownTextError(Exception):
    """A test asked for the vector of a text that it did not declare."""


class KnownTexts(Embedder):
    """Has one vector for each known text, all different, and counts what it is asked for.

    Args:
        vectors: The vector of each text.
    """

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        super().__init__()
        if len({tuple(vector) for vector in vectors.values()}) < len(vectors):
            raise ValueError("Two texts have the same vector: a mix-up of the two would not be seen.")
        self._vectors = {text: list(vector) for text, vector in vectors.items()}
        self._lock = threading.Lock()
        self.calls = 0
        """How many texts were asked for."""

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a known text.

        Raises:
            UnknownTextError: The text is not known.
        """
        with self._lock:
            self.calls += 1
        if text not in self._vectors:
            raise UnknownTextError(text)
        return list(self._vectors[text])
