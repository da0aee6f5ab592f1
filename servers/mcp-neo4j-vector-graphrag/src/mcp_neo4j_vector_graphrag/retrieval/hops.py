"""The Cypher of a walk: what its elements are, and one hop from them. Pure functions, without a driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.database.cypher import ARROWS, quote, without_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcp_neo4j_vector_graphrag.database.cypher import Direction

_POINTS: dict[Direction, str] = {
    "out": "'out'",
    "in": "'in'",
    "both": "CASE WHEN endNode(step) = near THEN 'out' ELSE 'in' END",
}


def ends_statement(vector_properties: Iterable[str] = ()) -> str:
    """Return the statement that tells nodes from relationships, and describes the ends of the latter, by `$ids`."""
    named = sorted(vector_properties)
    ends = ", ".join(
        f"{{id: elementId({end}), labels: labels({end}), direction: '{points}', "
        f"properties: {without_vectors(end, named)}}}"
        for end, points in (("begin", "in"), ("end", "out"))
    )
    return "\n".join(
        [
            "UNWIND $ids AS id",
            "OPTIONAL MATCH (node) WHERE elementId(node) = id",
            "OPTIONAL MATCH (begin)-[edge]->(end) WHERE elementId(edge) = id",
            "RETURN id, node IS NOT NULL AS is_node, type(edge) AS type,",
            f"{without_vectors('edge', named)} AS properties,",
            f"CASE WHEN edge IS NULL THEN [] ELSE [{ends}] END AS ends",
        ]
    )


def hop_statement(
    relationship_types: Sequence[str] = (), direction: Direction = "both", vector_properties: Iterable[str] = ()
) -> str:
    """Return the statement of one hop, a row for each of `$walks`.

    A walk is `{start, via, without, edge}`: the ids of an element, of the nodes to go on from, of the nodes not to come
    to, and of a relationship not to follow. `$read` relationships of a node are looked at and one more, `$limit`
    neighbours returned and one more: those show what was cut. The nodes to go on from take turns.

    Args:
        relationship_types: Follow these alone; quoted names rather than a parameter, so that Neo4j skips the others of
            a hub unread.
        direction: Which way the relationships point, seen from the nodes to go on from.
        vector_properties: Properties whose vectors stay in the database.
    """
    named = sorted(vector_properties)
    left, right = ARROWS[direction]
    types = f":{'|'.join(map(quote, relationship_types))}" if relationship_types else ""
    pattern = f"(via){left}[step{types}]{right}(near)"
    other = "elementId(CASE WHEN endNode(step) = near THEN startNode(step) ELSE endNode(step) END)"
    return "\n".join(
        [
            "UNWIND $walks AS walk",
            "CALL (walk) {",
            "UNWIND range(0, size(walk.via) - 1) AS place",
            "MATCH (via) WHERE elementId(via) = walk.via[place]",
            f"WITH walk, place, COLLECT {{ MATCH {pattern}",
            "WHERE NOT elementId(near) IN walk.without AND elementId(step) <> walk.edge",
            "RETURN [step, near] LIMIT $read + 1 } AS steps",
            "UNWIND range(0, size(steps) - 1) AS turn",
            "WITH steps[turn][0] AS step, steps[turn][1] AS near, turn, turn * size(walk.via) + place AS rank",
            "WITH near, collect(step) AS steps, min(rank) AS rank, max(turn) AS turn ORDER BY rank LIMIT $limit + 1",
            "RETURN collect({id: elementId(near), labels: labels(near), turn: turn, parallel: size(steps), ",
            f"properties: {without_vectors('near', named)}, relationships: [step IN steps[..$shown] | ",
            f"{{type: type(step), direction: {_POINTS[direction]}, via: {other}, properties: ",
            f"{without_vectors('step', named)}}}]}}) AS found",
            "}",
            "RETURN walk.start AS start, found",
        ]
    )
