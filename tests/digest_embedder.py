"""The embedding that every test can compute: a text's digest, the same as the stand-in for the GenAI plugin returns."""

from __future__ import annotations

import hashlib

from neo4j_graphrag.embeddings.base import Embedder

DEFAULT_DIMENSIONS = 8
MAX_DIMENSIONS = 32


def digest_vector(text: str, dimensions: int = DEFAULT_DIMENSIONS) -> list[float]:
    """Return the first bytes of a text's SHA-256, each scaled to -1..1 and none of them zero."""
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"A digest has 1 to {MAX_DIMENSIONS} dimensions, not {dimensions}.")
    digest = hashlib.sha256(text.encode()).digest()
    return [(byte - 127.5) / 127.5 for byte in digest[:dimensions]]


class DigestEmbedder(Embedder):
    """Embeds a text as its digest."""

    def __init__(self, dimensions: int = DEFAULT_DIMENSIONS) -> None:
        super().__init__()
        self.dimensions = dimensions

    def embed_query(self, text: str) -> list[float]:
        """Return the digest's vector."""
        return digest_vector(text, self.dimensions)
