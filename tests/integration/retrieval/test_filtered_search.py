"""What a search with filters returns, against brute force: no row that exists is missing, whatever the server."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from neo4j.exceptions import Neo4jError

from embedders import KnownTexts
from graphs import DIMENSIONS, SIZE, create_index, nearest, remove, unique, vectors
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import QuestionError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval import fallback
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from releases import ON_NEWEST
from servers import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import neo4j
    from numpy.typing import NDArray

    from mcp_neo4j_vector_graphrag.database.capabilities import Capabilities
    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

QUESTION = [float(value) for value in vectors(1, seed=1)[0]]
EMBEDDINGS = vectors()
RETURN_I = "RETURN 'x' AS text, node.i AS i, score"
NEWEST = "2026.09.0"

Entity = dict[str, Any]
Predicate = Callable[[Entity], bool]

ZONES = (UTC, timezone(timedelta(hours=2)), timezone(timedelta(hours=-5)))
FIRST = datetime(2026, 1, 1, tzinfo=UTC)

ENTITIES: list[Entity] = [
    {
        "i": i,
        "year": 1980 + i,
        "lang": ("en", "de", "fr")[i % 3],
        "ok": i % 2 == 0,
        "rating": i / 4,
        "when": (FIRST + timedelta(hours=6 * i)).astimezone(ZONES[i % 3]),
        "day": date(2026, 1, 1) + timedelta(days=i),
        "local": datetime(2026, 1, 1) + timedelta(hours=6 * i),  # noqa: DTZ001 - stored without a zone
        "title": f"Film {i}: {'a Shark at sea' if i % 4 == 0 else 'dreams'}",
        "note": "noted" if i % 5 == 0 else None,
        "mixed": i if i % 2 else str(i),
        "sometimes": FIRST + timedelta(hours=6 * i) if i % 2 else "2026-01-02",
        "number": i if i % 2 else i + 0.5,
    }
    for i in range(SIZE)
]
IN_INDEX = ("year", "lang", "ok", "rating", "when", "mixed", "number")
"""What the newest release's index holds."""


def create_filtered_index(  # noqa: PLR0913 - a vector index has so many parts
    server: Neo4jServer,
    name: str,
    labels: str,
    filters: Sequence[str] = (),
    *,
    on: str = "node",
    similarity: str = "cosine",
    dimensions: int = DIMENSIONS,
) -> None:
    """Create an index that is exact, with filters inside where the release has such."""
    if server.version != NEWEST or not filters:
        create_index(server, name, labels, on=on, similarity=similarity, dimensions=dimensions)
        return
    pattern = f"(e:{labels})" if on == "node" else f"()-[e:{labels}]-()"
    server.query(
        f"CYPHER 25 CREATE VECTOR INDEX {quoted(name)} FOR {pattern} ON e.emb "
        f"WITH [{', '.join(f'e.{quoted(one)}' for one in filters)}] OPTIONS {{indexConfig: {{"
        f"`vector.dimensions`: {dimensions}, `vector.similarity_function`: '{similarity}', "
        "`vector.quantization.type`: 'NONE'}}"
    )
    server.query("CALL db.awaitIndexes()")


@dataclass(frozen=True)
class Made:
    """Twenty nodes and as many relationships with the same properties, and an index on each."""

    server: Neo4jServer
    label: str
    nodes: str
    relationships: str

    @property
    def filters_inside(self) -> bool:
        return self.server.version == NEWEST


@pytest.fixture(scope="module")
def made(neo4j_server: Neo4jServer) -> Iterator[Made]:
    label, kind, nodes, relationships = (unique(part) for part in ("Film", "REVIEWS", "films", "reviews"))
    rows = [{"of": one, "emb": EMBEDDINGS[one["i"]].tolist()} for one in ENTITIES]
    neo4j_server.query(
        f"UNWIND $rows AS row CREATE (n:{label} {{emb: row.emb}}) SET n += row.of "
        f"CREATE (:{label}Critic {{name: 'critic ' + n.i}})-[r:{kind} {{emb: row.emb}}]->(n) SET r += row.of",
        rows=rows,
    )
    create_filtered_index(neo4j_server, nodes, label, IN_INDEX)
    create_filtered_index(neo4j_server, relationships, kind, IN_INDEX, on="relationship")
    yield Made(neo4j_server, label, nodes, relationships)
    remove(neo4j_server, label, f"{label}Critic", indexes=[nodes, relationships])


@dataclass(frozen=True)
class Found:
    """What a search returned."""

    ids: list[int]
    scores: list[float]
    notice: str | None


def search(retriever: VectorGraphRetriever, filters: Any, top_k: int = 5) -> Found:
    raw = retriever.get_search_results(query_vector=QUESTION, top_k=top_k, filters=filters)
    return Found(
        [record["i"] for record in raw.records],
        [record["score"] for record in raw.records],
        (raw.metadata or {}).get("notice"),
    )


def expected(
    holds: Predicate,
    entities: Sequence[Entity] = ENTITIES,
    embeddings: NDArray[np.float64] = EMBEDDINGS,
    similarity: str = "cosine",
) -> list[tuple[int, float]]:
    return [(i, score) for i, score in nearest(embeddings, QUESTION, similarity) if holds(entities[i])]


def assert_same(found: Found, wanted: list[tuple[int, float]]) -> None:
    assert found.ids == [i for i, _ in wanted]
    assert found.scores == pytest.approx([score for _, score in wanted], abs=1e-4)
    assert found.notice is None


def at(hours: float) -> datetime:
    return FIRST + timedelta(hours=hours)


def day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


CASES: dict[str, tuple[Any, Predicate]] = {
    "value": ({"lang": "en"}, lambda e: e["lang"] == "en"),
    "text-for-a-number": ({"year": "1990"}, lambda e: e["year"] == 1990),
    "boolean-as-text": ({"ok": "true"}, lambda e: e["ok"]),
    "range": ({"year": {"min": 1985, "max": "1995"}}, lambda e: 1985 <= e["year"] <= 1995),
    "one-bound": ({"rating": {"min": 2}}, lambda e: e["rating"] >= 2),
    "strict": ({"rating": {"$gt": 2, "$lt": 4}}, lambda e: 2 < e["rating"] < 4),
    "one-of": ({"lang": ["en", "fr"]}, lambda e: e["lang"] in ("en", "fr")),
    "one-of-numbers": ({"year": [1981, "1999", 1776]}, lambda e: e["year"] in (1981, 1999)),
    "several": (
        {"lang": "en", "ok": True, "year": {"min": 1983}},
        lambda e: e["lang"] == "en" and e["ok"] and e["year"] >= 1983,
    ),
    "json-text": ('{"lang": "de", "year": {"max": 1990}}', lambda e: e["lang"] == "de" and e["year"] <= 1990),
    "list-as-json-text": ({"lang": '["en", "fr"]'}, lambda e: e["lang"] in ("en", "fr")),
    "list-and-range-of-one": (
        [
            {"property": "year", "operator": "in", "value": [1981, 1985, 1995]},
            {"property": "year", "operator": ">", "value": 1983},
        ],
        lambda e: e["year"] in (1985, 1995),
    ),
    "unequal": ([{"property": "lang", "operator": "<>", "value": "en"}], lambda e: e["lang"] != "en"),
    "outside-value": ({"title": "Film 3: dreams"}, lambda e: e["title"] == "Film 3: dreams"),
    "outside-date": (
        {"day": {"min": "2026-01-05", "max": "2026-01-09"}},
        lambda e: date(2026, 1, 5) <= e["day"] <= date(2026, 1, 9),
    ),
    "inside-and-outside": (
        {"lang": "en", "day": {"min": "2026-01-05"}},
        lambda e: e["lang"] == "en" and e["day"] >= date(2026, 1, 5),
    ),
    "contains": (
        [{"property": "title", "operator": "CONTAINS", "value": "Shark"}],
        lambda e: "Shark" in e["title"],
    ),
    "starts-with": (
        [{"property": "title", "operator": "starts with", "value": "Film 1"}],
        lambda e: e["title"].startswith("Film 1"),
    ),
    "ends-with": (
        [{"property": "title", "operator": "ENDS WITH", "value": "dreams"}],
        lambda e: e["title"].endswith("dreams"),
    ),
    "starts-with-in-index": (
        [{"property": "lang", "operator": "STARTS WITH", "value": "f"}],
        lambda e: e["lang"] == "fr",
    ),
    "is-null": ([{"property": "note", "operator": "IS NULL"}], lambda e: e["note"] is None),
    "is-not-null": ([{"property": "note", "operator": "IS NOT NULL"}], lambda e: e["note"] is not None),
    "null-and-range": (
        [{"property": "year", "operator": "IS NOT NULL"}, {"property": "year", "operator": "<", "value": 1990}],
        lambda e: e["year"] < 1990,
    ),
    "mixed-number": ({"mixed": 7}, lambda e: e["mixed"] == 7),
    "mixed-text": ({"mixed": "8"}, lambda e: e["mixed"] == "8"),
    "mixed-list": ({"mixed": [7, 8, "10", "x"]}, lambda e: e["mixed"] in (7, "8", "10")),
    "mixed-range": ({"mixed": {"min": 7}}, lambda e: float(e["mixed"]) >= 7),
    "mixed-unequal": (
        [{"property": "mixed", "operator": "<>", "value": "8"}],
        lambda e: e["mixed"] not in (8, "8"),
    ),
    "whole-and-other-numbers": ({"number": {"min": 3, "max": 8.5}}, lambda e: 3 <= e["number"] <= 8.5),
    "whole-or-other-number": ({"number": "6.5"}, lambda e: e["number"] == 6.5),
    "zoned-instant-in-another-zone": ({"when": "2026-01-02T01:00:00+07:00"}, lambda e: e["when"] == at(18)),
    "zoned-instant-without-zone": ({"when": "2026-01-01T18:00:00"}, lambda e: e["when"] == at(18)),
    "zoned-day": ({"when": "2026-01-02"}, lambda e: day_of(e["when"]) == date(2026, 1, 2)),
    "zoned-days": (
        {"when": ["2026-01-02", "2026-01-04", "2026-01-01T06:00:00Z"]},
        lambda e: day_of(e["when"]) in (date(2026, 1, 2), date(2026, 1, 4)) or e["when"] == at(6),
    ),
    "zoned-range-of-days": (
        {"when": {"min": "2026-01-02", "max": "2026-01-03"}},
        lambda e: date(2026, 1, 2) <= day_of(e["when"]) <= date(2026, 1, 3),
    ),
    "zoned-range-of-instants": (
        {"when": {"min": "2026-01-01T18:00:00+00:00", "max": "2026-01-03T00:00:00Z"}},
        lambda e: at(18) <= e["when"] <= at(48),
    ),
    "zoned-strict": (
        {"when": {"$gt": "2026-01-02T02:00:00+02:00", "$lt": "2026-01-03"}},
        lambda e: at(24) < e["when"] < at(48),
    ),
    "zoned-unequal": (
        [{"property": "when", "operator": "<>", "value": "2026-01-02"}],
        lambda e: day_of(e["when"]) != date(2026, 1, 2),
    ),
    "zoned-and-another": (
        {"when": {"max": "2026-01-03"}, "lang": "de"},
        lambda e: day_of(e["when"]) <= date(2026, 1, 3) and e["lang"] == "de",
    ),
    "ends-of-time": ({"when": {"min": "0001-01-01", "max": "9999-12-31"}}, lambda _: True),
    "local-day": ({"local": "2026-01-02"}, lambda e: e["local"].date() == date(2026, 1, 2)),
    "local-range": (
        {"local": {"min": "2026-01-01T12:00:00", "max": "2026-01-02"}},
        lambda e: datetime(2026, 1, 1, 12) <= e["local"] < datetime(2026, 1, 3),  # noqa: DTZ001
    ),
    "sometimes-a-time": (
        {"sometimes": "2026-01-02"},
        lambda e: (
            e["sometimes"] == "2026-01-02"
            if isinstance(e["sometimes"], str)
            else day_of(e["sometimes"]) == date(2026, 1, 2)
        ),
    ),
    "none-matches": ({"year": 1776}, lambda _: False),
    "none-matches-outside": ({"title": "nothing"}, lambda _: False),
}


PERMUTATIONS = (
    *("text-for-a-number", "boolean-as-text", "one-bound", "one-of-numbers", "several", "json-text"),
    *("outside-value", "starts-with-in-index", "null-and-range", "mixed-text", "whole-or-other-number"),
    *("zoned-instant-without-zone", "zoned-range-of-instants", "zoned-and-another", "ends-of-time"),
    "none-matches-outside",
)
"""Cases that make no other Cypher than the rest, on a release whose indexes hold no filters."""


@pytest.fixture(scope="module")
def warm(database: Database, made: Made) -> VectorGraphRetriever:
    """Return a retriever on the nodes that tests share."""
    return VectorGraphRetriever(database, made.nodes, retrieval_query=RETURN_I)


@pytest.fixture(scope="module")
def warm_on_relationships(database: Database, made: Made) -> VectorGraphRetriever:
    query = "RETURN 'x' AS text, relationship.i AS i, score, startNode(relationship).name AS critic"
    return VectorGraphRetriever(database, made.relationships, retrieval_query=query)


@pytest.fixture(scope="module")
def warm_in_cypher_5(database: Database, made: Made) -> VectorGraphRetriever:
    return VectorGraphRetriever(database, made.nodes, retrieval_query=f"CYPHER 5 {RETURN_I};")


@pytest.mark.parametrize("case", [case for case in CASES if case not in PERMUTATIONS])
def test_filtered_results_are_those_of_brute_force(warm: VectorGraphRetriever, case: str):
    assert_case(warm, case)


@ON_NEWEST
@pytest.mark.parametrize("case", PERMUTATIONS)
def test_filtered_results_are_those_of_brute_force_in_every_permutation(warm: VectorGraphRetriever, case: str):
    assert_case(warm, case)


def assert_case(warm: VectorGraphRetriever, case: str) -> None:
    filters, holds = CASES[case]
    wanted = expected(holds)
    assert_same(search(warm, filters, top_k=5), wanted[:5])
    assert_same(search(warm, filters, top_k=2 * SIZE), wanted)


@pytest.mark.parametrize(
    "case", ["value", "one-of", "inside-and-outside", "contains", "zoned-days", "zoned-range-of-days", "mixed-list"]
)
def test_relationships_are_filtered_too_and_come_once_each(warm_on_relationships: VectorGraphRetriever, case: str):
    filters, holds = CASES[case]
    assert_same(search(warm_on_relationships, filters, top_k=2 * SIZE), expected(holds))


@pytest.mark.parametrize(
    "case", ["value", "one-of", "outside-date", "inside-and-outside", "zoned-days", "none-matches"]
)
def test_a_retrieval_query_in_cypher_5_is_filtered_too(warm_in_cypher_5: VectorGraphRetriever, case: str):
    filters, holds = CASES[case]
    assert_same(search(warm_in_cypher_5, filters, top_k=6), expected(holds)[:6])


class Watched(Database):
    """Keeps what is read, and may know less of its server or lose some statements."""

    def __init__(self, like: Database) -> None:
        super().__init__(like.driver, like.name, like.read_timeout)
        self.statements: list[str] = []
        self.known: Capabilities | None = None
        self.loses: tuple[str, Exception] | None = None

    @property
    def capabilities(self) -> Capabilities:
        return self.known or super().capabilities

    def read(
        self, statement: str, parameters: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> list[neo4j.Record]:
        self.statements.append(statement)
        if self.loses and self.loses[0] in statement:
            raise self.loses[1]
        return super().read(statement, parameters, seconds)

    def kinds(self) -> list[str]:
        """Return what was asked in the search itself, in order."""
        marks = {
            "RETURN size(hits) AS matched, hits[": "pool",
            "AS found": "bounded scan",
            "RETURN size(hits) AS matched, hits": "full scan",
            "UNWIND $hits": "retrieval",
        }
        names = [next((name for mark, name in marks.items() if mark in text), None) for text in self.statements]
        return [name for name in names if name]


@pytest.mark.parametrize("case", ["one-of", "list-and-range-of-one", "mixed-list"])
def test_lists_that_an_early_2026_can_not_take_inside_find_the_same(
    neo4j_2026: Neo4jServer, made_2026: Made, case: str
):
    driver = open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password)
    watched = Watched(Database(driver, neo4j_2026.database))
    watched.known = replace(watched.capabilities, in_list_filter=False)
    filters, holds = CASES[case]
    found = search(VectorGraphRetriever(watched, made_2026.nodes, retrieval_query=RETURN_I), filters, top_k=6)
    driver.close()

    assert_same(found, expected(holds)[:6])
    assert watched.kinds(), "not within the index"


@pytest.fixture(scope="module")
def made_2026(neo4j_2026: Neo4jServer) -> Iterator[Made]:
    label, index = unique("Film"), unique("films")
    neo4j_2026.query(
        f"UNWIND $rows AS row CREATE (n:{label} {{emb: row.emb}}) SET n += row.of",
        rows=[{"of": one, "emb": EMBEDDINGS[one["i"]].tolist()} for one in ENTITIES],
    )
    create_filtered_index(neo4j_2026, index, label, IN_INDEX)
    yield Made(neo4j_2026, label, index, "")
    remove(neo4j_2026, label, indexes=[index])


@pytest.mark.parametrize(
    "filters", [{"lang": "en"}, {"lang": ["en", "de"]}, {"year": {"min": 1985, "max": 1995}, "when": "2026-01-02"}]
)
def test_filters_inside_the_index_cost_one_round_trip(
    neo4j_2026: Neo4jServer, made_2026: Made, caplog: pytest.LogCaptureFixture, filters: Any
):
    driver = open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password)
    embedder = KnownTexts({"what?": QUESTION})
    retriever = VectorGraphRetriever(
        Database(driver, neo4j_2026.database), made_2026.nodes, embedder=embedder, retrieval_query=RETURN_I
    )
    retriever.search(query_text="what?", filters=filters)
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        assert retriever.search(query_text="what?", filters=filters).items
    sent = (re.search(r"C: ([A-Z]+) ", record.getMessage() + " ") for record in caplog.records)
    driver.close()

    assert [match[1] for match in sent if match] == ["RUN", "PULL"]
    assert embedder.calls == 2


def test_a_question_is_embedded_once_however_many_statements_it_takes(database: Database, made: Made):
    embedder = KnownTexts({"what?": QUESTION})
    watched = Watched(database)
    retriever = VectorGraphRetriever(
        watched, made.nodes, embedder=embedder, retrieval_query="RETURN node.i AS i, $query_text AS text, score"
    )
    found = retriever.search(query_text="what?", filters={"title": "Film 3: dreams"}).items

    assert [item.content for item in found] == ["what?"]
    assert watched.kinds() == ["pool", "bounded scan", "retrieval"]
    assert embedder.calls == 1


@pytest.mark.parametrize("case", ["outside-date", "contains", "inside-and-outside"])
def test_the_nearest_need_not_match_and_no_row_is_missing(database: Database, made: Made, case: str):
    filters, holds = CASES[case]
    watched = Watched(database)
    retriever = VectorGraphRetriever(watched, made.nodes, retrieval_query=RETURN_I, candidates=1)
    wanted = expected(holds)[:3]
    assert_same(search(retriever, filters, top_k=3), wanted)
    assert watched.kinds() == ["pool", "bounded scan", "retrieval"]


def test_five_rows_come_although_the_five_nearest_do_not_match(database: Database, neo4j_server: Neo4jServer):
    label, index = unique("Ranked"), unique("ranked")
    order = [i for i, _ in nearest(EMBEDDINGS, QUESTION)]
    neo4j_server.query(
        f"UNWIND $rows AS row CREATE (n:{label}) SET n = row",
        rows=[
            {"i": i, "emb": EMBEDDINGS[i].tolist(), "fits": 5 <= rank < 15, "inside": 5 <= rank < 15}
            for rank, i in enumerate(order)
        ],
    )
    create_filtered_index(neo4j_server, index, label, ["inside"])
    for filters in ({"inside": True}, {"fits": True}):
        retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_I, candidates=5)
        assert search(retriever, filters).ids == order[5:10]
    remove(neo4j_server, label, indexes=[index])


def test_pools_grow_until_enough_of_them_match_and_the_answer_says_so(
    database: Database, made: Made, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fallback, "SCAN_BOUND", 3)
    watched = Watched(database)
    retriever = VectorGraphRetriever(watched, made.nodes, retrieval_query=RETURN_I, candidates=1)
    found = search(retriever, {"day": {"min": "2026-01-01"}}, top_k=1)

    assert found.ids == [nearest(EMBEDDINGS, QUESTION)[0][0]]
    assert found.notice == (
        "Approximate: the filters were applied to the nearest 10 entries, since the index can't check them."
    )
    assert watched.kinds() == ["pool", "bounded scan", "pool", "retrieval"]


def test_the_first_pool_is_enough_where_many_match(database: Database, made: Made):
    watched = Watched(database)
    retriever = VectorGraphRetriever(watched, made.nodes, retrieval_query=RETURN_I)
    found = search(retriever, {"day": {"min": "2026-01-01"}}, top_k=4)

    assert found.ids == [i for i, _ in nearest(EMBEDDINGS, QUESTION)[:4]]
    assert str(found.notice).startswith("Approximate: ")
    assert watched.kinds() == ["pool", "retrieval"]


def test_where_no_pool_is_enough_all_that_match_are_compared(
    database: Database, made: Made, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fallback, "SCAN_BOUND", 1)
    watched = Watched(database)
    retriever = VectorGraphRetriever(watched, made.nodes, retrieval_query=RETURN_I, candidates=5)
    filters, holds = CASES["outside-date"]
    assert_same(search(retriever, filters, top_k=4), expected(holds)[:4])
    assert watched.kinds() == [*("pool", "bounded scan"), *["pool"] * 4, "full scan", "retrieval"]


SCANS = pytest.mark.parametrize(
    ("similarity", "everything"), [("cosine", False), ("euclidean", True)], ids=["cosine-bounded", "euclidean-full"]
)
"""Both functions and both scans; which goes with which is seen in their texts."""

TIMEOUT = Neo4jError._basic_hydrate(  # the driver has no public way to make one
    neo4j_code="Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", message="ended"
)


@pytest.mark.parametrize("error", [TIMEOUT, UnavailableError("late")], ids=["ended", "silent"])
def test_a_scan_that_takes_too_long_gives_what_is_known_and_says_so(
    database: Database, made: Made, monkeypatch: pytest.MonkeyPatch, error: Exception
):
    monkeypatch.setattr(fallback, "SCAN_BOUND", 1)
    watched = Watched(database)
    retriever = VectorGraphRetriever(watched, made.nodes, retrieval_query=RETURN_I, candidates=10_000)
    watched.loses = ("AS score ORDER BY score DESC LIMIT $top_k\nWITH collect", error)
    filters, holds = CASES["outside-date"]
    found = search(retriever, filters, top_k=4)

    assert found.ids == [i for i, _ in expected(holds)[:4]], "a pool of 10,000 holds all twenty"
    assert str(found.notice).startswith("Incomplete: only the nearest 10000 entries could be filtered")


def test_a_probe_that_takes_too_long_is_no_fault(database: Database, made: Made):
    watched = Watched(database)
    watched.loses = ("AS found", TIMEOUT)
    retriever = VectorGraphRetriever(watched, made.nodes, retrieval_query=RETURN_I)
    filters, holds = CASES["outside-date"]
    assert_same(search(retriever, filters), expected(holds))
    assert "full scan" in watched.kinds()


@SCANS
def test_an_exact_scan_scores_as_the_index_does(
    database: Database, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, similarity: str, *, everything: bool
):
    label, index = unique("Place"), unique("places")
    embeddings = EMBEDDINGS * np.linspace(0.2, 5, SIZE)[:, None]  # lengths that cosine does not see
    neo4j_server.query(
        f"UNWIND range(0, {SIZE - 1}) AS i CREATE (:{label} {{i: i, odd: i % 2 = 1, emb: $v[i]}})",
        v=embeddings.tolist(),
    )
    create_index(neo4j_server, index, label, similarity=similarity)
    if everything:
        monkeypatch.setattr(fallback, "SCAN_BOUND", 1)
    watched = Watched(database)
    retriever = VectorGraphRetriever(watched, index, retrieval_query=RETURN_I, candidates=3)
    wanted = expected(lambda one: one["i"] % 2 == 1, embeddings=embeddings, similarity=similarity)
    found = search(retriever, {"odd": True}, top_k=SIZE)
    unfiltered = dict(
        zip(*(getattr(search(retriever, None, top_k=SIZE), part) for part in ("ids", "scores")), strict=True)
    )
    remove(neo4j_server, label, indexes=[index])

    assert ("full scan" if everything else "bounded scan") in watched.kinds()
    assert found.ids == [i for i, _ in wanted]
    assert found.scores == pytest.approx([score for _, score in wanted], abs=1e-4)
    assert found.scores == pytest.approx([unfiltered[i] for i in found.ids], abs=1e-4)


@SCANS
def test_what_is_no_vector_of_the_index_does_not_disturb_an_exact_scan(
    database: Database, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, similarity: str, *, everything: bool
):
    label, index = unique("Dirty"), unique("dirty")
    neo4j_server.query(
        f"UNWIND range(0, 5) AS i CREATE (:{label} {{i: i, kind: 'a', emb: $v[i]}}) "
        f"WITH count(*) AS made CREATE (:{label} {{i: 90, kind: 'a', emb: $zero}}), "
        f"(:{label} {{i: 91, kind: 'a', emb: [1.0, 2.0]}}), (:{label} {{i: 92, kind: 'a', emb: 'text'}}), "
        f"(:{label} {{i: 93, kind: 'a', emb: []}}), (:{label} {{i: 94, kind: 'a'}}), "
        f"(:{label} {{i: 95, kind: 'a', emb: 7}}), (:{label} {{i: 96, kind: 'a', emb: $texts}}), "
        f"(:{label} {{i: 97, kind: 'a', emb: $endless}}), (:{label} {{i: 98, kind: 'a', emb: $no_number}})",
        v=EMBEDDINGS[:6].tolist(),
        zero=[0.0] * DIMENSIONS,
        texts=["a"] * DIMENSIONS,
        endless=[float("inf")] * DIMENSIONS,
        no_number=[*[1.0] * (DIMENSIONS - 1), float("nan")],
    )
    create_index(neo4j_server, index, label, similarity=similarity)
    if everything:
        monkeypatch.setattr(fallback, "SCAN_BOUND", 1)
    watched = Watched(database)
    retriever = VectorGraphRetriever(watched, index, retrieval_query=RETURN_I)
    indexed = search(retriever, None, top_k=SIZE)
    try:
        found = search(retriever, {"kind": "a"}, top_k=SIZE)
    finally:
        remove(neo4j_server, label, indexes=[index])

    assert len(indexed.ids) == (7 if similarity == "euclidean" else 6), "a zero vector has a distance and no direction"
    assert ("full scan" if everything else "bounded scan") in watched.kinds()
    assert found.ids == indexed.ids
    assert found.scores == pytest.approx(indexed.scores, abs=1e-4)


def test_an_index_on_two_labels_is_filtered_over_both(neo4j_2026: Neo4jServer):
    first, second, index = unique("A"), unique("B"), unique("both")
    neo4j_2026.query(
        f"UNWIND range(0, {SIZE - 1}) AS i "
        f"FOREACH (_ IN CASE i % 2 WHEN 0 THEN [1] ELSE [] END | CREATE (:{first} {{i: i, n: i, o: i, emb: $v[i]}})) "
        f"FOREACH (_ IN CASE i % 2 WHEN 1 THEN [1] ELSE [] END | CREATE (:{second} {{i: i, n: i, o: i, emb: $v[i]}}))",
        v=EMBEDDINGS.tolist(),
    )
    create_filtered_index(neo4j_2026, index, f"{first}|{second}", ["n"])
    driver = open_driver(neo4j_2026.uri, neo4j_2026.username, neo4j_2026.password)
    retriever = VectorGraphRetriever(Database(driver, neo4j_2026.database), index, retrieval_query=RETURN_I)
    wanted = expected(lambda one: one["i"] >= 12)
    for filters in ({"n": {"min": 12}}, {"o": {"min": 12}}):
        assert_same(search(retriever, filters, top_k=SIZE), wanted)
    driver.close()
    remove(neo4j_2026, first, second, indexes=[index])


def test_a_property_with_an_odd_name_is_filtered_by(database: Database, neo4j_server: Neo4jServer):
    name = "$query_vector a` OR true // with.dots, ümläut '\""
    label, index = unique("Odd"), unique("odd")
    neo4j_server.query(
        f"UNWIND range(0, 5) AS i CREATE (:{label} {{i: i, {quoted(name)}: i % 2, {quoted(name + '2')}: i % 3, "
        "emb: $v[i]})",
        v=EMBEDDINGS[:6].tolist(),
    )
    create_filtered_index(neo4j_server, index, label, [name])
    retriever = VectorGraphRetriever(database, index, retrieval_query=RETURN_I)
    both = search(retriever, {name: 1, name + "2": [0, 2]})
    remove(neo4j_server, label, indexes=[index])

    assert_same(both, expected(lambda one: one["i"] in (3, 5), embeddings=EMBEDDINGS[:6]))


def test_a_caller_can_not_name_what_is_no_filter(database: Database, made: Made):
    retriever = VectorGraphRetriever(database, made.nodes, retrieval_query=RETURN_I)
    for name in ("a` OR true //", "emb", "nope"):
        with pytest.raises(QuestionError, match=re.escape(f"There is no filter '{name}'; allowed are: day, i, lang,")):
            search(retriever, {name: 1})
