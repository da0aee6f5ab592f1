"""A stand-in for Weaviate on loopback, as far as a search asks for it. It compares with every vector.

Run it where `weaviate-client` is installed, whose own stubs of the protocol it serves. It reads one line of JSON, the
collection's name, the key that is asked for and each object's vector by its `title`; it writes one line, its REST
and its gRPC port; and it ends with its input.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import grpc
from weaviate.proto.v1 import properties_pb2, search_get_pb2, weaviate_pb2_grpc

from http_stand_in import HttpStandIn

if TYPE_CHECKING:
    from email.message import Message


class Rest(HttpStandIn):
    """Answers `GET /v1/meta`; there is no OpenID here, so a client that asks for it sends its key as it is."""

    def answer(self, request: str, headers: Message, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body for a request."""
        del headers, body
        return (200, {"version": "1.34.0"}) if request == "GET /v1/meta" else (404, {})


class Search(weaviate_pb2_grpc.WeaviateServicer):
    """Answers a search near a vector with each object's `title` and its certainty, which is (1 + cosine) / 2."""

    def __init__(self, collection: str, key: str, vectors: dict[str, list[float]]) -> None:
        self._collection = collection
        self._key = key
        self._vectors = vectors

    def Search(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802 - the protocol's name
        if dict(context.invocation_metadata()).get("authorization") != f"Bearer {self._key}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "invalid api key")
        if request.collection != self._collection or not request.HasField("near_vector"):
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "only a search near a vector is stood in for")
        near = request.near_vector
        packed = near.vector_bytes or near.vectors[0].vector_bytes
        vector = struct.unpack(f"<{len(packed) // 4}f", packed)
        scores = {each: (1 + cosine(vector, other)) / 2 for each, other in self._vectors.items()}
        best = sorted(scores, key=lambda each: -scores[each])[: request.limit]
        return search_get_pb2.SearchReply(results=[found(each, scores[each]) for each in best])


def found(title: str, certainty: float) -> Any:
    properties = properties_pb2.Properties(fields={"title": properties_pb2.Value(text_value=title)})
    return search_get_pb2.SearchResult(
        properties=search_get_pb2.PropertiesResult(non_ref_props=properties),
        metadata=search_get_pb2.MetadataResult(certainty=certainty, certainty_present=True),
    )


def cosine(one: Any, other: Any) -> float:
    return sum(map(float.__mul__, one, other)) / (math.hypot(*one) * math.hypot(*other))


def main() -> None:
    search = grpc.server(ThreadPoolExecutor(2))
    weaviate_pb2_grpc.add_WeaviateServicer_to_server(Search(**json.loads(sys.stdin.readline())), search)
    port = search.add_insecure_port("127.0.0.1:0")
    search.start()
    with Rest() as rest:
        sys.stdout.write(f"[{rest.port}, {port}]\n")
        sys.stdout.flush()
        sys.stdin.read()
    search.stop(None)


if __name__ == "__main__":
    main()
