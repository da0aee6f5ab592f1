"""Serve two retrievers: a stock one of neo4j-graphrag as `movies-plots`, one of this package as `movies-people`."""

import os
from pathlib import Path

import neo4j
from neo4j_graphrag.retrievers import VectorRetriever

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from mcp_neo4j_vector_graphrag.server import create_mcp_server

index, database = os.environ["INDEX_NAME"], os.environ["NEO4J_DATABASE"]
driver = neo4j.GraphDatabase.driver(
    os.environ["NEO4J_URI"], auth=(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
)
embedder = LazyEmbedder(os.environ["EMBEDDING_MODEL"])  # or any embedder of neo4j-graphrag
walk = Path(__file__).with_name("walk_the_graph.cypher").read_text(encoding="utf-8")

plots = VectorRetriever(driver, index, embedder, return_properties=["title", "plot"], neo4j_database=database)
people = VectorGraphRetriever(Database(driver, database), index, embedder=embedder, retrieval_query=walk)

descriptions = {
    "plots": "Find films by what happens in them: title and plot.",
    "people": "Find films by what happens in them, with their directors, actors and genres.",
}
create_mcp_server({"plots": plots, "people": people}, namespace="movies", descriptions=descriptions).run(
    show_banner=False
)
