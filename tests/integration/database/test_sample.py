"""What the entities behind an index look like, from a sample whose cost does not grow with the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import neo4j
import pytest

from graphs import quoted, remove, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.indexes import VectorIndex
from mcp_neo4j_vector_graphrag.database.sample import Property, Sample, read_sample, sample_statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from servers import Neo4jServer


@pytest.fixture(scope="module")
def database(neo4j_server: Neo4jServer) -> Iterator[Database]:
    opened = Database(
        open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password), neo4j_server.database
    )
    yield opened
    opened.close()


@pytest.fixture
def label(neo4j_server: Neo4jServer) -> Iterator[str]:
    made = unique("Sampled")
    yield made
    remove(neo4j_server, made)


def index(labels: Sequence[str], prop: str = "emb", filters: Sequence[str] = (), kind: Any = "node") -> VectorIndex:
    return VectorIndex(
        name="any",
        variable=kind,
        labels=tuple(labels),
        property=prop,
        filter_properties=tuple(filters),
        dimensions=2,
        similarity="cosine",
        quantised=False,
        state="ONLINE",
    )


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

    found = read_sample(database, index([label]))

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

    known = read_sample(database, index([label])).properties["mixed"]

    assert known.types == ("STRING", "FLOAT", "INTEGER")
    assert known.values == ("b", "a", 7.5, 7)
    assert known.count == 8
    assert known.is_scalar


def test_the_vector_is_no_property_and_those_of_the_index_are_known_unseen(
    database: Database, neo4j_server: Neo4jServer, label: str
):
    neo4j_server.query(f"CREATE (:{label} {{emb: [1.0, 2.0], year: 1999}})")

    found = read_sample(database, index([label], filters=["year", "never"]))

    assert found.properties == {
        "year": Property("year", ("INTEGER",), in_index=True, count=1, values=(1999,)),
        "never": Property("never", (), in_index=True),
    }


def test_without_entities_only_the_indexs_own_properties_are_known(database: Database, label: str):
    assert read_sample(database, index([label])) == Sample(0, {})
    assert read_sample(database, index([label], filters=["year"])) == Sample(
        0, {"year": Property("year", (), in_index=True)}
    )


def test_long_texts_are_cut(database: Database, neo4j_server: Neo4jServer, label: str):
    neo4j_server.query(
        f"CREATE (:{label} {{emb: [1.0, 2.0], text: $text, short: $short}})", text="x" * 9_000, short="y" * 79
    )

    found = read_sample(database, index([label])).properties

    assert found["text"].values == ("x" * 80,)
    assert found["text"].is_long_text
    assert not found["short"].is_long_text


def test_entities_without_a_vector_do_not_count_and_of_the_others_a_hundred(
    database: Database, neo4j_server: Neo4jServer, label: str
):
    neo4j_server.query(
        f"UNWIND range(1, 120) AS i CREATE (:{label} {{emb: [1.0, i], one: i}}), (:{label} {{other: i}})"
    )

    found = read_sample(database, index([label]))

    assert found.size == 100
    assert set(found.properties) == {"one"}
    assert found.properties["one"].count == 100


def test_nodes_of_all_labels_are_sampled_once_each(database: Database, neo4j_server: Neo4jServer, label: str):
    other = unique("Other")
    neo4j_server.query(f"CREATE (:{label}:{other} {{emb: [1.0, 2.0], a: 1}}), (:{other} {{emb: [1.0, 2.0], b: 1}})")

    found = read_sample(database, index([label, other]))

    assert found.size == 2
    assert {name: known.count for name, known in found.properties.items()} == {"a": 1, "b": 1}
    remove(neo4j_server, other)


def test_relationships_are_sampled_once_each(database: Database, neo4j_server: Neo4jServer, label: str):
    neo4j_server.query(f"CREATE (:{label})-[:SAID_{label} {{emb: [1.0, 2.0], weight: 0.5}}]->(:{label})")

    found = read_sample(database, index([f"SAID_{label}"], kind="relationship"))

    assert found == Sample(1, {"weight": Property("weight", ("FLOAT",), count=1, values=(0.5,))})


@pytest.mark.parametrize("name", ["with spaces.and dots", "a` OR true //", "$vector", "ümläut '\""])
def test_odd_names_are_harmless(database: Database, neo4j_server: Neo4jServer, name: str):
    label, vector, other = (f"{unique(part)}{name}" for part in ("Label", "emb", "other"))
    neo4j_server.query(f"CREATE (:{quoted(label)} {{{quoted(vector)}: [1.0, 2.0], {quoted(other)}: 'x'}})")

    found = read_sample(database, index([label], vector))

    assert found == Sample(1, {other: Property(other, ("STRING",), count=1, values=("x",))})
    remove(neo4j_server, label)


def test_a_value_that_python_can_not_hold_loses_no_sample(database: Database, neo4j_server: Neo4jServer, label: str):
    neo4j_server.query(
        f"CREATE (:{label} {{emb: [1.0, 2.0], founded: date('-0752-04-21'), seen: datetime('-0044-03-15T12:00:00Z'), "
        f"then: localdatetime('+12026-01-01T00:00:00'), year: 7}}), "
        f"(:{label} {{emb: [1.0, 2.0], founded: date('2026-01-31')}})"
    )

    found = read_sample(database, index([label]))

    assert found.size == 2
    assert found.properties["year"].values == (7,)
    assert found.properties["founded"].types == ("DATE",)
    assert found.properties["founded"].count == 2
    assert neo4j.time.Date(2026, 1, 31) in found.properties["founded"].values
    assert found.properties["seen"].types == ("ZONED DATETIME",)
    assert found.properties["then"].types == ("LOCAL DATETIME",)


def rows_read(plan: Any) -> int:
    """Return the most rows that any operator of a profiled plan made."""
    return max([int(plan["rows"]), *(rows_read(child) for child in plan.get("children", []))])


def test_a_look_does_not_grow_with_the_data(database: Database, neo4j_server: Neo4jServer, label: str):
    neo4j_server.query(
        f"UNWIND range(1, 3000) AS i CREATE (n:{label} {{i: i, a: i, b: i}}) "
        "SET n.emb = CASE WHEN i % 2 = 0 THEN [1.0, i] END"
    )
    with database.driver.session(database=database.name) as session:
        result = session.run(f"PROFILE {sample_statement(index([label]))}", {"vector": "emb"})
        summary = result.consume()

    assert summary.profile
    assert rows_read(summary.profile) <= 1_000
