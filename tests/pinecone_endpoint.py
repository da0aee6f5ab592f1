"""A stand-in for Pinecone: its REST API on loopback, as far as a search asks for it. It compares with every vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from http_stand_in import HttpStandIn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from email.message import Message


class PineconeEndpoint(HttpStandIn):
    """Answers for one cosine index what `GET /indexes/<name>` and `POST /query` ask.

    Its `url` is what `PINECONE_CONTROLLER_HOST` takes: the address of the control plane, and of the index too.

    Args:
        index: The index's name.
        vectors: The vector of each id.
        key: The key that is asked for.
    """

    def __init__(self, index: str, vectors: Mapping[str, Sequence[float]], key: str = "pc-stand-in-0123") -> None:
        super().__init__()
        self.key = key
        self._index = index
        self._vectors = {each: np.array(vector) for each, vector in vectors.items()}

    def answer(self, request: str, headers: Message, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body for a request."""
        if headers.get("Api-Key") != self.key:
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


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
