"""What an operator fixes holds for every search: a caller's filters narrow it, and learn nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from graphs import DIMENSIONS, nearest, remove, unique, vectors
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from servers import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

NEWEST = "2026.09.0"
QUESTION = [float(value) for value in vectors(1, seed=3)[0]]
EMBEDDINGS = vectors()
ENTITIES: list[dict[str, Any]] = [
    {
        "i": i,
        "year": 1980 + i,
        "lang": ("en", "de", "fr")[i % 3],
        "day": date(2026, 1, 1) + timedelta(days=i),
        "tags": ["a", "b"],
        "mixed": i if i % 2 else str(i),
    }
    for i in range(len(EMBEDDINGS))
]
ALLOWED = ("year", "lang", "day", "mixed")


@dataclass(frozen=True)
class Made:
    """Twenty nodes with an index, of which the newest release holds `year` and `lang`."""

    label: str
    index: str
    elsewhere: str
    """A property that only another label's node has."""


@pytest.fixture(scope="module")
def made(neo4j_server: Neo4jServer) -> Iterator[Made]:
    label, index, elsewhere = unique("Film"), unique("films"), unique("elsewhere")
    neo4j_server.query(
        f"CREATE (:{label}Other {{{elsewhere}: 1}}) WITH 1 AS one UNWIND $rows AS row "
        f"CREATE (n:{label} {{emb: row.emb}}) SET n += row.of",
        rows=[{"of": one, "emb": EMBEDDINGS[one["i"]].tolist()} for one in ENTITIES],
    )
    is_newest = neo4j_server.version == NEWEST
    neo4j_server.query(
        f"{'CYPHER 25' if is_newest else ''} CREATE VECTOR INDEX {quoted(index)} FOR (n:{label}) ON (n.emb) "
        f"{'WITH [n.year, n.lang]' if is_newest else ''} OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSIONS}, "
        "`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}"
    )
    neo4j_server.query("CALL db.awaitIndexes()")
    yield Made(label, index, elsewhere)
    remove(neo4j_server, label, f"{label}Other", indexes=[index])


def found(
    database: Database, made: Made, fixed: dict[str, Any], filters: Any = None, names: tuple[str, ...] | None = ALLOWED
) -> list[int]:
    retriever = VectorGraphRetriever(
        database, made.index, retrieval_query="RETURN node.i AS i, score", filterable=names, fixed_filters=fixed
    )
    raw = retriever.get_search_results(query_vector=QUESTION, top_k=len(ENTITIES), filters=filters)
    assert raw.metadata is None
    return [record["i"] for record in raw.records]


def expected(holds: Callable[[dict[str, Any]], bool]) -> list[int]:
    return [i for i, _ in nearest(EMBEDDINGS, QUESTION) if holds(ENTITIES[i])]


@pytest.mark.parametrize(
    ("fixed", "filters", "holds"),
    [
        ({"lang": "en"}, None, lambda e: e["lang"] == "en"),
        ({"lang": ["en", "de"], "year": {"min": 1985}}, {}, lambda e: e["lang"] != "fr" and e["year"] >= 1985),
        ({"day": {"max": "2026-01-09"}}, None, lambda e: e["day"] <= date(2026, 1, 9)),
        ({"lang": "en"}, {"year": {"min": 1990}}, lambda e: e["lang"] == "en" and e["year"] >= 1990),
        ({"year": {"min": 1990}}, {"year": {"min": 1985}}, lambda e: e["year"] >= 1990),
        ({"year": {"min": 1990}}, {"year": {"min": 1993}}, lambda e: e["year"] >= 1993),
        ({"year": {"min": 1990}}, {"year": {"max": 1993}}, lambda e: 1990 <= e["year"] <= 1993),
        ({"year": {"min": 1990}}, {"year": 1991}, lambda e: e["year"] == 1991),
        ({"year": {"min": 1990}}, {"year": [1985, 1995]}, lambda e: e["year"] == 1995),
        ({"year": [1985, 1995]}, {"year": [1995, 1996]}, lambda e: e["year"] == 1995),
        ({"lang": "en"}, {"lang": ["en", "de"]}, lambda e: e["lang"] == "en"),
        ({"day": {"min": "2026-01-05"}}, {"day": {"min": "2026-01-01"}}, lambda e: e["day"] >= date(2026, 1, 5)),
        ({"mixed": {"min": 5}}, {"mixed": "7"}, lambda e: e["i"] == 7),
        (
            {"lang": "en"},
            [{"property": "lang", "operator": "<>", "value": "de"}],
            lambda e: e["lang"] == "en",
        ),
        ({"lang": "en"}, '{"lang": "en"}', lambda e: e["lang"] == "en"),
    ],
)
def test_a_callers_filters_narrow_what_is_fixed(
    database: Database, made: Made, fixed: dict[str, Any], filters: Any, holds: Callable[[dict[str, Any]], bool]
):
    wanted = expected(holds)
    assert wanted
    assert found(database, made, fixed, filters) == wanted


@pytest.mark.parametrize(
    ("fixed", "filters"),
    [
        ({"lang": "en"}, {"lang": "de"}),
        ({"year": {"min": 1990}}, {"year": {"max": 1985}}),
        ({"year": {"min": 1990}}, {"year": 1985}),
        ({"day": {"min": "2026-01-10"}}, {"day": {"max": "2026-01-05"}}),
        ({"lang": "en"}, [{"property": "lang", "operator": "IS NULL"}]),
        ({"lang": "en"}, [{"property": "lang", "operator": "<>", "value": "en"}]),
    ],
)
def test_where_nothing_can_meet_both_nothing_is_found_and_nothing_told(
    database: Database, made: Made, fixed: dict[str, Any], filters: Any
):
    assert found(database, made, fixed, filters) == []


def test_only_the_names_that_are_allowed_may_be_filtered_by(database: Database, made: Made):
    with pytest.raises(QuestionError) as raised:
        found(database, made, {"lang": "en"}, {"lang": "de"}, names=("year", "day"))
    assert str(raised.value) == "There is no filter 'lang'; allowed are: day, year."
    with pytest.raises(QuestionError) as raised:
        found(database, made, {"lang": "en"}, {"year": 1990}, names=())
    assert str(raised.value) == "There is no filter 'year'; allowed are: none."
    assert found(database, made, {}, {"year": 1990}, names=("year",)) == [10]


def test_no_value_of_the_data_is_told_to_whom_some_of_it_is_hidden(database: Database, made: Made):
    with pytest.raises(QuestionError) as raised:
        found(database, made, {"lang": "en"}, {"year": "soon"})
    assert str(raised.value) == 'filters.year: "soon" is no whole number; for example 2003.'


def test_a_property_of_other_entities_alone_finds_nothing(database: Database, made: Made):
    assert found(database, made, {made.elsewhere: 1}) == []
    assert found(database, made, {}, {made.elsewhere: 1}, names=(made.elsewhere,)) == []


@pytest.mark.parametrize(
    ("fixed", "names", "expected_text"),
    [
        (
            {"no_such_property_at_all": 1},
            (),
            (
                "The property 'no_such_property_at_all' is on no entity of the database: take it out of the fixed "
                "filters, or write another."
            ),
        ),
        (
            {},
            ("no_such_property_at_all",),
            (
                "The property 'no_such_property_at_all' is on no entity of the database: take it out of the filters, "
                "or write another."
            ),
        ),
        (
            {"tags": "a"},
            (),
            (
                "The property 'tags' holds values that can't be filtered by: take it out of the fixed filters, or "
                "write another."
            ),
        ),
        *(
            (
                {"year": value},
                (),
                (
                    "The fixed filter on 'year' does not fit what is stored: write a whole number, a list of such, or "
                    "bounds (min, max) where they have an order."
                ),
            )
            for value in ("p-secret", None, [], {}, {"min": None}, {"from": 1})
        ),
    ],
)
def test_fixed_filters_that_can_not_hold_are_a_fault_of_the_set_up(
    database: Database, made: Made, fixed: dict[str, Any], names: tuple[str, ...], expected_text: str
):
    with pytest.raises(SetupError) as raised:
        found(database, made, fixed, {"no_such_property_at_all": 1} if names else None, names)
    assert str(raised.value) == expected_text


def test_a_property_that_appears_later_is_seen_at_the_next_call(
    database: Database, made: Made, neo4j_server: Neo4jServer
):
    name = unique("later")
    retriever = VectorGraphRetriever(
        database, made.index, retrieval_query="RETURN node.i AS i, score", fixed_filters={name: 5}
    )
    with pytest.raises(SetupError):
        retriever.get_search_results(query_vector=QUESTION)
    neo4j_server.query(f"MATCH (n:{made.label} {{i: 7}}) SET n.{name} = 5")
    assert [record["i"] for record in retriever.get_search_results(query_vector=QUESTION).records] == [7]
