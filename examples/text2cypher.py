"""Serve questions that a language model turns into Cypher, as `movies-films_by_genre`."""

import os

import neo4j
from neo4j_graphrag.llm import LLMInterface, LLMResponse
from neo4j_graphrag.retrievers import Text2CypherRetriever

from mcp_neo4j_vector_graphrag.server import create_mcp_server

SCHEMA = "(:Movie {title: STRING, year: INTEGER})-[:IN_GENRE]->(:Genre {name: STRING})"
EXAMPLES = ["USER INPUT: 'Which westerns are there?' QUERY: MATCH (m:Movie)-[:IN_GENRE]->({name: 'Western'}) RETURN m"]


class WithoutKey(LLMInterface):
    """Stands in for a language model, such as `neo4j_graphrag.llm.OpenAILLM`, which needs a key."""

    def invoke(self, input: str, *_: object, **__: object) -> LLMResponse:  # noqa: A002 - the library's name
        """Return the query that a model could write for this prompt, which holds the schema and the question."""
        genre = "Sci-Fi" if "science fiction" in input.lower() else "Drama"
        return LLMResponse(
            content=f"MATCH (m:Movie)-[:IN_GENRE]->(:Genre {{name: '{genre}'}}) "
            "RETURN m.title AS text, {year: m.year} AS metadata ORDER BY m.year, text LIMIT 10"
        )

    async def ainvoke(self, input: str, *_: object, **__: object) -> LLMResponse:  # noqa: A002
        """Return the same; this retriever does not ask for it."""
        return self.invoke(input)


driver = neo4j.GraphDatabase.driver(
    os.environ["NEO4J_URI"], auth=(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
)
retriever = Text2CypherRetriever(
    driver, WithoutKey("none"), neo4j_schema=SCHEMA, examples=EXAMPLES, neo4j_database=os.environ["NEO4J_DATABASE"]
)

create_mcp_server(
    {"films_by_genre": retriever}, "movies", descriptions={"films_by_genre": "Answers questions about films by genre."}
).run()
