"""`expand` on a graph made by hand: what is around an element, on each of the three releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from graphs import remove, unique
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.values import PlainJson
from mcp_neo4j_vector_graphrag.errors import QuestionError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.hops import hop_statement
from mcp_neo4j_vector_graphrag.retrieval.neighbours import Neighbour, Neighbours, neighbours_text, together
from mcp_neo4j_vector_graphrag.retrieval.walk import expand, present

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Neo4jServer

pytestmark = pytest.mark.outer_releases

VECTOR = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
PLAIN = PlainJson(frozenset({"emb"}), frozenset({8}))
LEAVES = 300


@dataclass(frozen=True)
class Circle:
    """Three people and a hub.

    `Ann -knows {i: 1}-> Bob`, `Ann -knows {i: 2}-> Bob`, `Bob -knows {i: 3}-> Cid`, `Cid -likes-> Ann`,
    `Ann -likes-> Ann`, and `hub -tags-> leaf` 300 times; Dan is alone. The attributes are names and element ids.
    """

    label: str
    knows: str
    likes: str
    tags: str
    ann: str
    bob: str
    cid: str
    dan: str
    hub: str
    first: str
    """The relationship of `i: 1`."""
    self_loop: str


@pytest.fixture(scope="module")
def circle(neo4j_server: Neo4jServer) -> Iterator[Circle]:
    names = {name: unique(name) for name in ("label", "knows", "likes", "tags")}
    label, knows, likes, tags = names.values()
    [ids] = neo4j_server.query(
        f"""
        CREATE (ann:{label}:Zoologist:Author {{name: 'Ann', born: date('1980-02-29'), emb: $vector}})
        CREATE (bob:{label} {{name: 'Bob', born: date({{year: -43, month: 3, day: 15}}), emb: 'about vectors'}})
        CREATE (cid:{label} {{name: 'Cid', shape: $vector, marks: range(1, 200), emb: ['a', 'b']}})
        CREATE (dan:{label} {{name: 'Dan'}})
        CREATE (ann)-[first:{knows} {{i: 1, since: datetime('2024-02-29T12:30:00Z'), emb: $vector}}]->(bob)
        CREATE (ann)-[:{knows} {{i: 2}}]->(bob)
        CREATE (bob)-[:{knows} {{i: 3}}]->(cid)
        CREATE (cid)-[:{likes}]->(ann)
        CREATE (ann)-[self_loop:{likes}]->(ann)
        CREATE (hub:{label} {{name: 'hub'}})
        WITH *
        CALL (hub) {{ UNWIND range(1, {LEAVES}) AS i CREATE (hub)-[:{tags}]->(:{label} {{i: i, emb: $vector}}) }}
        RETURN elementId(ann) AS ann, elementId(bob) AS bob, elementId(cid) AS cid, elementId(dan) AS dan,
          elementId(hub) AS hub, elementId(first) AS first, elementId(self_loop) AS self_loop
        """,
        vector=VECTOR,
    )
    yield Circle(**names, **{name: str(value) for name, value in ids.items()})
    remove(neo4j_server, label)


def walked(database: Database, ids: list[str], **options: Any) -> Neighbours:
    return together([expand(database, ids, **options, plain=PLAIN)])


def shape(neighbours: list[Neighbour]) -> set[tuple[int, str, frozenset[tuple[str, str, str]]]]:
    """Return the hop, the neighbour, and the type, direction and origin of each relationship."""
    return {
        (near.hop, near.id, frozenset((each.type, each.direction, each.via) for each in near.relationships))
        for near in neighbours
    }


def one(neighbours: list[Neighbour], identity: str) -> Neighbour:
    [found] = [near for near in neighbours if near.id == identity]
    return found


def test_each_neighbour_stands_once_with_all_its_relationships(database: Database, circle: Circle):
    found = walked(database, [circle.ann])

    assert shape(found.neighbours) == {
        (1, circle.bob, frozenset({(circle.knows, "out", circle.ann)})),
        (1, circle.cid, frozenset({(circle.likes, "in", circle.ann)})),
        (1, circle.ann, frozenset({(circle.likes, "out", circle.ann)})),
    }
    assert len(found.neighbours) == 3
    assert {each.properties["i"] for each in one(found.neighbours, circle.bob).relationships} == {1, 2}
    assert found.notice is None


def test_values_are_plain_and_vectors_stay_away(database: Database, circle: Circle):
    found = walked(database, [circle.ann]).neighbours

    bob, cid, ann = (one(found, each) for each in (circle.bob, circle.cid, circle.ann))
    assert bob.properties == {"name": "Bob", "born": "-0043-03-15", "emb": "about vectors"}
    assert cid.properties == {"name": "Cid", "marks": list(range(1, 201)), "emb": ["a", "b"]}
    assert ann.properties == {"name": "Ann", "born": "1980-02-29"}
    assert ann.labels == sorted(["Author", "Zoologist", circle.label])
    assert [each.properties for each in sorted(bob.relationships, key=lambda each: each.properties["i"])] == [
        {"i": 1, "since": "2024-02-29T12:30:00+00:00"},
        {"i": 2},
    ]


def test_a_vector_of_a_known_name_does_not_leave_the_database(neo4j_server: Neo4jServer, circle: Circle):
    walk = {"start": circle.ann, "via": [circle.ann], "without": [], "edge": ""}
    statement = hop_statement(vector_properties=["emb"])
    [row] = neo4j_server.query(statement, walks=[walk], read=200, limit=25, shown=10)

    assert str(row).count("0.3") == 1  # Cid's shape, of which only the length is known
    assert "'emb': None" in str(row)


@pytest.mark.parametrize(
    ("direction", "reached"),
    [("out", {"bob": "out", "ann": "out"}), ("in", {"cid": "in", "ann": "in"})],
)
def test_a_direction_is_kept_to(database: Database, circle: Circle, direction: Any, reached: dict[str, str]):
    found = walked(database, [circle.ann], direction=direction).neighbours

    assert {near.id: {each.direction for each in near.relationships} for near in found} == {
        getattr(circle, name): {points} for name, points in reached.items()
    }


def test_relationship_types_are_kept_to_in_both_hops(database: Database, circle: Circle):
    found = walked(database, [circle.ann], relationship_types=[circle.knows], depth=2)

    assert shape(found.neighbours) == {
        (1, circle.bob, frozenset({(circle.knows, "out", circle.ann)})),
        (2, circle.cid, frozenset({(circle.knows, "out", circle.bob)})),
    }
    both = walked(database, [circle.ann], relationship_types={circle.knows, circle.likes})
    assert {near.id for near in both.neighbours} == {circle.ann, circle.bob, circle.cid}


def test_the_second_hop_does_not_lead_back(database: Database, circle: Circle):
    found = walked(database, [circle.ann], depth=2)

    assert shape([near for near in found.neighbours if near.hop == 2]) == {
        (2, circle.cid, frozenset({(circle.knows, "out", circle.bob)})),
        (2, circle.bob, frozenset({(circle.knows, "in", circle.cid)})),
    }
    assert {near.start for near in found.neighbours} == {circle.ann}


def test_the_neighbours_of_a_relationship_are_its_ends(database: Database, circle: Circle):
    found = walked(database, [circle.first], relationship_types=[circle.likes], direction="out").neighbours

    assert shape(found) == {
        (1, circle.ann, frozenset({(circle.knows, "in", circle.first)})),
        (1, circle.bob, frozenset({(circle.knows, "out", circle.first)})),
    }
    assert {each.properties["since"] for near in found for each in near.relationships} == {"2024-02-29T12:30:00+00:00"}
    assert "emb" not in one(found, circle.ann).properties
    assert all("emb" not in each.properties for near in found for each in near.relationships)


def test_from_a_relationship_the_second_hop_takes_the_others(database: Database, circle: Circle):
    found = walked(database, [circle.first], depth=2).neighbours

    second = [near for near in found if near.hop == 2]
    assert shape(second) == {
        (2, circle.bob, frozenset({(circle.knows, "out", circle.ann)})),
        (2, circle.cid, frozenset({(circle.likes, "in", circle.ann), (circle.knows, "out", circle.bob)})),
        (2, circle.ann, frozenset({(circle.likes, "out", circle.ann), (circle.knows, "in", circle.bob)})),
    }
    assert [each.properties for each in one(second, circle.bob).relationships] == [{"i": 2}]


def test_a_relationship_from_a_node_to_itself_has_one_end(database: Database, circle: Circle):
    [end] = walked(database, [circle.self_loop]).neighbours
    assert (end.id, end.labels) == (circle.ann, sorted(["Author", "Zoologist", circle.label]))


def test_of_a_hub_as_many_as_the_limit_are_shown_and_the_rest_is_told(database: Database, circle: Circle):
    found = walked(database, [circle.hub, circle.ann], limit=25)

    around = [near for near in found.neighbours if near.start == circle.hub]
    assert len({near.id for near in around}) == len(around) == 25
    assert len([near for near in found.neighbours if near.start == circle.ann]) == 3
    assert found.notice == (
        f"Hop 1 from the id '{circle.hub}': only 25 neighbours are shown, there are more: name relationship_types or a "
        "direction, or raise limit (at most 100)."
    )


def test_exactly_as_many_as_the_limit_is_no_cut(database: Database, circle: Circle):
    assert walked(database, [circle.ann], limit=3).notice is None
    cut = walked(database, [circle.ann], limit=2)
    assert len(cut.neighbours) == 2
    assert "only 2 neighbours are shown" in str(cut.notice)


def test_a_hub_is_not_read_whole(neo4j_server: Neo4jServer, database: Database, circle: Circle):
    walk = {"start": circle.hub, "via": [circle.hub], "without": [], "edge": ""}
    parameters = {"walks": [walk], "read": 20, "limit": 5, "shown": 10}
    with neo4j_server.driver.session(database=database.name) as session:
        profile = session.run(f"PROFILE {hop_statement()}", parameters).consume().profile

    expanded = [step["rows"] for step in steps(profile) if step["operatorType"].startswith("Expand")]
    assert expanded == [21]
    assert not [step for step in steps(profile) if "Scan" in step["operatorType"]]


def steps(profile: Any) -> list[Any]:
    return [profile, *(step for child in profile.get("children", []) for step in steps(child))]


def test_of_a_hub_relationships_of_other_types_are_not_read(
    neo4j_server: Neo4jServer, database: Database, circle: Circle
):
    rare = unique("rare")
    neo4j_server.query(
        f"MATCH (hub) WHERE elementId(hub) = $hub CREATE (hub)-[:{rare}]->(:{circle.label})", hub=circle.hub
    )
    found = walked(database, [circle.hub], relationship_types=[rare])
    walk = {"start": circle.hub, "via": [circle.hub], "without": [], "edge": ""}
    parameters = {"walks": [walk], "read": 200, "limit": 5, "shown": 10}
    with neo4j_server.driver.session(database=database.name) as session:
        profile = session.run(f"PROFILE {hop_statement([rare])}", parameters).consume().profile
    neo4j_server.query(f"MATCH ()-[r:{rare}]->(n) DETACH DELETE n")

    assert len(found.neighbours) == 1
    assert found.notice is None
    assert sum(step.get("dbHits", 0) for step in steps(profile)) < LEAVES


def test_the_nodes_of_the_first_hop_take_turns_in_the_second(
    neo4j_server: Neo4jServer, database: Database, circle: Circle
):
    """A hub among them would take all the room."""
    label, near = unique("label"), unique("near")
    [ids] = neo4j_server.query(
        f"CREATE (s:{label})-[:{near}]->(:{label} {{name: 'quiet'}})-[:{near}]->(q:{label}) WITH s, q "
        f"MATCH (hub) WHERE elementId(hub) = $hub CREATE (s)-[:{near}]->(hub) "
        "RETURN elementId(s) AS s, elementId(q) AS q",
        hub=circle.hub,
    )
    found = walked(database, [str(ids["s"])], depth=2, limit=4)
    remove(neo4j_server, label)

    second = [each.id for each in found.neighbours if each.hop == 2]
    assert len(second) == 4
    assert ids["q"] in second
    assert "Hop 2" in str(found.notice)
    assert "Hop 1" not in str(found.notice)


def test_parallel_relationships_are_cut_and_told(neo4j_server: Neo4jServer, database: Database):
    label, many = unique("label"), unique("many")
    [ids] = neo4j_server.query(
        f"CREATE (a:{label}), (b:{label}) WITH a, b UNWIND range(1, 250) AS i CREATE (a)-[:{many}]->(b) "
        "RETURN DISTINCT elementId(a) AS a, elementId(b) AS b"
    )
    found = walked(database, [str(ids["a"])])
    remove(neo4j_server, label)

    [near] = found.neighbours
    assert near.id == ids["b"]
    assert len(near.relationships) == 10
    assert "only 200 relationships of a node were read" in str(found.notice)
    assert "the first 10 are shown" in str(found.notice)


def test_an_element_alone_has_no_neighbours(database: Database, circle: Circle):
    found = walked(database, [circle.dan], depth=2)
    assert (found.neighbours, found.notice) == ([], None)
    assert neighbours_text(found) == "No neighbours."


def unknown_ids(circle: Circle) -> list[str]:
    [_, database_id, _] = circle.ann.split(":")
    return ["nonsense", "", "4:é:0", f"4:{database_id}:99999999999999999999", "` OR true", f"5:{database_id}:999999"]


def test_ids_that_are_gone_are_told_beside_what_was_found(
    neo4j_server: Neo4jServer, database: Database, circle: Circle
):
    [made] = neo4j_server.query(f"CREATE (n:{circle.label}) RETURN elementId(n) AS id")
    neo4j_server.query(f"MATCH (n:{circle.label}) WHERE elementId(n) = $id DELETE n", id=made["id"])
    gone = [str(made["id"]), *unknown_ids(circle)]
    found = walked(database, [gone[0], circle.bob, *gone[1:]])

    assert {near.id for near in found.neighbours} == {circle.ann, circle.cid}
    listed = ", ".join(f"'{each}'" for each in gone)
    assert found.notice == f"No element has the ids {listed}: search again and take the ids of its results."


def test_what_is_present_is_told_from_what_is_not(database: Database, circle: Circle):
    gone = f"{circle.dan.rpartition(':')[0]}:987654321"
    wanted = [circle.first, gone, circle.dan, "no id at all", circle.self_loop]

    assert sorted(present(database, wanted)) == sorted([circle.first, circle.dan, circle.self_loop])
    assert present(database, [gone]) == present(database, []) == []


def test_no_id_at_all_is_an_error(database: Database, circle: Circle):
    with pytest.raises(QuestionError, match="No element has the id 'nonsense': ids change when data is loaded anew"):
        walked(database, ["nonsense"])
    with pytest.raises(QuestionError) as caught:
        walked(database, unknown_ids(circle))
    assert "\n" not in str(caught.value)


def test_an_unknown_type_is_an_error_that_lists_those_there_are(database: Database, circle: Circle):
    with pytest.raises(QuestionError, match=r"no relationship type 'x`\]-\(\) DETACH DELETE via //': the types are '"):
        walked(database, [circle.ann], relationship_types=[circle.knows, "x`]-() DETACH DELETE via //"])
    assert walked(database, [circle.ann]).neighbours


def test_a_type_of_odd_characters_is_followed(neo4j_server: Neo4jServer, database: Database):
    label, odd = unique("label"), f"is `{unique('odd')}` of"
    quoted = odd.replace("`", "``")
    [made] = neo4j_server.query(f"CREATE (a:{label})-[:`{quoted}`]->(:{label}) RETURN elementId(a) AS id")
    found = walked(database, [str(made["id"])], relationship_types=[odd])
    remove(neo4j_server, label)

    assert [each.type for near in found.neighbours for each in near.relationships] == [odd]


def test_the_text_has_what_the_structure_has(database: Database, circle: Circle):
    found = walked(database, [circle.bob, circle.dan], relationship_types=[circle.knows], depth=2)

    lines = neighbours_text(found).splitlines()
    assert lines[0] == f"From {circle.bob}, hop 1:"
    assert set(lines[1:3]) == {
        next(near.as_text() for near in found.neighbours if near.id == each and near.hop == 1)
        for each in (circle.ann, circle.cid)
    }
    [to_cid] = (
        line for line in lines if line.startswith(f'-[:{circle.knows} {{"i":3}}]-> ({circle.cid} :{circle.label} ')
    )
    assert '"name":"Cid"' in to_cid
    assert f'<-[:{circle.knows} {{"i":2}}]-' in "\n".join(lines)


def test_a_database_that_is_away_is_told_as_that(circle: Circle):
    with open_driver("bolt://127.0.0.1:1", "neo4j", "none") as driver, pytest.raises(UnavailableError, match="reached"):
        walked(Database(driver, "neo4j"), [circle.ann])
