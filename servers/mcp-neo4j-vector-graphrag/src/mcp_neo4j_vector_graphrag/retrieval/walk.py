"""A walk of one or two hops from elements that a search returned, without any Cypher of the caller's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from mcp_neo4j_vector_graphrag.database.cypher import Direction, meant_by
from mcp_neo4j_vector_graphrag.database.values import columns
from mcp_neo4j_vector_graphrag.errors import QuestionError, listed, one_line
from mcp_neo4j_vector_graphrag.retrieval.hops import ends_statement, hop_statement
from mcp_neo4j_vector_graphrag.retrieval.neighbours import Neighbour, Relation, Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.values import PlainJson
    from mcp_neo4j_vector_graphrag.errors import GraphRAGError

    Hop: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
    """What a hop found, by the id of the element that the walk began at."""

MAX_IDS = 20
MAX_LIMIT = 100
MAX_DEPTH = 2

_LEAST_READ = 200
"""Relationships of one element that are read for a hop, and at least four times `limit`: parallel ones take room."""
_SHOWN_PARALLEL = 10
"""Relationships shown of one neighbour."""
_SHOWN_CHARACTERS = 80
"""Of an id or a name that a caller sent."""

_PRESENT = """\
UNWIND $ids AS id
OPTIONAL MATCH (node) WHERE elementId(node) = id
OPTIONAL MATCH ()-[edge]->() WHERE elementId(edge) = id
WITH id, node, edge WHERE node IS NOT NULL OR edge IS NOT NULL
RETURN id"""
_TYPES = "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType AS type ORDER BY type"


def expand(  # noqa: PLR0913 - what a caller may say of a walk
    database: Database,
    ids: Sequence[str],
    *,
    relationship_types: Collection[str] = (),
    direction: Direction = "both",
    depth: int = 1,
    limit: int = 25,
    plain: PlainJson,
) -> Surroundings:
    """Return the neighbours of some elements, each once for each hop, in two round trips or three.

    The neighbours of a relationship are its two ends, whatever `relationship_types` and `direction` say; they hold
    from there on. What is around a hub is not read whole. A second hop never leads back to where it began.

    Args:
        database: Where the elements are.
        ids: Element ids of nodes or relationships, at most 20.
        relationship_types: Follow these alone; by default any.
        direction: Follow those that point away (`out`), that point here (`in`), or any.
        depth: Hops, 1 or 2.
        limit: Neighbours of each element in each hop, 1 to 100.
        plain: Knows the vectors of this database, which are left out.

    Raises:
        QuestionError: No element has any of the ids, a type does not exist, or an argument is out of range.
        SetupError: Neo4j refused to be asked.
        UnavailableError: Neo4j can't be reached or took too long.
    """
    wanted = list(dict.fromkeys(given.strip() for given in ids))
    _check(wanted, direction, depth, limit)
    read = max(_LEAST_READ, 4 * limit)
    with database.translated():
        types = _known_types(database, relationship_types) if relationship_types else []
        rows = [columns(row) for row in database.read(ends_statement(plain.vector_properties), {"ids": wanted})]
        gone = [row["id"] for row in rows if not row["is_node"] and not row["type"]]
        if len(gone) == len(wanted):
            raise QuestionError(all_gone(gone))
        statement = hop_statement(types, direction, plain.vector_properties)
        parameters = {"limit": limit, "read": read, "shown": _SHOWN_PARALLEL}
        hops = _hops(rows, depth, limit, partial(_follow, database, statement, parameters))
        return Surroundings(
            neighbours=[
                _neighbour(start, place, near, plain)
                for start in wanted
                for place, hop in enumerate(hops, start=1)
                for near in hop.get(start, [])[:limit]
            ],
            beyond_limit=list(_beyond(hops, limit)),
            others=[*_unread(hops, limit, read), *_parallel(hops), *_missing(gone)],
        )


def present(database: Database, ids: Iterable[str]) -> list[str]:
    """Return those of the ids that a database has, in one round trip.

    Raises:
        SetupError: Neo4j refused to be asked.
        UnavailableError: Neo4j can't be reached or took too long.
    """
    with database.translated():
        return [row["id"] for row in database.read(_PRESENT, {"ids": list(ids)})]


def all_gone(ids: Sequence[str]) -> str:
    """Return what is told of ids that no element has."""
    return (
        f"No element has the {_ids(ids)}: ids change when data is loaded anew, so search again and take the ids of its "
        "results."
    )


def not_looked_for(ids: Sequence[str], faults: Iterable[GraphRAGError]) -> str:
    """Return what is told of ids that no database has, of those that could be asked."""
    reasons = " ".join(dict.fromkeys(map(str, faults)))
    return f"The {_ids(ids)} could not be looked for in all databases: {reasons}"


def _check(ids: list[str], direction: str, depth: int, limit: int) -> None:
    if not ids:
        raise QuestionError("ids is empty: give the element ids of earlier results.")
    if len(ids) > MAX_IDS:
        raise QuestionError(f"There are {len(ids)} ids: give at most {MAX_IDS} at a time.")
    if direction not in get_args(Direction):
        raise QuestionError(f"direction is '{one_line(direction, _SHOWN_CHARACTERS)}': take out, in or both.")
    if not 1 <= depth <= MAX_DEPTH:
        raise QuestionError(f"depth is {depth}: take 1 or {MAX_DEPTH}.")
    if not 1 <= limit <= MAX_LIMIT:
        raise QuestionError(f"limit is {limit}: take a number from 1 to {MAX_LIMIT}.")


def _known_types(database: Database, given: Iterable[str]) -> list[str]:
    """Return the relationship types that a caller names, as they are or as Cypher writes them.

    Raises:
        QuestionError: Some do not exist.
    """
    known = [row["type"] for row in database.read(_TYPES)]
    meant = {name: meant_by(name, known) for name in given}
    unknown = [name for name, one in meant.items() if one not in known]
    if not unknown:
        return sorted(set(meant.values()))
    missing = "is no relationship type" if len(unknown) == 1 else "are no relationship types"
    exist = "the type is" if len(known) == 1 else "the types are"
    there = f"{exist} {listed(known, _SHOWN_CHARACTERS)}" if known else "this database has none"
    raise QuestionError(f"There {missing} {listed(unknown, _SHOWN_CHARACTERS)}: {there}.")


def _hops(
    rows: Iterable[Mapping[str, Any]], depth: int, limit: int, follow: Callable[[Sequence[Mapping[str, Any]]], Hop]
) -> list[Hop]:
    """Return what each hop finds.

    Args:
        rows: Of `ends_statement`.
        depth: As for `expand`.
        limit: The same.
        follow: Takes the walks that `hop_statement` describes.
    """
    edges = {row["id"]: _edge_ends(row) for row in rows if row["type"]}
    nodes = [{"start": row["id"], "via": [row["id"]], "without": [], "edge": ""} for row in rows if row["is_node"]]
    first = {**edges, **follow(nodes)}
    if depth == 1:
        return [first]
    walks = [_onward(start, nears[:limit], is_edge=start in edges) for start, nears in first.items()]
    return [first, follow([walk for walk in walks if walk["via"]])]


def _follow(
    database: Database, statement: str, parameters: Mapping[str, Any], walks: Sequence[Mapping[str, Any]]
) -> Hop:
    answer = database.read(statement, {**parameters, "walks": walks}) if walks else []
    return {row["start"]: row["found"] for row in map(columns, answer)}


def _onward(start: str, nears: Iterable[Mapping[str, Any]], *, is_edge: bool) -> dict[str, Any]:
    """Return the walk of a second hop: back neither to the node nor along the relationship that it began with."""
    via = [near["id"] for near in nears if near["id"] != start]
    return {"start": start, "via": via, "without": [start], "edge": start if is_edge else ""}


def _edge_ends(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the ends of a relationship as what a hop finds; of one that leads back to its own node, one."""
    relation = {"type": row["type"], "via": row["id"], "properties": row["properties"]}
    ends = [
        {**end, "turn": 0, "parallel": 1, "relationships": [{**relation, "direction": end["direction"]}]}
        for end in row["ends"]
    ]
    return ends[1:] if ends[0]["id"] == ends[1]["id"] else ends


def _neighbour(start: str, hop: int, near: Mapping[str, Any], plain: PlainJson) -> Neighbour:
    return Neighbour(
        start=start,
        hop=hop,
        relationships=[
            Relation(**{**relation, "properties": plain.value(relation["properties"])})
            for relation in near["relationships"]
        ],
        id=near["id"],
        labels=sorted(near["labels"]),
        properties=plain.value(near["properties"]),
    )


def _beyond(hops: Sequence[Hop], limit: int) -> Iterable[str]:
    """Tell where there are neighbours beyond the limit."""
    for place, hop in enumerate(hops, start=1):
        if more := [start for start, nears in hop.items() if len(nears) > limit]:
            yield (
                f"Hop {place} from the {_ids(more)}: only {limit} neighbours are shown, there are more: name "
                f"relationship_types or a direction, or raise limit (at most {MAX_LIMIT})."
            )


def _unread(hops: Sequence[Hop], limit: int, read: int) -> Iterable[str]:
    """Tell where else there are relationships that were not read."""
    for place, hop in enumerate(hops, start=1):
        if more := [
            start for start, nears in hop.items() if len(nears) <= limit and any(near["turn"] >= read for near in nears)
        ]:
            yield (
                f"Hop {place} from the {_ids(more)}: only {read} relationships of a node were read, there are more: "
                "name relationship_types or a direction."
            )


def _parallel(hops: Sequence[Hop]) -> Iterable[str]:
    """Tell whether there are relationships to one neighbour that are not shown."""
    if any(near["parallel"] > _SHOWN_PARALLEL for hop in hops for nears in hop.values() for near in nears):
        yield f"Of a neighbour with more relationships than {_SHOWN_PARALLEL}, the first {_SHOWN_PARALLEL} are shown."


def _missing(gone: Sequence[str]) -> Iterable[str]:
    """Tell which ids no element has."""
    if gone:
        yield f"No element has the {_ids(gone)}: search again and take the ids of its results."


def _ids(ids: Collection[str]) -> str:
    return f"{'id' if len(ids) == 1 else 'ids'} {listed(ids, _SHOWN_CHARACTERS)}"
