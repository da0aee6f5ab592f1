"""Serve a search whose vectors are in Qdrant and whose graph is in Neo4j, as `movies-films`.

    uv run --group examples examples/qdrant.py

The collection lives in memory and is filled from the graph; give `QdrantClient` the address of a server for one that
stays.
"""

import os

import neo4j
from neo4j_graphrag.retrievers import QdrantNeo4jRetriever
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams

from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.server import create_mcp_server

COLLECTION = "plots"
WALK = "RETURN node.title AS text, score, {genres: [(node)-[:IN_GENRE]->(genre) | genre.name]} AS metadata"

database = os.environ["NEO4J_DATABASE"]
driver = neo4j.GraphDatabase.driver(
    os.environ["NEO4J_URI"], auth=(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
)
films = driver.execute_query(
    "MATCH (m:Movie) WHERE m.plotEmbedding IS NOT NULL RETURN m.movieId AS id, m.plotEmbedding AS vector",
    database_=database,
    routing_=neo4j.RoutingControl.READ,
).records

client = QdrantClient(":memory:")
client.create_collection(COLLECTION, VectorParams(size=len(films[0]["vector"]), distance=Distance.COSINE))
client.upsert(
    COLLECTION,
    [PointStruct(id=place, vector=film["vector"], payload={"movieId": film["id"]}) for place, film in enumerate(films)],
)

retriever = QdrantNeo4jRetriever(
    driver,
    client,
    COLLECTION,
    id_property_neo4j="movieId",
    id_property_external="movieId",
    embedder=LazyEmbedder(os.environ["EMBEDDING_MODEL"]),  # the model that made the vectors
    retrieval_query=WALK,
    neo4j_database=database,
    node_label_neo4j="Movie",
)

create_mcp_server({"films": retriever}, namespace="movies").run()
