"""What is found in a database that nobody described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from graphs import Films, create_index, remove, unique, vectors
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered, discover, how_to_begin
from mcp_neo4j_vector_graphrag.tools.filter_schema import filters_schema
from servers import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import neo4j

    from servers import Neo4jServer


class Counting(Database):
    """Counts what is read."""

    reads = 0

    def read(
        self, statement: str, parameters: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> list[neo4j.Record]:
        self.reads += 1
        return super().read(statement, parameters, seconds)


@pytest.fixture
def counting(database: Database) -> Counting:
    return Counting(database.driver, database.name, database.read_timeout)


def found_in(database: Database, name: str, **options: Any) -> Discovered:
    return next(
        each for each in discover(database, read_indexes(database).online, **options) if each.index.name == name
    )


def test_indexes_on_nodes_and_relationships_are_found_with_their_filters(counting: Counting, films: Films):
    found = {each.index.name: each for each in discover(counting, read_indexes(counting).online)}

    assert list(found) == sorted(found)
    assert counting.reads == 1 + 2 * len(found)
    nodes, relationships = found[films.films], found[films.reviews]
    assert (nodes.index.variable, nodes.index.labels, nodes.count) == ("node", (films.film,), 20)
    assert (relationships.index.variable, relationships.index.labels) == ("relationship", (films.review,))
    assert relationships.count == 20
    assert {name: (known.types, known.in_index) for name, known in nodes.filters.items()} == {
        "i": (("INTEGER",), False),
        "text": (("STRING",), False),
        "year": (("INTEGER",), False),
    }
    assert set(relationships.filters) == {"i", "text"}
    assert set(nodes.filters["year"].values) == set(range(1980, 2000))


def test_there_are_no_more_filters_than_asked_for(database: Database, films: Films):
    assert list(found_in(database, films.films, max_filters=1).filters) == ["i"]
    assert found_in(database, films.films, max_filters=0).filters == {}


def test_texts_are_told_and_are_no_filters(database: Database, neo4j_server: Neo4jServer):
    label, index = unique("Text"), unique("texts")
    neo4j_server.query(
        f"UNWIND range(0, 2) AS i CREATE (:{label} {{emb: $v[i], plot: $plot + i, lang: 'en', tags: ['a'], "
        "rare: CASE WHEN i = 0 THEN 1 END})",
        v=vectors(3).tolist(),
        plot="A shark hunts bathers. " * 10,
    )
    create_index(neo4j_server, index, label)
    found = found_in(database, index)
    remove(neo4j_server, label, indexes=[index])

    assert found.texts == ("plot",)
    assert list(found.filters) == ["lang"]


def test_properties_in_the_index_come_first_and_those_of_several_labels_together(neo4j_2026: Neo4jServer):
    first, second, index = unique("A"), unique("B"), unique("both")
    neo4j_2026.query(
        f"UNWIND range(0, 3) AS i CREATE (:{first} {{emb: $v[i], a: i, zone: 'x'}}), "
        f"(:{second} {{emb: $v[i + 4], a: i, zone: 7, rare: CASE WHEN i = 0 THEN true END, tags: ['a']}})",
        v=vectors(8).tolist(),
    )
    neo4j_2026.query(
        f"CYPHER 25 CREATE VECTOR INDEX {index} FOR (e:{first}|{second}) ON e.emb "
        "WITH [e.zone, e.rare, e.tags, e.never] OPTIONS {indexConfig: {`vector.dimensions`: 8}}"
    )
    neo4j_2026.query("CALL db.awaitIndexes()")
    driver = open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password)
    found = found_in(Database(driver, neo4j_2026.database), index)
    driver.close()
    remove(neo4j_2026, first, second, indexes=[index])

    assert found.index.labels in ((first, second), (second, first))
    assert found.count == 8
    assert {name: (set(known.types), known.in_index) for name, known in found.filters.items()} == {
        "zone": ({"STRING", "INTEGER"}, True),
        "rare": ({"BOOLEAN"}, True),
        "never": (set(), True),
        "a": ({"INTEGER"}, False),
    }
    assert list(found.filters)[-1] == "a"


def test_odd_names_are_found_as_they_are(database: Database, neo4j_server: Neo4jServer):
    name = "with spaces.and dots, a` OR true //, ümläut '\""
    label, index, vector = (f"{unique(part)} {name}" for part in ("label", "index", "emb"))
    neo4j_server.query(
        f"CREATE (:{quoted(label)} {{{quoted(vector)}: $v, {quoted(name)}: 'x'}})", v=vectors(1)[0].tolist()
    )
    create_index(neo4j_server, index, quoted(label), vector)
    found = found_in(database, index)
    remove(neo4j_server, label, indexes=[index])

    assert (found.count, list(found.filters)) == (1, [name])


def test_a_value_that_python_can_not_hold_costs_no_tool(database: Database, neo4j_server: Neo4jServer):
    label, index = unique("Old"), unique("old")
    neo4j_server.query(
        f"CREATE (:{label} {{emb: $v, founded: date('-0752-04-21'), seen: datetime('-0044-03-15T12:00:00Z')}})",
        v=vectors(1)[0].tolist(),
    )
    create_index(neo4j_server, index, label)
    found = found_in(database, index)
    remove(neo4j_server, label, indexes=[index])

    assert filters_schema(found.filters)["properties"]["founded"]["description"] == (
        'Date; slower, not in the index; e.g. "-0752-04-21"'
    )


@pytest.fixture
def elsewhere(neo4j_server: Neo4jServer) -> Iterator[str]:
    made = unique("Chunk `")
    neo4j_server.query(
        f"UNWIND range(1, 20) AS i CREATE (:{quoted(made)} {{`my emb`: $vector, small: [1.0]}})",
        vector=[float(x) for x in range(40)],
    )
    yield made
    remove(neo4j_server, made)


def test_the_statement_to_begin_with_works_as_it_is(database: Database, neo4j_server: Neo4jServer, elsewhere: str):
    said = how_to_begin(database)

    assert said.startswith("Create one: CREATE VECTOR INDEX ")
    neo4j_server.query(said.removeprefix("Create one: "))
    neo4j_server.query("CALL db.awaitIndexes()")
    index = found_in(database, f"{elsewhere}_my emb").index
    remove(neo4j_server, indexes=[index.name])
    assert (index.labels, index.property, index.dimensions) == ((elsewhere,), "my emb", 40)
