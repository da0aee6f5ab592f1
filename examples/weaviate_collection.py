"""Serve a search whose vectors are in a Weaviate collection and whose graph is in Neo4j, as `movies-films`.

    uv run --group examples examples/weaviate_collection.py

The collection `Plots` is there already: one object for each film, with the film's vector and its title as a property.
An id is compared as text, so a number in the graph, such as `movieId`, would be found by none. `WEAVIATE_HOST`,
`WEAVIATE_PORT` and `WEAVIATE_GRPC_PORT` say where Weaviate is, if not on this machine and on its usual ports, and
`WEAVIATE_API_KEY` who asks.
"""

import os

import neo4j
import weaviate
from neo4j_graphrag.retrievers import WeaviateNeo4jRetriever

from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.server import create_mcp_server

COLLECTION = "Plots"
WALK = "RETURN node.title AS text, score, {genres: [(node)-[:IN_GENRE]->(genre) | genre.name]} AS metadata"

driver = neo4j.GraphDatabase.driver(
    os.environ["NEO4J_URI"], auth=(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
)
client = weaviate.connect_to_local(
    os.environ.get("WEAVIATE_HOST", "localhost"),
    int(os.environ.get("WEAVIATE_PORT", "8080")),
    int(os.environ.get("WEAVIATE_GRPC_PORT", "50051")),
    auth_credentials=os.environ.get("WEAVIATE_API_KEY"),
    skip_init_checks=True,  # they would ask the package index for a newer client
)
retriever = WeaviateNeo4jRetriever(
    driver,
    client,
    COLLECTION,
    id_property_external="title",
    id_property_neo4j="title",
    embedder=LazyEmbedder(os.environ["EMBEDDING_MODEL"]),  # the model that made the vectors
    retrieval_query=WALK,
    neo4j_database=os.environ["NEO4J_DATABASE"],
    node_label_neo4j="Movie",
)

with client:
    create_mcp_server({"films": retriever}, namespace="movies").run()
