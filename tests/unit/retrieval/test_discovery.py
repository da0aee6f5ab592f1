"""Which properties of a sample are worth a filter, and what is told of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.database.sample import Property, Sample
from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered, discover, how_to_begin, offered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_neo4j_vector_graphrag.database.connection import Database


def sample(*properties: Property, size: int = 100) -> Sample:
    return Sample(size, {known.name: known for known in properties})


def common(name: str, *types: str, count: int = 100, **more: Any) -> Property:
    return Property(name, types or ("STRING",), count=count, **more)


@pytest.mark.parametrize(
    ("known", "is_offered"),
    [
        (common("a"), True),
        (common("a", count=50), True),
        (common("a", count=49), False),
        (common("a", count=1, in_index=True), True),
        (Property("a", (), in_index=True), True),
        (common("a", "LIST<STRING>"), False),
        (common("a", "LIST<STRING>", in_index=True), False),
        (common("a", "POINT", in_index=True), False),
        (common("a", "INTEGER", "STRING"), True),
        (common("a", "INTEGER", "LIST<INTEGER>"), False),
        (common("a", values=("x" * 80,)), False),
        (common("a", values=("x" * 79,)), True),
        (common("a", values=("x" * 80,), in_index=True), True),
    ],
)
def test_a_filter_is_worth_it_in_the_index_or_if_common_and_scalar(known: Property, *, is_offered: bool):
    assert list(offered(sample(known), 8)) == (["a"] if is_offered else [])


def test_those_in_the_index_come_first_then_the_commonest_up_to_the_limit():
    found = sample(
        common("rare", count=60),
        common("b", count=90),
        common("a", count=90),
        common("inside", count=10, in_index=True),
        common("all", count=100),
    )
    assert list(offered(found, 8)) == ["inside", "all", "a", "b", "rare"]
    assert list(offered(found, 2)) == ["inside", "all"]
    assert offered(found, 0) == {}


class Row(dict[str, Any]):
    """A record as far as it is used."""

    def data(self) -> dict[str, Any]:
        return dict(self)


class Told:
    """A database that answers each statement by the first key that is in it, and keeps what it was asked."""

    def __init__(self, answers: Mapping[str, list[dict[str, Any]]]) -> None:
        self._answers = answers
        self.asked: list[str] = []
        self.sampled: list[str] = []
        """The indexes that a sample was taken from."""

    def read(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        self.asked.append(statement)
        if "$sides" in statement:
            self.sampled.append((parameters or {})["index"])
        return [Row(row) for row in next(rows for key, rows in self._answers.items() if key in statement)]


def index_row(
    name: str, state: str = "ONLINE", labels: tuple[str, ...] = ("Doc",), dimensions: int | None = 3
) -> dict[str, Any]:
    return {
        "name": name,
        "type": "VECTOR",
        "entityType": "NODE",
        "labelsOrTypes": list(labels),
        "properties": ["emb"],
        "config": {} if dimensions is None else {"vector.dimensions": dimensions},
        "state": state,
    }


def seen(database: Told) -> list[Discovered]:
    return discover(cast("Database", database), read_indexes(cast("Database", database)).online)


def test_only_indexes_that_are_online_are_searchable_and_they_come_by_name():
    database = Told(
        {
            "SHOW INDEXES": [
                index_row("b"),
                index_row("building", "POPULATING"),
                index_row("a", labels=("Doc", "Page")),
                index_row("broken", "FAILED"),
            ],
            "`Page`": [{"count": 7}, {"count": 5}],
            "count(n)": [{"count": 7}],
            "$sides": [],
        }
    )
    found = seen(database)
    assert [(each.index.name, each.count) for each in found] == [("a", 12), ("b", 7)]
    assert sorted(database.sampled) == ["a", "b"]
    assert len(database.asked) == 1 + 2 * len(found)


def test_an_index_that_tells_no_dimensions_costs_one_round_trip_more():
    database = Told(
        {"SHOW INDEXES": [index_row("a", dimensions=None)], "$sides": [], "size(n.": [], "count(n)": [{"count": 0}]}
    )
    assert [each.sample for each in seen(database)] == [Sample(0, {})]
    assert len(database.asked) == 4


def test_no_index_costs_no_round_trip_more():
    database = Told({"SHOW INDEXES": []})
    assert seen(database) == []
    assert len(database.asked) == 1


def test_the_statement_to_begin_with_is_for_the_label_with_most_vectors():
    database = Told(
        {
            "SHOW INDEXES": [],
            "db.labels": [{"label": "Few"}, {"label": "Odd `one`"}],
            "UNWIND keys(n)": [
                {"place": 0, "key": "v", "dimensions": 64, "count": 3},
                {"place": 1, "key": "my emb", "dimensions": 512, "count": 20},
            ],
        }
    )
    assert how_to_begin(cast("Database", database)) == (
        "Create one: CREATE VECTOR INDEX `Odd ``one``_my emb` FOR (n:`Odd ``one```) ON n.`my emb` "
        "OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine'}}"
    )


@pytest.mark.parametrize("labels", [[], [{"label": "Doc"}]])
def test_without_anything_like_a_vector_the_first_step_is_to_embed(labels: list[dict[str, Any]]):
    said = how_to_begin(cast("Database", Told({"SHOW INDEXES": [], "db.labels": labels, "UNWIND keys(n)": []})))
    assert said.startswith("No property looks like a vector: embed your texts into one, then CREATE VECTOR INDEX ")
