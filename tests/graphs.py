"""Graphs for the tests: small, with names of their own in a database that the tests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from servers import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from servers import Neo4jServer

DIMENSIONS = 8
SIZE = 20
"""A quantised index is exact on so few vectors, and not beyond."""


def unique(name: str) -> str:
    """Return a name that no other test uses."""
    return f"{name}{uuid4().hex[:10]}"


def vectors(count: int = SIZE, dimensions: int = DIMENSIONS, seed: int = 7) -> NDArray[np.float64]:
    """Return the same random vectors at each call, one a row."""
    return np.random.default_rng(seed).normal(size=(count, dimensions)).round(3)


def nearest(
    embeddings: NDArray[np.float64], question: Sequence[float], similarity: str = "cosine"
) -> list[tuple[int, float]]:
    """Return all rows by closeness to a question, with Neo4j's score, computed by brute force."""
    asked = np.asarray(question)
    if similarity == "cosine":
        scores = (1 + embeddings @ asked / (np.linalg.norm(embeddings, axis=1) * np.linalg.norm(asked))) / 2
    else:
        scores = 1 / (1 + ((embeddings - asked) ** 2).sum(axis=1))
    return [(int(row), float(scores[row])) for row in np.argsort(-scores)]


def create_index(  # noqa: PLR0913 - a vector index has so many parts
    server: Neo4jServer,
    name: str,
    labels: str,
    prop: str = "emb",
    *,
    on: str = "node",
    dimensions: int | None = DIMENSIONS,
    similarity: str = "cosine",
    prefix: str = "",
) -> None:
    """Create a vector index, without quantisation so that its scores are exact, and wait until it answers.

    Args:
        server: Where.
        name: The index's name.
        labels: Labels or types as Cypher takes them, quoted where they must be.
        prop: The property, unquoted.
        on: `node` or `relationship`.
        dimensions: `None` leaves them open.
        similarity: `cosine` or `euclidean`.
        prefix: A language, such as `CYPHER 25`.
    """
    pattern = f"(e:{labels})" if on == "node" else f"()-[e:{labels}]-()"
    config = [f"`vector.similarity_function`: '{similarity}'", "`vector.quantization.enabled`: false"]
    if dimensions is not None:
        config.append(f"`vector.dimensions`: {dimensions}")
    server.query(
        f"{prefix} CREATE VECTOR INDEX {quoted(name)} FOR {pattern} ON e.{quoted(prop)} "
        f"OPTIONS {{indexConfig: {{{', '.join(config)}}}}}"
    )
    server.query("CALL db.awaitIndexes()")


@dataclass(frozen=True)
class Films:
    """Twenty films with a plot's vector, each of one genre, and twenty reviews with one.

    `(:film {i, text, emb})-[:genre]->(:topic {name})` and `(:film)<-[:review {i, text, emb}]-(:critic {name})`;
    the film `i` is of the genre `genre i % 4`. The attributes are the labels, types and index names.
    """

    film: str
    topic: str
    critic: str
    genre: str
    review: str
    films: str
    """The index on the films."""
    reviews: str
    """The index on the reviews, which are relationships."""
    embeddings: NDArray[np.float64]


def create_films(server: Neo4jServer) -> Films:
    """Put the films into a database, under names of their own."""
    names = {name: unique(name) for name in ("film", "topic", "critic", "genre", "review", "films", "reviews")}
    graph = Films(**names, embeddings=vectors())
    server.query(
        f"""
        UNWIND $embeddings AS emb
        WITH emb, toInteger(emb[0]) AS i, emb[1..] AS vector
        CREATE (f:{graph.film} {{i: i, text: 'film ' + i, year: 1980 + i, emb: vector}})
        CREATE (c:{graph.critic} {{name: 'critic ' + i}})
        CREATE (c)-[:{graph.review} {{i: i, text: 'review ' + i, emb: vector}}]->(f)
        MERGE (t:{graph.topic} {{name: 'genre ' + (i % 4)}})
        CREATE (f)-[:{graph.genre}]->(t)
        """,
        embeddings=[[float(i), *row] for i, row in enumerate(graph.embeddings.tolist())],
    )
    create_index(server, graph.films, graph.film)
    create_index(server, graph.reviews, graph.review, on="relationship")
    return graph


def remove(server: Neo4jServer, *labels: str, indexes: Sequence[str] = ()) -> None:
    """Remove the nodes of some labels, with their relationships, and some indexes."""
    for label in labels:
        server.query(f"MATCH (n:{quoted(label)}) DETACH DELETE n")
    for index in indexes:
        server.query(f"DROP INDEX {quoted(index)} IF EXISTS")


NEWEST = "2026.09.0"
"""The release whose vector indexes hold properties to filter by."""


@dataclass(frozen=True)
class Sightings:
    """Twenty notes whose texts hold the word `shark` 0 to 19 times, and twenty relationships with the same properties.

    `(:critic)-[:says {i, text, year, lang, emb}]->(:note {i, text, year, lang, emb})`. Each text has twenty words: note
    `i` has `shark` `i` times, then its own word `only` + letter, then `sea`. `year` and `lang` are in the newest
    release's vector index. The attributes are labels, types and index names.
    """

    note: str
    critic: str
    says: str
    notes: str
    """The vector index on the notes."""
    note_texts: str
    sayings: str
    """The vector index on the relationships."""
    saying_texts: str
    embeddings: NDArray[np.float64]

    @staticmethod
    def text(i: int) -> str:
        """Return the text of a note."""
        return " ".join([*["shark"] * i, f"only{chr(97 + i)}", *["sea"] * (SIZE - 1 - i)])

    @staticmethod
    def entity(i: int) -> dict[str, object]:
        """Return the other properties of a note."""
        return {"i": i, "year": 1980 + i, "lang": ("en", "de")[i % 2], "mood": "calm" if i < 4 else "wild"}


def create_sightings(server: Neo4jServer, name_of: Callable[[str], str] = unique) -> Sightings:
    """Put the sightings into a database.

    Args:
        server: Where.
        name_of: Makes a name of each attribute's; `str` keeps them, in a database that holds nothing else.
    """
    parts = ("note", "critic", "says", "notes", "note_texts", "sayings", "saying_texts")
    graph = Sightings(**{name: name_of(name) for name in parts}, embeddings=vectors())
    rows = [
        {"of": Sightings.entity(i) | {"text": Sightings.text(i)}, "emb": row}
        for i, row in enumerate(graph.embeddings.tolist())
    ]
    server.query(
        f"UNWIND $rows AS row CREATE (n:{graph.note} {{emb: row.emb}}) SET n += row.of "
        f"CREATE (:{graph.critic} {{name: 'critic ' + n.i}})-[r:{graph.says} {{emb: row.emb}}]->(n) SET r += row.of",
        rows=rows,
    )
    for vector, texts, entity in (
        (graph.notes, graph.note_texts, f"(e:{graph.note})"),
        (graph.sayings, graph.saying_texts, f"()-[e:{graph.says}]-()"),
    ):
        newest = server.version == NEWEST
        server.query(
            f"{'CYPHER 25 ' if newest else ''}CREATE VECTOR INDEX {vector} FOR {entity} ON e.emb "
            f"{'WITH [e.year, e.lang] ' if newest else ''}OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSIONS}, "
            "`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}"
        )
        server.query(f"CREATE FULLTEXT INDEX {texts} FOR {entity} ON EACH [e.text]")
    server.query("CALL db.awaitIndexes()")
    return graph


def bm25(counts: Sequence[int]) -> list[tuple[int, float]]:
    """Return the texts that hold a word, best first, with Lucene's score.

    Args:
        counts: How often each text holds the word. All texts are of one length, so that falls out of the formula.
    """
    holding = sum(count > 0 for count in counts)
    rarity = float(np.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5)))
    scores = [(i, rarity * count / (count + 1.2)) for i, count in enumerate(counts) if count]
    return sorted(scores, key=lambda pair: -pair[1])
