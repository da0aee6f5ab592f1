"""A small graph of films behind a real Neo4j, and the variables of the published entry that lead to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clients import environment
from openai_endpoint import MODEL, vector

if TYPE_CHECKING:
    from openai_endpoint import OpenAiEndpoint
    from servers import Neo4jServer

INDEX = "moviePlotsEmbedding"

PUBLISHED_QUERY = (
    "RETURN 'Title: ' + coalesce(node.title,'') + 'Plot: ' + coalesce(node.plot, '') AS text, "
    "{imdbRating: node.imdbRating} AS metadata, score"
)

FILMS: dict[str, tuple[str, float]] = {
    "Inception": ("A thief enters dreams within dreams to plant an idea in a sleeping heir's mind.", 8.8),
    "Jaws": ("A great white shark hunts bathers off a beach town, and three men go to sea to kill it.", 8.1),
    "Alien": ("The crew of a cargo spaceship is hunted by a creature that it brought aboard.", 8.5),
    "Ratatouille": ("A rat who loves to cook helps a kitchen boy in a Paris restaurant.", 8.1),
    "The Shining": ("A winter caretaker loses his mind in an empty mountain hotel.", 8.4),
    "Groundhog Day": ("A weatherman lives the same day over and over again.", 8.0),
    "Spirited Away 千と千尋": ("A girl works in a bathhouse for spirits to free her parents 🐉.", 8.6),
}
"""Plot and rating by title."""


@dataclass(frozen=True)
class Films:
    """The graph, and how a server gets to it."""

    neo4j: Neo4jServer
    endpoint: OpenAiEndpoint

    def variables(self, **changes: str) -> dict[str, str]:
        """Return an environment with the variables of the published entry, some of them changed; an empty one unset."""
        published = {
            "NEO4J_URI": self.neo4j.uri,
            "NEO4J_USERNAME": self.neo4j.username,
            "NEO4J_PASSWORD": self.neo4j.password,
            "NEO4J_DATABASE": self.neo4j.database,
            "OPENAI_API_KEY": self.endpoint.key,
            "OPENAI_BASE_URL": self.endpoint.url,
            "INDEX_NAME": INDEX,
            "EMBEDDING_MODEL": f"openai:{MODEL}",
            "RETRIEVAL_QUERY": PUBLISHED_QUERY,
        }
        return environment(**{name: value for name, value in {**published, **changes}.items() if value})


def load_films(server: Neo4jServer, index: str = INDEX, note: str = "") -> None:
    """Make the graph of films, with a vector index over title and plot, in a database that is emptied first.

    Args:
        server: Where.
        index: The vector index's name.
        note: Added to each title, so that two such graphs can be told apart.
    """
    server.clear()
    rows: list[dict[str, Any]] = [
        {"title": title + note, "plot": plot, "imdbRating": rating, "vector": list(vector(f"{title}. {plot}"))}
        for title, (plot, rating) in FILMS.items()
    ]
    server.query(
        "UNWIND $rows AS row "
        "CREATE (:Movie {title: row.title, plot: row.plot, imdbRating: row.imdbRating, plotEmbedding: row.vector})",
        rows=rows,
    )
    server.query(
        f"CREATE VECTOR INDEX {index} FOR (m:Movie) ON (m.plotEmbedding) "
        "OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine'}}"
    )
    server.query("CALL db.awaitIndexes(60)")
