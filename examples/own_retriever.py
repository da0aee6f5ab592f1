"""A retriever of your own, served from the command line as `played_together`.

    uv run mcp-neo4j-vector-graphrag --retriever examples.own_retriever:make

The factory is given the server's own connection.
"""

import neo4j
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult

QUERY = """
MATCH (person:Person) WHERE $question CONTAINS person.name
MATCH (person)-[:ACTED_IN]->(film)<-[:ACTED_IN]-(other)
RETURN other.name AS text, {films: collect(film.title)} AS metadata
ORDER BY size(metadata.films) DESC, text LIMIT $top_k"""


class PlayedTogether(Retriever):
    """Finds who played in films together with the person that a question names."""

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        """Return the people with the films, those with most films first."""
        found = self.driver.execute_query(
            QUERY,
            question=query_text,
            top_k=top_k,
            database_=self.neo4j_database,
            routing_=neo4j.RoutingControl.READ,
        )
        return RawSearchResult(records=found.records)


def make(driver: neo4j.Driver, database: str | None) -> dict[str, Retriever]:
    """Return the retrievers by the names of their tools."""
    return {"played_together": PlayedTogether(driver, database)}
