"""What the entities in an index look like, from a sample whose cost does not grow with the data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import neo4j
import pytest

from graphs import create_index, remove, unique, vectors
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex, read_indexes
from mcp_neo4j_vector_graphrag.database.sample import Property, Sample, read_sample, sample_statement
from servers import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

MANY = 400
"""Enough that each side of the index has neighbours of its own."""


@pytest.fixture(scope="module")
def database(neo4j_server: Neo4jServer) -> Iterator[Database]:
    opened = Database(
        open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password), neo4j_server.database
    )
    yield opened
    opened.close()


@pytest.fixture
def label(neo4j_server: Neo4jServer) -> Iterator[str]:
    """A label of the test's own, and the name of its index, if it makes one; both are gone afterwards."""
    made = unique("Sampled")
    yield made
    remove(neo4j_server, made, indexes=[made])


def index_on(database: Database, server: Neo4jServer, label: str, **options: Any) -> VectorIndex:
    """Return an index on what is in the graph by now, of two dimensions unless told, with the label's name."""
    create_index(server, label, options.pop("labels", label), **{"dimensions": 2, **options})
    return read_indexes(database).vector[label]


STORED = {
    "INTEGER": "7",
    "FLOAT": "7.5",
    "STRING": "'en'",
    "BOOLEAN": "true",
    "DATE": "date('2026-01-31')",
    "DURATION": "duration('P1D')",
    "ZONED DATETIME": "datetime('2026-01-31T12:00:00+02:00')",
    "LOCAL DATETIME": "localdatetime('2026-01-31T12:00:00')",
    "ZONED TIME": "time('12:00:00+02:00')",
    "LOCAL TIME": "localtime('12:00:00')",
    "POINT": "point({x: 1, y: 2})",
    "LIST<STRING>": "['a', 'b']",
    "LIST<INTEGER>": "[1, 2]",
}


def test_every_stored_type_is_named(database: Database, neo4j_server: Neo4jServer, label: str):
    properties = ", ".join(f"p{place}: {text}" for place, text in enumerate(STORED.values()))
    neo4j_server.query(f"CREATE (:{label} {{emb: [1.0, 2.0], {properties}}})")

    found = read_sample(database, index_on(database, neo4j_server, label))

    assert found.size == 1
    assert [found.properties[f"p{place}"].types for place in range(len(STORED))] == [(kind,) for kind in STORED]
    assert {name for name, known in found.properties.items() if known.is_scalar} == {
        f"p{place}" for place in range(len(STORED) - 3)
    }
    assert found.properties["p0"] == Property("p0", ("INTEGER",), count=1, values=(7,))
    assert found.properties["p11"].values == ()


def test_types_and_values_come_the_commonest_first(database: Database, neo4j_server: Neo4jServer, label: str):
    neo4j_server.query(
        f"UNWIND ['b', 'b', 'b', 'a', 'a', 7, 7.5, 7.5] AS value CREATE (:{label} {{emb: [1.0, 2.0], mixed: value}})"
    )

    known = read_sample(database, index_on(database, neo4j_server, label)).properties["mixed"]

    assert known.types == ("STRING", "FLOAT", "INTEGER")
    assert known.values == ("b", "a", 7.5, 7)
    assert known.count == 8
    assert known.is_scalar


def test_the_vector_is_no_property_and_those_of_the_index_are_known_unseen(
    database: Database, neo4j_server: Neo4jServer, label: str
):
    neo4j_server.query(f"CREATE (:{label} {{emb: [1.0, 2.0], year: 1999}})")
    index = replace(index_on(database, neo4j_server, label), filter_properties=("year", "never"))

    assert read_sample(database, index).properties == {
        "year": Property("year", ("INTEGER",), in_index=True, count=1, values=(1999,)),
        "never": Property("never", (), in_index=True),
    }


@pytest.mark.parametrize("dimensions", [2, None])
def test_without_entities_only_the_indexs_own_properties_are_known(
    database: Database, neo4j_server: Neo4jServer, label: str, dimensions: int | None
):
    index = index_on(database, neo4j_server, label, dimensions=dimensions)

    assert read_sample(database, index) == Sample(0, {})
    assert read_sample(database, replace(index, filter_properties=("year",))) == Sample(
        0, {"year": Property("year", (), in_index=True)}
    )


def test_long_texts_are_cut(database: Database, neo4j_server: Neo4jServer, label: str):
    neo4j_server.query(
        f"CREATE (:{label} {{emb: [1.0, 2.0], text: $text, short: $short}})", text="x" * 9_000, short="y" * 79
    )

    found = read_sample(database, index_on(database, neo4j_server, label)).properties

    assert found["text"].values == ("x" * 80,)
    assert found["text"].is_long_text
    assert not found["short"].is_long_text


NOT_IN_THE_INDEX = {
    "no-vector": "null",
    "too-short": "[1.0]",
    "too-long": "[1.0, 2.0, 3.0]",
    "a-text": "'vector'",
    "a-number": "7",
    "no-numbers": "['a', 'b']",
    "points-nowhere": "[0.0, 0.0]",
}


def test_what_is_not_in_the_index_does_not_count(database: Database, neo4j_server: Neo4jServer, label: str):
    others = ", ".join(f"(:{label} {{emb: {vector}, other: 1}})" for vector in NOT_IN_THE_INDEX.values())
    elsewhere = unique("Elsewhere")
    neo4j_server.query(
        f"CREATE {others}, (:{elsewhere} {{emb: [1.0, 2.0], other: 1}}), (:{label} {{emb: [1.0, 2.0], one: 1}})"
    )

    found = read_sample(database, index_on(database, neo4j_server, label))
    remove(neo4j_server, elsewhere)

    assert found == Sample(1, {"one": Property("one", ("INTEGER",), count=1, values=(1,))})


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_of_many_a_hundred_at_most_are_sampled_from_several_sides(
    database: Database, neo4j_server: Neo4jServer, label: str, similarity: str
):
    embeddings = vectors(MANY, 16)
    neo4j_server.query(
        "UNWIND range(0, $last) AS i CREATE (e {i: i, emb: $v[i]}) SET e:" + label,
        last=MANY - 1,
        v=embeddings.tolist(),
    )

    found = read_sample(database, index_on(database, neo4j_server, label, dimensions=16, similarity=similarity))

    assert 50 < found.size <= 100
    sampled = found.properties["i"]
    assert sampled.count == found.size == len(set(sampled.values))
    for column in embeddings[list(sampled.values)].T:
        assert min(column) < -0.5, "not from one side alone"
        assert max(column) > 0.5, "not from one side alone"


def test_an_index_without_dimensions_is_sampled_by_those_of_a_vector(
    database: Database, neo4j_server: Neo4jServer, label: str
):
    others = ", ".join(
        f"(:{label} {{emb: {vector}, other: 1}})" for vector in ("null", "'vector'", "7", "true", "[1.0]")
    )
    neo4j_server.query(f"CREATE {others}")
    neo4j_server.query(f"UNWIND range(1, 9) AS i CREATE (:{label} {{emb: [1.0, 2.0, i], one: i}})")

    found = read_sample(database, index_on(database, neo4j_server, label, dimensions=None))

    assert found.size == 9
    assert set(found.properties) == {"one"}


def test_nodes_of_all_labels_are_sampled_once_each(neo4j_2026: Neo4jServer):
    first, second = unique("First"), unique("Second")
    neo4j_2026.query(f"CREATE (:{first}:{second} {{emb: [1.0, 2.0], a: 1}}), (:{second} {{emb: [1.0, 2.0], b: 1}})")
    with open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password) as driver:
        database = Database(driver, neo4j_2026.database)
        found = read_sample(
            database, index_on(database, neo4j_2026, first, labels=f"{first}|{second}", prefix="CYPHER 25")
        )
    remove(neo4j_2026, first, second, indexes=[first])

    assert found.size == 2
    assert {name: known.count for name, known in found.properties.items()} == {"a": 1, "b": 1}


@pytest.mark.parametrize("dimensions", [2, None])
def test_relationships_are_sampled_once_each(
    database: Database, neo4j_server: Neo4jServer, label: str, dimensions: int | None
):
    kind = f"SAID_{label}"
    neo4j_server.query(f"CREATE (:{label})-[:{kind} {{emb: [1.0, 2.0], weight: 0.5}}]->(:{label})")
    index = index_on(database, neo4j_server, label, labels=kind, on="relationship", dimensions=dimensions)

    assert read_sample(database, index) == Sample(1, {"weight": Property("weight", ("FLOAT",), count=1, values=(0.5,))})


def test_odd_names_are_harmless(database: Database, neo4j_server: Neo4jServer):
    name = "$vector, a` OR true // with spaces.and dots, ümläut '\""
    label, vector, other = (f"{unique(part)}{name}" for part in ("Label", "emb", "other"))
    neo4j_server.query(f"CREATE (:{quoted(label)} {{{quoted(vector)}: [1.0, 2.0], {quoted(other)}: 'x'}})")
    index = index_on(database, neo4j_server, label, labels=quoted(label), prop=vector, dimensions=None)

    found = read_sample(database, index)
    remove(neo4j_server, label, indexes=[label])

    assert found == Sample(1, {other: Property(other, ("STRING",), count=1, values=("x",))})


def test_a_value_that_python_can_not_hold_loses_no_sample(database: Database, neo4j_server: Neo4jServer, label: str):
    neo4j_server.query(
        f"CREATE (:{label} {{emb: [1.0, 2.0], founded: date('-0752-04-21'), seen: datetime('-0044-03-15T12:00:00Z'), "
        f"then: localdatetime('+12026-01-01T00:00:00'), year: 7}}), "
        f"(:{label} {{emb: [1.0, 2.0], founded: date('2026-01-31')}})"
    )

    found = read_sample(database, index_on(database, neo4j_server, label))

    assert found.size == 2
    assert found.properties["year"].values == (7,)
    assert found.properties["founded"].types == ("DATE",)
    assert found.properties["founded"].count == 2
    assert neo4j.time.Date(2026, 1, 31) in found.properties["founded"].values
    assert found.properties["seen"].types == ("ZONED DATETIME",)
    assert found.properties["then"].types == ("LOCAL DATETIME",)


def rows_made(plan: Any) -> int:
    """Return the most rows that any operator of a profiled plan made."""
    return max([int(plan.get("rows", 0)), *(rows_made(child) for child in plan.get("children", []))])


class Profiling(Database):
    """Keeps the most rows that an operator of any of its statements made."""

    most_rows = 0

    def read(
        self, statement: str, parameters: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> list[neo4j.Record]:
        profiled = self.driver.execute_query(f"PROFILE {statement}", dict(parameters or {}), database_=self.name)
        assert profiled.summary.profile
        self.most_rows = max(self.most_rows, rows_made(profiled.summary.profile))
        return super().read(statement, parameters, seconds)


@pytest.mark.parametrize("dimensions", [2, None])
def test_a_look_does_not_grow_with_the_data(
    database: Database, neo4j_server: Neo4jServer, label: str, dimensions: int | None
):
    neo4j_server.query(
        f"UNWIND range(1, 3000) AS i CREATE (n:{label} {{i: i, a: i, b: i}}) "
        "SET n.emb = CASE WHEN i % 2 = 0 THEN [sin(i), cos(i)] END"
    )
    index = index_on(database, neo4j_server, label, dimensions=dimensions)
    profiling = Profiling(database.driver, database.name)

    assert 0 < read_sample(profiling, index).size <= 100
    assert 0 < profiling.most_rows <= 1_000


@pytest.mark.parametrize("variable", ["node", "relationship"])
def test_one_statement_is_for_all_indexes_of_a_kind(database: Database, variable: Any):
    assert database.explain(sample_statement(variable)).query_type == "r"
