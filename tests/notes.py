"""The notes of `graphs.Sightings` under plain names, every family of tools on them, and the right answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clients import environment
from digest_embedder import digest_vector
from genai_plugin import GENAI_KEY
from graphs import SIZE, create_sightings, nearest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphs import Sightings
    from servers import Neo4jServer

FAMILIES = "configured,declared,own,discovered,generic,schema,walking,connectors"

CONNECTION = """\
[database.{table}]
uri = "{server.uri}"
username = "{server.username}"
password_env = "{variable}"
name = "{server.database}"
"""

RETRIEVERS = """
[[retriever]]
name = "calm_notes"
title = "Calm notes"
description = "Notes on calm days by their words."
database = "here"
fulltext_index = "note_texts"
retrieval_query = "WITH node, score WHERE node.i >= $since RETURN toString(node.i) AS text, score"
filters = ["lang", "mood"]
fixed_filters = { mood = "calm" }

[retriever.parameters.since]
type = "integer"
description = "The first note."
default = 0
minimum = 0
maximum = 19

[[retriever]]
name = "english_notes"
description = "Notes in English by meaning."
database = "here"
index = "notes"
top_k = 3
filters = ["year"]
fixed_filters = { lang = "en", year = { min = 1990 } }

[[retriever]]
name = "typed"
description = "Tells what its parameters are in the query."
database = "here"
index = "notes"
fulltext_index = "note_texts"
retrieval_query_file = "typed.cypher"
top_k = 1

[retriever.parameters.word]
type = "string"
choices = ["sea", "shark"]

[retriever.parameters.whole]
type = "integer"

[retriever.parameters.broken]
type = "number"
maximum = 1.5

[retriever.parameters.yes]
type = "boolean"
default = true

[retriever.parameters.day]
type = "date"
minimum = 2000-01-01

[retriever.parameters.moment]
type = "datetime"
default = 2026-03-01T12:00:00Z

[retriever.parameters.several]
type = "list"
items = "integer"
default = [1, 2]

[[retriever]]
name = "elsewhere"
description = "Notes of another database by meaning and by words."
database = "there"
index = "far_notes"
fulltext_index = "far_texts"
"""

TYPED = """
RETURN 'types' AS text, score, {
  word: [valueType($word), toString($word)],
  whole: [valueType($whole), toString($whole)],
  broken: [valueType($broken), toString($broken)],
  yes: [valueType($yes), toString($yes)],
  day: [valueType($day), toString($day)],
  moment: [valueType($moment), toString($moment)],
  several: [valueType($several), toString(reduce(sum = 0, each IN $several | sum + each))]
} AS metadata
"""

OWN = """
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult


class ByLanguage(Retriever):
    VERIFY_NEO4J_VERSION = False

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        query = (
            "MATCH (n:note {lang: $lang}) RETURN toString(n.i) AS text, date('2026-03-01') AS day, "
            "[each IN range(1, 384) | 0.5] AS emb "
            "ORDER BY n.i LIMIT $top_k"
        )
        given = {"lang": query_text, "top_k": top_k}
        return RawSearchResult(records=self.driver.execute_query(query, given, database_=self.neo4j_database)[0])


def make(driver, database):
    return {"by_language": ByLanguage(driver, database)}


def fails():
    raise RuntimeError("no model")


def text():
    return "a text"
"""


@dataclass(frozen=True)
class Notes:
    """The graph, the files of an operator, and how a server gets to both."""

    neo4j: Neo4jServer
    graph: Sightings
    folder: Path
    """Where the server starts: `retrievers.toml`, `fixed.toml` with fixed filters, and the module `own_notes`."""
    passwords: dict[str, str]
    """What the file's `password_env` name."""

    def connection(self) -> dict[str, str]:
        """Return the variables that lead to the database and embed inside it."""
        return {
            "NEO4J_URI": self.neo4j.uri,
            "NEO4J_USERNAME": self.neo4j.username,
            "NEO4J_PASSWORD": self.neo4j.password,
            "NEO4J_DATABASE": self.neo4j.database,
            "NEO4J_EMBEDDING_PROVIDER": "openai",
            "NEO4J_EMBEDDING_MODEL": "m",
            "NEO4J_EMBEDDING_API_KEY": GENAI_KEY,
        }

    def variables(self, **changes: str) -> dict[str, str]:
        """Return an environment in which every family is there and seen, some of it changed; an empty one unset."""
        everything = {
            **self.connection(),
            **self.passwords,
            "INDEX_NAME": self.graph.notes,
            "FULLTEXT_INDEX_NAME": self.graph.note_texts,
            "RETRIEVERS_FILE": str(self.folder / "retrievers.toml"),
            "NEO4J_MCP_RETRIEVER": "own_notes:make",
            "NEO4J_MCP_TOOLS": FAMILIES,
            "NEO4J_NAMESPACE": "dev",
        }
        return environment(**{name: value for name, value in {**everything, **changes}.items() if value})

    def by_meaning(self, question: str, holds: Callable[[int], bool] = lambda _: True) -> list[int]:
        """Return the notes by closeness to a question, computed here."""
        return [i for i, _ in nearest(self.graph.embeddings, digest_vector(question)) if holds(i)]


def by_shark(holds: Callable[[int], bool] = lambda _: True) -> list[int]:
    """Return the notes by how often they hold `shark`: the texts are of one length, so no more than that counts."""
    return [i for i in range(SIZE - 1, 0, -1) if holds(i)]


def create_notes(server: Neo4jServer, other: Neo4jServer, folder: Path) -> Notes:
    """Put the notes into two databases that are emptied first, and an operator's files into a folder.

    Args:
        server: Holds all of the graph, and is the environment's.
        other: Holds the last three notes, which are named otherwise, so that the two can be told apart.
        folder: Where the files go.
    """
    server.clear()
    graph = create_sightings(server, str)
    other.clear()
    other.query(
        "UNWIND $rows AS row CREATE (:far {i: row.i, text: row.text, emb: row.emb})",
        rows=[{"i": i, "text": graph.text(i), "emb": graph.embeddings[i].tolist()} for i in (17, 18, 19)],
    )
    other.query(
        "CREATE VECTOR INDEX far_notes FOR (n:far) ON (n.emb) "
        "OPTIONS {indexConfig: {`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}}"
    )
    other.query("CREATE FULLTEXT INDEX far_texts FOR (n:far) ON EACH [n.text]")
    other.query("CALL db.awaitIndexes()")
    passwords = {"HERE_PASSWORD": server.password, "THERE_PASSWORD": other.password}
    databases = [
        CONNECTION.format(table=table, server=each, variable=variable)
        for table, each, variable in (("here", server, "HERE_PASSWORD"), ("there", other, "THERE_PASSWORD"))
    ]
    fixed = "\n".join(databases) + RETRIEVERS
    (folder / "fixed.toml").write_text(fixed, "utf-8")
    unfixed = [line for line in fixed.splitlines() if not line.startswith("fixed_filters")]
    (folder / "retrievers.toml").write_text("\n".join(unfixed), "utf-8")
    (folder / "typed.cypher").write_text(TYPED, "utf-8")
    (folder / "own_notes.py").write_text(OWN, "utf-8")
    return Notes(server, graph, folder, passwords)
