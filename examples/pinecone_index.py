"""Serve a search whose vectors are in a Pinecone index and whose graph is in Neo4j, as `movies-films`.

    PINECONE_API_KEY=… uv run --group examples examples/pinecone_index.py

The index `plots` is there already: each film's vector, with the film's title as its id. An id is compared as text, so
a number in the graph, such as `movieId`, would be found by none. The client reads `PINECONE_API_KEY`, and
`PINECONE_CONTROLLER_HOST` for another address than Pinecone's own.
"""

import os

import neo4j
from neo4j_graphrag.retrievers import PineconeNeo4jRetriever
from pinecone import Pinecone

from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.server import create_mcp_server

INDEX = "plots"
WALK = "RETURN node.title AS text, score, {genres: [(node)-[:IN_GENRE]->(genre) | genre.name]} AS metadata"

driver = neo4j.GraphDatabase.driver(
    os.environ["NEO4J_URI"], auth=(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
)
retriever = PineconeNeo4jRetriever(
    driver,
    Pinecone(),
    INDEX,
    id_property_neo4j="title",
    embedder=LazyEmbedder(os.environ["EMBEDDING_MODEL"]),  # the model that made the vectors
    retrieval_query=WALK,
    neo4j_database=os.environ["NEO4J_DATABASE"],
    node_label_neo4j="Movie",
)

create_mcp_server({"films": retriever}, namespace="movies").run()
