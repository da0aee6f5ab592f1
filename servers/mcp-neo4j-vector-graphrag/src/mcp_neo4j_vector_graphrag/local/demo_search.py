"""How the demo graph is searched, unless the settings say otherwise."""

from __future__ import annotations

from mcp_neo4j_vector_graphrag.embedding.choice import LOCAL_MODEL, LOCAL_PREFIX
from mcp_neo4j_vector_graphrag.local.demo_graph import VECTOR_INDEX

RETRIEVAL_QUERY = """\
RETURN node.title + ' (' + node.year + '): ' + node.plot AS text,
       {
         directors: COLLECT { MATCH (node)<-[:DIRECTED]-(person:Person) RETURN person.name ORDER BY person.name },
         cast: COLLECT {
           MATCH (node)<-[played:ACTED_IN]-(person:Person)
           RETURN person.name + ' as ' + played.role ORDER BY person.name
         },
         genres: COLLECT { MATCH (node)-[:IN_GENRE]->(genre:Genre) RETURN genre.name ORDER BY genre.name },
         imdbRating: node.imdbRating
       } AS metadata,
       score"""
"""Each film with the people who made it: what a search of plain texts could not tell."""

MODEL = {"embedding_model": f"{LOCAL_PREFIX}:{LOCAL_MODEL}"}
"""What every search needs, by the names of the settings."""

SEARCH = {
    "index_name": VECTOR_INDEX,
    "retrieval_query": RETRIEVAL_QUERY,
    "tool_description": "Well-known films by what happens in them, with their directors, cast and genres",
}
"""What makes the configured tools, by the names of the settings."""

CONFIGURED = frozenset({"configured", "neo4j_vector", "neo4j_hybrid"})
"""What an operator may choose them by."""
