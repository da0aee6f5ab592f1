"""The demo graph: well-known films in the schema of Neo4j's "recommendations" graph, and how it gets into a database.

    (:Person:Actor)-[:ACTED_IN {role}]->(:Movie)-[:IN_GENRE]->(:Genre)
    (:Person:Director)-[:DIRECTED]->(:Movie)<-[:RATED {rating, timestamp}]-(:User)

The films, their people and their dates are real, the plots are in our own words. The users and their ratings are
invented: made once by a random generator that gives each user tastes and keeps a film's average near its `imdbRating`.
A country is named as it was at the time. `released` is the first regular release in a country of origin, or the first
public showing where that was in an earlier year.
"""

from __future__ import annotations

import csv
import hashlib
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, Protocol

from neo4j.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    import neo4j

    Progress = Callable[[int, int], None]

VECTOR_INDEX = "moviePlotsEmbedding"
FULLTEXT_INDEX = "movieFulltext"

_DATA = Path(__file__).parent / "graph"
_MOVIES_FILE = _DATA / "movies.toml"
_RATINGS_FILE = _DATA / "ratings.csv"

_SCHEMA_VERSION = 1
"""To be raised when the same data files become another graph."""

_BATCH = 50
"""Films whose vectors are computed and stored together: an interrupted run loses at most these."""

_INDEX_DEADLINE = 120
"""Seconds in which the indexes must be online: well below one for this graph on a free core."""

_SCHEMA: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT movieId IF NOT EXISTS FOR (m:Movie) REQUIRE m.movieId IS UNIQUE",
    "CREATE CONSTRAINT personName IF NOT EXISTS FOR (p:Person) REQUIRE p.name IS UNIQUE",
    "CREATE CONSTRAINT genreName IF NOT EXISTS FOR (g:Genre) REQUIRE g.name IS UNIQUE",
    "CREATE CONSTRAINT userId IF NOT EXISTS FOR (u:User) REQUIRE u.userId IS UNIQUE",
    f"CREATE FULLTEXT INDEX {FULLTEXT_INDEX} IF NOT EXISTS FOR (m:Movie) ON EACH [m.title, m.plot]",
)

_FILMS: tuple[LiteralString, ...] = (
    # A vector goes with the text that it was made of; facts that are no longer in the data go with their relationships.
    """
    UNWIND $movies AS row
    MERGE (m:Movie {movieId: row.movieId})
    SET m.plotEmbedding = CASE
        WHEN m.title = row.properties.title AND m.plot = row.properties.plot THEN m.plotEmbedding
    END
    SET m += row.properties
    WITH m
    MATCH (m)-[r:ACTED_IN|DIRECTED|IN_GENRE]-()
    DELETE r
    """,
    """
    UNWIND $movies AS row
    MATCH (m:Movie {movieId: row.movieId})
    UNWIND row.cast AS part
    MERGE (p:Person {name: part.name}) SET p:Actor
    CREATE (p)-[:ACTED_IN {role: part.role}]->(m)
    """,
    """
    UNWIND $movies AS row
    MATCH (m:Movie {movieId: row.movieId})
    UNWIND row.directors AS name
    MERGE (p:Person {name: name}) SET p:Director
    CREATE (p)-[:DIRECTED]->(m)
    """,
    """
    UNWIND $movies AS row
    MATCH (m:Movie {movieId: row.movieId})
    UNWIND row.genres AS name
    MERGE (g:Genre {name: name})
    CREATE (m)-[:IN_GENRE]->(g)
    """,
)
_RATINGS: LiteralString = """
UNWIND $ratings AS row
MERGE (u:User {userId: row.user}) ON CREATE SET u.name = 'User ' + row.user
WITH u, row
MATCH (m:Movie {movieId: row.movie})
MERGE (u)-[r:RATED]->(m) SET r.rating = row.rating, r.timestamp = row.timestamp
"""

_VECTOR = "MATCH (m:Movie {movieId: $id}) RETURN m.plotEmbedding AS vector"
_MOVIES_WITHOUT_VECTOR = """
MATCH (m:Movie) WHERE m.movieId IN $ids AND m.plotEmbedding IS NULL
RETURN m.movieId AS movieId ORDER BY movieId
"""
_STORE_VECTORS = """
UNWIND $rows AS row
MATCH (m:Movie {movieId: row.movieId})
CALL db.create.setNodeVectorProperty(m, 'plotEmbedding', row.vector)
"""

_VECTOR_INDEX: LiteralString = (
    f"CREATE VECTOR INDEX {VECTOR_INDEX} IF NOT EXISTS FOR (m:Movie) ON (m.plotEmbedding) OPTIONS $options"
)
_FILTERED_VECTOR_INDEX: LiteralString = (
    f"CYPHER 25 CREATE VECTOR INDEX {VECTOR_INDEX} IF NOT EXISTS FOR (m:Movie) ON (m.plotEmbedding) "
    "WITH [m.year, m.runtime, m.imdbRating, m.released] OPTIONS $options"
)
_NOT_UNDERSTOOD = {"Neo.ClientError.Statement.SyntaxError", "Neo.ClientError.Statement.ArgumentError"}
"""What a server says that knows no filter properties in a vector index (2025.x), or no Cypher 25 (5.26)."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector for each text, in order."""


@dataclass(frozen=True)
class Role:
    """Who plays whom."""

    name: str
    role: str


@dataclass(frozen=True)
class Movie:
    """One film."""

    id: int
    title: str
    year: int
    released: date
    runtime: int
    """Minutes."""
    imdb_rating: float
    """Out of ten, as it stood about 2024."""
    countries: tuple[str, ...]
    languages: tuple[str, ...]
    genres: tuple[str, ...]
    directors: tuple[str, ...]
    cast: tuple[Role, ...]
    plot: str

    @property
    def text(self) -> str:
        """What its vector is made of."""
        return f"{self.title}. {self.plot}"


@dataclass(frozen=True)
class Rating:
    """What an invented user thinks of a film."""

    user: int
    movie: int
    rating: float
    """0.5 to 5.0 stars in half steps."""
    timestamp: int
    """Seconds since 1970."""


@dataclass(frozen=True)
class DemoGraph:
    """The data of the demo graph."""

    movies: tuple[Movie, ...]
    ratings: tuple[Rating, ...]


def read_graph() -> DemoGraph:
    """Return the data that the package ships."""
    tables = tomllib.loads(_MOVIES_FILE.read_text(encoding="utf-8"))["movie"]
    with _RATINGS_FILE.open(encoding="utf-8", newline="") as lines:
        ratings = tuple(
            Rating(int(row["user"]), int(row["movie"]), float(row["rating"]), int(row["timestamp"]))
            for row in csv.DictReader(lines)
        )
    return DemoGraph(tuple(_movie(table) for table in tables), ratings)


def graph_digest(model: str) -> str:
    """Return a digest of all that a loaded graph depends on: who keeps it can skip loading while it is the same.

    Args:
        model: Name of the embedding model.
    """
    digest = hashlib.sha256(f"{_SCHEMA_VERSION}\n{model}\n".encode())
    for file in (_MOVIES_FILE, _RATINGS_FILE):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def load_graph(driver: neo4j.Driver, database: str, embedder: Embedder, progress: Progress) -> None:
    """Bring a database to the state of the data files, with a vector for each film and the indexes online.

    Running it again changes nothing, and completes a run that was interrupted. Vectors are computed only for the films
    that have none, or whose title or plot has changed, and for all when they may be another model's.

    Args:
        driver: Of an account that may write and create indexes.
        database: Name of the database.
        embedder: The model that will embed the questions, too.
        progress: Told how many films have their vector, and how many there are.
    """
    graph = read_graph()
    first = graph.movies[0]
    with (
        ThreadPoolExecutor(1) as model,
        # Silent: at the first run the server would warn of the property that does not exist yet.
        driver.session(database=database, notifications_min_severity="OFF") as session,
    ):
        vector = model.submit(embedder.embed_documents, [first.text])  # loads the model while the database writes
        for statement in _SCHEMA:
            session.run(statement).consume()
        session.execute_write(_write_graph, graph)
        _drop_vectors_of_another_model(session, first, vector.result()[0])
        _write_vectors(session, graph.movies, embedder, progress)
        _create_vector_index(session, len(vector.result()[0]))
        session.run("CALL db.awaitIndexes($seconds)", seconds=_INDEX_DEADLINE).consume()


def has_indexes(driver: neo4j.Driver, database: str) -> bool:
    """Return whether the graph's two indexes are there."""
    found = driver.execute_query(
        "SHOW INDEXES YIELD name WHERE name IN $names RETURN count(name) AS found",
        names=[VECTOR_INDEX, FULLTEXT_INDEX],
        database_=database,
    )
    return bool(found.records[0]["found"] == len((VECTOR_INDEX, FULLTEXT_INDEX)))


def _movie(table: dict[str, Any]) -> Movie:
    return Movie(
        id=table["id"],
        title=table["title"],
        year=table["year"],
        released=table["released"],
        runtime=table["runtime"],
        imdb_rating=table["imdbRating"],
        countries=tuple(table["countries"]),
        languages=tuple(table["languages"]),
        genres=tuple(table["genres"]),
        directors=tuple(table["directors"]),
        cast=tuple(Role(**part) for part in table["cast"]),
        plot=table["plot"],
    )


def _row(movie: Movie) -> dict[str, Any]:
    """Return a film as the statements take it."""
    return {
        "movieId": movie.id,
        "properties": {
            "title": movie.title,
            "year": movie.year,
            "released": movie.released,
            "runtime": movie.runtime,
            "imdbRating": movie.imdb_rating,
            "countries": list(movie.countries),
            "languages": list(movie.languages),
            "plot": movie.plot,
        },
        "genres": list(movie.genres),
        "directors": list(movie.directors),
        "cast": [vars(part) for part in movie.cast],
    }


def _write_graph(transaction: neo4j.ManagedTransaction, graph: DemoGraph) -> None:
    """Write all but the vectors."""
    movies = [_row(movie) for movie in graph.movies]
    for statement in _FILMS:
        transaction.run(statement, movies=movies).consume()
    transaction.run(_RATINGS, ratings=[vars(rating) for rating in graph.ratings]).consume()


def _drop_vectors_of_another_model(session: neo4j.Session, movie: Movie, vector: list[float]) -> None:
    """Keep the stored vectors only if the first film's is what the model makes of it: an index takes one model's."""
    stored = session.run(_VECTOR, id=movie.id).single(strict=True)["vector"]
    if stored is None or not _similar(stored, vector):
        session.run("MATCH (m:Movie) REMOVE m.plotEmbedding").consume()
        session.run(f"DROP INDEX {VECTOR_INDEX} IF EXISTS").consume()


def _similar(stored: list[float], computed: list[float]) -> bool:
    """Tell whether two vectors differ by no more than the same model's from one machine to the next."""
    if len(stored) != len(computed):
        return False
    differences = sum((a - b) ** 2 for a, b in zip(stored, computed, strict=True))
    return differences <= 1e-4 * sum(a * a for a in stored)


def _write_vectors(session: neo4j.Session, movies: tuple[Movie, ...], embedder: Embedder, progress: Progress) -> None:
    texts = {movie.id: movie.text for movie in movies}
    missing = [record["movieId"] for record in session.run(_MOVIES_WITHOUT_VECTOR, ids=list(texts))]
    done = len(movies) - len(missing)
    progress(done, len(movies))
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        vectors = embedder.embed_documents([texts[movie_id] for movie_id in batch])
        rows = [{"movieId": movie_id, "vector": vector} for movie_id, vector in zip(batch, vectors, strict=True)]
        session.run(_STORE_VECTORS, rows=rows).consume()
        done += len(batch)
        progress(done, len(movies))


def _create_vector_index(session: neo4j.Session, dimensions: int) -> None:
    """Create the vector index, with properties to filter by where the server can."""
    options = {"indexConfig": {"vector.dimensions": dimensions, "vector.similarity_function": "cosine"}}
    try:
        session.run(_FILTERED_VECTOR_INDEX, options=options).consume()
    except ClientError as error:
        if error.code not in _NOT_UNDERSTOOD:
            raise
        session.run(_VECTOR_INDEX, options=options).consume()
