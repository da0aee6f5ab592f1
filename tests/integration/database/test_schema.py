"""The schema that three releases give, of graphs whose schema was worked out by hand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from neo4j.exceptions import Neo4jError

from graphs import create_index, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.schema import sample
from mcp_neo4j_vector_graphrag.database.schema.entries import (
    ConstraintSchema,
    FulltextIndexSchema,
    Pair,
    Schema,
    VectorIndexSchema,
)
from mcp_neo4j_vector_graphrag.database.schema.read import read_schema
from mcp_neo4j_vector_graphrag.database.schema.text import fitted, schema_text
from mcp_neo4j_vector_graphrag.errors import QuestionError
from servers import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import neo4j

    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

ODD = "Odd`; {} \\u0060 ) name"
CHAIN = 3_000
"""Relationships of one type between two labels, and as many between two others."""


@pytest.fixture(scope="module")
def graph(neo4j_server: Neo4jServer) -> Iterator[Database]:
    """Eight films, two people, odd names, vectors; nothing else is in the database."""
    neo4j_server.clear()
    neo4j_server.query(
        f"CREATE (p:Person:Actor {{name: 'Ada', born: 1950, at: date()}}), (q:Person {{name: 'Bo', born: '1960'}}), "
        "(n {lost: true}), "
        "(p)-[:KNOWS]->(q), (q)-[:SAW]->(n), (n)-[:SAW]->(n) "
        f"CREATE (:{quoted(ODD)} {{{quoted(ODD)}: 1}})-[:{quoted(ODD)} {{{quoted(ODD)}: 1}}]->(:Bare) "
        "WITH p UNWIND range(1, 8) AS i "
        "CREATE (p)-[:ACTED_IN {role: 'r', emb: [1.0, 2.0, 3.0]}]->"
        "(:Film {title: 't', emb: [1.0, 2.0, i], copy: [1.0, 2.0, i], tags: ['a'], ratings: [1.0]})"
    )
    create_index(neo4j_server, "films", "Film", dimensions=3)
    create_index(neo4j_server, "roles", "ACTED_IN", on="relationship", dimensions=None, similarity="euclidean")
    neo4j_server.query("CREATE FULLTEXT INDEX titles FOR (n:Film|Person) ON EACH [n.title, n.name]")
    neo4j_server.query("CREATE CONSTRAINT film_key FOR (n:Film) REQUIRE (n.imdb) IS UNIQUE")
    neo4j_server.query("CALL db.awaitIndexes()")
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        yield Database(driver, neo4j_server.database)
    neo4j_server.clear()


def labels(schema: Schema) -> dict[str, dict[str, str]]:
    return {each.name: each.properties for each in schema.labels}


def pairs(schema: Schema) -> dict[str, set[tuple[str | None, str | None]]]:
    return {each.name: {(pair.start, pair.end) for pair in each.pairs} for each in schema.relationship_types}


def test_labels_have_counts_and_all_types_of_their_properties(graph: Database):
    schema = read_schema(graph)
    assert {each.name: (each.count, each.sampled) for each in schema.labels} == {
        "Film": (8, 8),
        "Person": (2, 2),
        "Actor": (1, 1),
        "Bare": (1, 1),
        ODD: (1, 1),
    }
    assert labels(schema) == {
        "Film": {
            "title": "STRING",
            "emb": "VECTOR(3)",
            "copy": "VECTOR(3)",
            "tags": "LIST<STRING>",
            "ratings": "LIST<FLOAT>",
            "imdb": "unknown",
            "name": "unknown",
        },
        "Person": {"born": "INTEGER | STRING", "name": "STRING", "at": "DATE", "title": "unknown"},
        "Actor": {"at": "DATE", "born": "INTEGER", "name": "STRING"},
        "Bare": {},
        ODD: {ODD: "INTEGER"},
    }
    assert schema.notice is None


def test_types_join_the_labels_that_they_really_join(graph: Database):
    schema = read_schema(graph)
    assert pairs(schema) == {
        "ACTED_IN": {("Actor", "Film"), ("Person", "Film")},
        "KNOWS": {("Actor", "Person"), ("Person", "Person")},
        "SAW": {("Person", None), (None, None)},
        ODD: {(ODD, "Bare")},
    }
    assert {each.name: (each.count, each.properties) for each in schema.relationship_types} == {
        "ACTED_IN": (8, {"emb": "VECTOR(3)", "role": "STRING"}),
        "KNOWS": (1, {}),
        "SAW": (2, {}),
        ODD: (1, {ODD: "INTEGER"}),
    }
    assert not [each for each in schema.relationship_types if each.other_starts or each.other_ends]


def test_indexes_and_constraints_are_whole(graph: Database):
    schema = read_schema(graph)
    assert schema.vector_indexes == [
        VectorIndexSchema(
            name="films",
            on="node",
            labels=["Film"],
            property="emb",
            dimensions=3,
            similarity="cosine",
            filter_properties=[],
            state="ONLINE",
        ),
        VectorIndexSchema(
            name="roles",
            on="relationship",
            labels=["ACTED_IN"],
            property="emb",
            dimensions=None,
            similarity="euclidean",
            filter_properties=[],
            state="ONLINE",
        ),
    ]
    assert schema.fulltext_indexes == [
        FulltextIndexSchema(
            name="titles",
            on="node",
            labels=["Film", "Person"],
            properties=["title", "name"],
            analyzer="standard-no-stop-words",
            state="ONLINE",
        )
    ]
    assert schema.constraints == [
        ConstraintSchema(name="film_key", on="node", labels=["Film"], type="UNIQUENESS", properties=["imdb"])
    ]


def test_labels_bring_the_types_that_touch_them(graph: Database):
    schema = read_schema(graph, labels=["Film"])
    assert list(labels(schema)) == ["Film"]
    assert pairs(schema) == {"ACTED_IN": {("Actor", "Film"), ("Person", "Film")}}
    assert [each.name for each in schema.vector_indexes] == ["films", "roles"]
    assert [each.name for each in schema.fulltext_indexes] == ["titles"]
    assert [each.name for each in schema.constraints] == ["film_key"]


def test_types_bring_no_labels(graph: Database):
    schema = read_schema(graph, types=["KNOWS"])
    assert labels(schema) == {}
    assert pairs(schema) == {"KNOWS": {("Actor", "Person"), ("Person", "Person")}}
    assert (schema.vector_indexes, schema.fulltext_indexes, schema.constraints) == ([], [], [])


@pytest.mark.parametrize("written", [ODD, f":{quoted(ODD)}", "`Odd``; {} \\u005Cu0060 ) name`"])
def test_odd_names_are_asked_for_as_they_are_and_as_cypher_writes_them(graph: Database, written: str):
    schema = read_schema(graph, labels=[written], types=[written])
    assert labels(schema) == {ODD: {ODD: "INTEGER"}}
    assert pairs(schema) == {ODD: {(ODD, "Bare")}}


def test_unknown_names_are_told_with_those_that_exist(graph: Database):
    with pytest.raises(QuestionError) as caught:
        read_schema(graph, labels=["Film", "Movie"], types=["Film"])
    assert str(caught.value) == (
        f"There is no label 'Movie': the labels are 'Actor', 'Bare', 'Film', '{ODD}', 'Person'. "
        f"There is no relationship type 'Film': the relationship types are 'ACTED_IN', 'KNOWS', '{ODD}', 'SAW'."
    )


class Restricted(Database):
    """Stands for a user who may not call some procedure, as only other editions know them."""

    def read(
        self, statement: str, parameters: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> list[neo4j.Record]:
        if "db.stats" in statement:  # the driver has no public way to make an error
            raise Neo4jError._basic_hydrate(neo4j_code="Neo.ClientError.Security.Forbidden", message="not allowed")
        return super().read(statement, parameters, seconds)


@pytest.mark.parametrize("asked", [{}, {"labels": ["Film"]}, {"types": ["SAW"]}])
def test_a_user_without_statistics_gets_the_same(graph: Database, asked: dict[str, list[str]]):
    usual = read_schema(graph, **asked)
    restricted = read_schema(Restricted(graph.driver, graph.name), **asked)
    assert restricted.notice is not None
    assert restricted.model_copy(update={"notice": None}) == usual


def test_no_statement_writes_or_takes_a_shortcut_through_all_nodes(graph: Database):
    seen: list[str] = []

    class Explaining(Database):
        def read(
            self, statement: str, parameters: Mapping[str, Any] | None = None, seconds: float | None = None
        ) -> list[neo4j.Record]:
            if not statement.startswith(("SHOW", "CALL db.")):
                summary = self.explain(statement)
                seen.extend([str(summary.query_type), *operators(summary.plan)])
            return super().read(statement, parameters, seconds)

    read_schema(Explaining(graph.driver, graph.name))
    assert "r" in seen
    assert not {"rw", "w", "s", "AllNodesScan", "DirectedAllRelationshipsScan"} & set(seen)


def operators(plan: Any) -> list[str]:
    return [
        plan["operatorType"].split("@")[0],
        *(name for child in plan.get("children", []) for name in operators(child)),
    ]


def test_pairs_that_a_sample_misses_are_looked_for(neo4j_2026: Neo4jServer):
    """A type joins two labels, and two others in the middle of the order in which its relationships are found."""
    first, second, third, fourth, kind = (unique(name) for name in ("A", "B", "C", "D", "HAS"))
    neo4j_2026.query(f"UNWIND range(1, 2 * {CHAIN}) AS i CREATE (:{first})-[:{kind} {{i: i}}]->(:{second})")
    neo4j_2026.query(
        f"MATCH (a)-[r:{kind}]->(b) WITH a, b ORDER BY r SKIP {CHAIN // 2} LIMIT {CHAIN} "
        f"SET a:{third}, b:{fourth} REMOVE a:{first}, b:{second}"
    )
    with open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password) as driver:
        (found,) = read_schema(Database(driver, neo4j_2026.database), types=[kind]).relationship_types
    neo4j_2026.query(f"MATCH (n:{first}|{second}|{third}|{fourth}) DETACH DELETE n")

    assert (found.count, found.sampled) == (2 * CHAIN, 1_000)
    assert found.pairs == [Pair(start=first, end=second), Pair(start=third, end=fourth)]
    assert (found.other_starts, found.other_ends) == ([], [])


@pytest.mark.parametrize("others", [0, 10], ids=["few labels", "many labels"])
def test_properties_of_old_and_of_new_nodes_are_seen(
    neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, others: int
):
    """As they come to be where a schema grows: the first nodes lack what the last ones have, and the reverse."""
    monkeypatch.setattr(sample, "_BY_ID", 500)
    label = unique("Grown")
    neo4j_server.query(f"UNWIND range(1, {CHAIN}) AS i CREATE (:{label} {{i: i}})")
    neo4j_server.query(f"UNWIND range(1, {others}) AS i CREATE (:$('{label} ' + i) {{i: i}})")
    for order, name in (("", "early"), (" DESC", "late")):
        neo4j_server.query(f"MATCH (n:{label}) WITH n ORDER BY n{order} LIMIT {CHAIN // 4} SET n.{name} = n.i")
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        named = [label, *(f"{label} {number}" for number in range(1, others + 1))]
        schema = read_schema(Database(driver, neo4j_server.database), labels=named)
    remove_prefixed(neo4j_server, label)

    assert labels(schema)[label] == dict.fromkeys(["i", "early", "late"], "INTEGER")


def test_labels_whose_pair_was_not_found_are_told(neo4j_2026: Neo4jServer):
    start, other, end, late, kind = (unique(name) for name in ("A", "B", "C", "D", "HAS"))
    neo4j_2026.query(f"UNWIND range(1, 3) AS i CREATE (:{start})-[:{kind}]->(:{end})")
    neo4j_2026.query(f"CREATE (:{other})-[:{kind}]->(:{late})")

    class Missing(Database):
        """Stands for samples that one relationship is in none of, whichever are taken."""

        def read(
            self, statement: str, parameters: Mapping[str, Any] | None = None, seconds: float | None = None
        ) -> list[neo4j.Record]:
            return [row for row in super().read(statement, parameters, seconds) if row.get("ends") != [late]]

    with open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password) as driver:
        (found,) = read_schema(Missing(driver, neo4j_2026.database), types=[kind]).relationship_types
    neo4j_2026.query(f"MATCH (n:{start}|{other}|{end}|{late}) DETACH DELETE n")

    assert found.pairs == [Pair(start=start, end=end)]
    assert (found.other_starts, found.other_ends) == ([other], [late])


def test_300_labels_of_20_properties_take_less_than_two_seconds_and_fit(neo4j_server: Neo4jServer):
    prefix = unique("Wide")
    neo4j_server.query(
        f"UNWIND range(0, 299) AS l UNWIND range(1, 20) AS i CREATE (n:$('{prefix} ' + l)) SET n = $properties",
        properties={f"property_{j}": j if j % 2 else "text" for j in range(20)},
    )
    expected = {f"property_{j}": "INTEGER" if j % 2 else "STRING" for j in range(20)}
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        database = Database(driver, neo4j_server.database)
        read_schema(database)
        start = time.monotonic()
        schema = read_schema(database)
        seconds = time.monotonic() - start
        last = read_schema(database, labels=[f"{prefix} 299", f"{prefix} 7"])
    remove_prefixed(neo4j_server, prefix)

    wide = {name: found for name, found in labels(schema).items() if name.startswith(prefix)}
    assert wide == {f"{prefix} {number}": expected for number in range(300)}
    assert seconds < 2
    assert labels(last) == {f"{prefix} 299": expected, f"{prefix} 7": expected}
    short = fitted(schema, 8_000)
    assert len(schema_text(short).encode()) <= 32_000
    assert "label" in (short.notice or "")
    assert set(labels(short)) | set(short.other_labels) == set(labels(schema))


@pytest.mark.parametrize(
    ("by_id", "whole"), [(10_000, 20_000), (300, 20_000), (300, 200), (0, 0)], ids=["ids", "all", "some", "none"]
)
def test_many_labels_and_types_of_any_size_are_seen(
    neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, by_id: int, whole: int
):
    """Of 60 labels and types the tenth have 1, 2, … 60 entities: some in a sample, some read whole, some limited."""
    monkeypatch.setattr(sample, "_BY_ID", by_id)
    monkeypatch.setattr(sample, "_WHOLE", whole)
    prefix = unique("Many")
    neo4j_server.query(
        "UNWIND range(1, 60) AS size UNWIND range(1, size) AS i "
        f"CREATE (a:$('{prefix} ' + size) {{own: size, other: CASE size % 2 WHEN 0 THEN 'even' END}}) "
        f"CREATE (a)-[r:$('{prefix} ' + size) {{weight: 0.5, odd: CASE size % 2 WHEN 1 THEN true END}}]->"
        f"(:$('{prefix} end'))"
    )
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        schema = read_schema(Database(driver, neo4j_server.database))
    remove_prefixed(neo4j_server, prefix)

    named = {f"{prefix} {size}": size for size in range(1, 61)}
    nodes = {each.name: (each.count, each.sampled, each.properties) for each in schema.labels}
    joined = {each.name: (each.count, each.sampled, each.properties) for each in schema.relationship_types}
    for name, size in named.items():
        assert nodes[name] == (size, size, {"own": "INTEGER"} | ({} if size % 2 else {"other": "STRING"}))
        assert joined[name] == (size, size, {"weight": "FLOAT"} | ({"odd": "BOOLEAN"} if size % 2 else {}))
    assert {name: found for name, found in pairs(schema).items() if name in named} == {
        name: {(name, f"{prefix} end")} for name in named
    }


@pytest.mark.parametrize("kind", [sample.NODES, sample.RELATIONSHIPS], ids=["nodes", "relationships"])
def test_a_look_never_goes_through_all_entities(neo4j_server: Neo4jServer, kind: sample.Kind):
    rare, other, common = (unique(name) for name in ("Rare", "Other", "Common"))
    neo4j_server.query(f"UNWIND range(1, {CHAIN}) AS i CREATE (:{common})-[:{common}]->(:{common})")
    neo4j_server.query(f"CREATE (:{rare})-[:{rare}]->(:{other})-[:{other}]->(:{rare})")
    with open_driver(neo4j_server.uri, neo4j_server.username, neo4j_server.password) as driver:
        database = Database(driver, neo4j_server.database)
        looks = [
            database.explain(statement)
            for statement in (
                sample.highest_id_statement(kind, [rare, other]),
                sample.by_id_statement(kind),
                sample.whole_statement(kind, [rare, other]),
                *(
                    f"CALL () {{ {branch} }} RETURN place"
                    for branch in sample.branches_of(kind, common, 0, is_whole=False)
                ),
            )
        ]
    neo4j_server.query(f"MATCH (n:{rare}|{other}|{common}) DETACH DELETE n")

    assert {look.query_type for look in looks} == {"r"}
    highest, by_id, whole, oldest, newest = (set(operators(look.plan)) for look in looks)
    assert any(name.endswith("ByIdSeek") for name in by_id)
    assert whole & {"UnionNodeByLabelsScan", "DirectedUnionRelationshipTypesScan"}
    assert oldest == newest, "nothing is sorted"
    assert not any(
        "All" in name or name in ("Sort", "Top") for look in (highest, by_id, whole, newest) for name in look
    )


def remove_prefixed(server: Neo4jServer, prefix: str) -> None:
    """Remove the nodes whose labels begin so, and their relationships."""
    server.query(
        "MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH $prefix) DETACH DELETE n", prefix=prefix
    )
