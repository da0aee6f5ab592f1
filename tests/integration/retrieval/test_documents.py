"""`fetch`: the whole document of a node or a relationship, on each of the three releases."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from graphs import remove, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.errors import QuestionError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.documents import WholeDocument, fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

VECTOR = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
PLAIN = PlainJson(frozenset({"emb"}), frozenset({8}))
PLOT = "A thief who steals secrets through dreams is given the task of planting an idea. " * 500
REVIEW = "It begins where other films end, and it does not end at all; I have seen it seven times since it came out."


@dataclass(frozen=True)
class Shelf:
    """A film, who rated it, and what has neither title nor label."""

    label: str
    film: str
    ann: str
    rated: str
    plain_rated: str
    bare: str
    self_loop: str


@pytest.fixture(scope="module")
def shelf(neo4j_server: Neo4jServer) -> Iterator[Shelf]:
    label = unique("label")
    [ids] = neo4j_server.query(
        f"""
        CREATE (film:{label}:Film {{title: 'Inception', plot: $plot, year: 2010, url: 'https://example.org/inception',
          released: date('2010-07-16'), seen: [datetime('2010-07-17T20:00:00+02:00')], emb: $vector, shape: $vector}})
        CREATE (ann:{label} {{name: 'Ann', emb: $vector}})
        CREATE (ann)-[rated:RATED {{stars: 5, review: $review, on: date('2011-01-02'), emb: $vector}}]->(film)
        CREATE (film)-[plain_rated:RATED]->(ann)
        CREATE (bare) SET bare.i = 7, bare.marker = $label, bare.day = date({{year: -43, month: 3, day: 15}})
        CREATE (bare)-[self_loop:IS]->(bare)
        RETURN elementId(film) AS film, elementId(ann) AS ann, elementId(rated) AS rated, elementId(bare) AS bare,
          elementId(plain_rated) AS plain_rated, elementId(self_loop) AS self_loop
        """,
        plot=PLOT,
        review=REVIEW,
        vector=VECTOR,
        label=label,
    )
    yield Shelf(label, **{name: str(value) for name, value in ids.items()})
    remove(neo4j_server, label)
    neo4j_server.query("MATCH (n {marker: $label}) DETACH DELETE n", label=label)


def test_a_node_is_its_title_its_text_its_address_and_the_rest(database: Database, shelf: Shelf):
    assert fetch(database, f" {shelf.film}\n", PLAIN) == WholeDocument(
        id=shelf.film,
        title="Inception",
        text=PLOT,
        url="https://example.org/inception",
        metadata={
            "labels": sorted(["Film", shelf.label]),
            "title": "Inception",
            "year": 2010,
            "url": "https://example.org/inception",
            "released": "2010-07-16",
            "seen": ["2010-07-17T20:00:00+02:00"],
        },
    )


def test_a_relationship_is_about_its_ends(database: Database, shelf: Shelf):
    found = fetch(database, shelf.rated, PLAIN)

    assert (found.id, found.title, found.text) == (shelf.rated, "Ann RATED Inception", REVIEW)
    assert found.url == f"neo4j:{database.name}/{shelf.rated}"
    assert found.metadata["start"] == {"id": shelf.ann, "labels": [shelf.label], "properties": {"name": "Ann"}}
    assert found.metadata["end"]["id"] == shelf.film
    assert found.metadata["end"]["properties"]["released"] == "2010-07-16"
    assert {name: found.metadata[name] for name in ("type", "stars", "on")} == {
        "type": "RATED",
        "stars": 5,
        "on": "2011-01-02",
    }
    assert "0.3" not in json.dumps(found.model_dump(mode="json"))


def test_a_relationship_without_properties_has_its_title_as_text(database: Database, shelf: Shelf):
    found = fetch(database, shelf.plain_rated, PLAIN)
    assert (found.title, found.text) == ("Inception RATED Ann",) * 2


def test_a_node_without_labels_and_title_is_all_its_properties(database: Database, shelf: Shelf):
    found = fetch(database, shelf.bare, PLAIN)
    assert found.title == f"node {shelf.bare}"
    assert sorted(found.text.splitlines()) == ["day: -0043-03-15", "i: 7", f"marker: {shelf.label}"]
    assert found.metadata == {"labels": [], "i": 7, "marker": shelf.label, "day": "-0043-03-15"}


def test_a_relationship_from_a_node_to_itself_has_both_ends(database: Database, shelf: Shelf):
    found = fetch(database, shelf.self_loop, PLAIN)
    assert found.metadata["start"]["id"] == found.metadata["end"]["id"] == shelf.bare
    assert found.title == f"{shelf.bare} IS {shelf.bare}"


def test_an_id_that_is_gone_says_to_search_again(neo4j_server: Neo4jServer, database: Database, shelf: Shelf):
    [made] = neo4j_server.query(f"CREATE (n:{shelf.label}) RETURN elementId(n) AS id")
    neo4j_server.query(f"MATCH (n:{shelf.label}) WHERE elementId(n) = $id DELETE n", id=made["id"])
    for gone in (str(made["id"]), "nonsense", "", "4:é:0", "` OR true"):
        with pytest.raises(QuestionError) as caught:
            fetch(database, gone, PLAIN)
        assert str(caught.value) == (
            f"No element has the id '{gone}': ids change when data is loaded anew, so search again and take an id of "
            "its results."
        )


def test_a_database_that_is_away_is_told_as_that(shelf: Shelf):
    with open_driver("bolt://127.0.0.1:1", "neo4j", "none") as driver, pytest.raises(UnavailableError, match="reached"):
        fetch(Database(driver, "neo4j"), shelf.film, PLAIN)
