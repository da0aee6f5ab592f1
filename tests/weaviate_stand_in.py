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
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from weaviate.proto.v1 import properties_pb2, search_get_pb2, weaviate_pb2_grpc

METADATA = b'{"version": "1.34.0"}'


class Rest(BaseHTTPRequestHandler):
    """Answers `GET /v1/meta`; there is no OpenID here, so a client that asks for it sends its key as it is."""

    def do_GET(self) -> None:
        known = self.path == "/v1/meta"
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(METADATA) if known else 0))
        self.end_headers()
        self.wfile.write(METADATA if known else b"")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


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
    rest = ThreadingHTTPServer(("127.0.0.1", 0), Rest)
    threading.Thread(target=rest.serve_forever, daemon=True).start()
    search = grpc.server(ThreadPoolExecutor(2))
    weaviate_pb2_grpc.add_WeaviateServicer_to_server(Search(**json.loads(sys.stdin.readline())), search)
    port = search.add_insecure_port("127.0.0.1:0")
    search.start()
    sys.stdout.write(f"[{rest.server_port}, {port}]\n")
    sys.stdout.flush()
    sys.stdin.read()
    search.stop(None)
    rest.shutdown()


if __name__ == "__main__":
    main()
