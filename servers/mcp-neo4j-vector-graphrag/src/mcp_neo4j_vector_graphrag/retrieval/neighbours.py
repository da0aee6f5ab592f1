"""The neighbours of elements that a search returned: a walk of one or two hops, without any Cypher of the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel, Field, PrivateAttr

from mcp_neo4j_vector_graphrag.budget import (
    RESPONSE_TOKENS,
    as_notice,
    compact_json,
    cut_until_it_fits,
    fitting,
    to_keep_to,
)
from mcp_neo4j_vector_graphrag.database.cypher import quote, shown
from mcp_neo4j_vector_graphrag.database.values import columns
from mcp_neo4j_vector_graphrag.errors import QuestionError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.values import PlainJson

Direction = Literal["out", "in", "both"]

MAX_IDS = 20
MAX_LIMIT = 100
MAX_DEPTH = 2

_LEAST_READ = 200
"""Relationships of one element that are read for a hop, and at least four times `limit`: parallel ones take room."""
_SHOWN_PARALLEL = 10
"""Relationships shown of one neighbour."""
_SHOWN_NAMES = 20
_SHOWN_CHARACTERS = 80
"""Of an id or a name that a caller sent."""

_PRESENT = """\
UNWIND $ids AS id
OPTIONAL MATCH (node) WHERE elementId(node) = id
OPTIONAL MATCH ()-[edge]->() WHERE elementId(edge) = id
WITH id, node, edge WHERE node IS NOT NULL OR edge IS NOT NULL
RETURN id"""
_TYPES = "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType AS type ORDER BY type"

_ARROWS: dict[Direction, tuple[str, str]] = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}
_POINTS: dict[Direction, str] = {
    "out": "'out'",
    "in": "'in'",
    "both": "CASE WHEN endNode(step) = near THEN 'out' ELSE 'in' END",
}


class Relation(BaseModel):
    """One relationship that leads to a neighbour."""

    type: str
    direction: Literal["out", "in"] = Field(description="out: it points to the neighbour; in: away from it.")
    via: str = Field(description="The id of the element that it was followed from.")
    properties: dict[str, Any] = Field(default_factory=dict)


class Neighbour(BaseModel):
    """A node that was reached."""

    start: str = Field(description="The id, of those asked for, that it was reached from.")
    hop: int = Field(description="1 for a neighbour, 2 for a neighbour's neighbour.")
    relationships: list[Relation]
    id: str = Field(description="The neighbour's element id.")
    labels: list[str]
    properties: dict[str, Any]

    def as_text(self) -> str:
        """Return the neighbour on one line, after the relationships that lead to it."""
        steps = ", ".join(map(self._step, self.relationships))
        labels = "".join(f":{shown(label)}" for label in self.labels)
        return f"{steps} ({self.id} {labels} {compact_json(self.properties)})"

    def shortened(self, size: int) -> Neighbour:
        """Return the neighbour with the texts of its properties, and of its relationships', cut."""

        def with_texts_cut(cut_texts: Callable[[dict[str, Any]], dict[str, Any]]) -> Neighbour:
            relationships = [
                each.model_copy(update={"properties": cut_texts(each.properties)}) for each in self.relationships
            ]
            return self.model_copy(update={"properties": cut_texts(self.properties), "relationships": relationships})

        return cut_until_it_fits(size, with_texts_cut)

    def _step(self, relation: Relation) -> str:
        properties = f" {compact_json(relation.properties)}" if relation.properties else ""
        left, right = _ARROWS[relation.direction]
        origin = f"({relation.via})" if relation.via != self.start else ""
        return f"{origin}{left}[:{shown(relation.type)}{properties}]{right}"


class Neighbours(BaseModel):
    """What is around some elements, by element and by hop."""

    neighbours: list[Neighbour]
    notice: str | None = Field(default=None, description="What was cut or not found, if anything was.")
    _beyond_limit: list[str] = PrivateAttr(default_factory=list)

    @property
    def beyond_limit(self) -> Sequence[str]:
        """The sentences of the notice that a higher `limit` would help."""
        return self._beyond_limit

    def with_beyond_limit(self, sentences: Iterable[str]) -> Neighbours:
        """Return itself, knowing those sentences of its notice."""
        self._beyond_limit = list(sentences)
        return self

    def without_beyond_limit(self) -> str | None:
        """Return the notice without what it says of neighbours beyond `limit`."""
        notice = self.notice or ""
        for sentence in self._beyond_limit:
            notice = notice.replace(sentence, "")
        return " ".join(notice.split()) or None


def expand(  # noqa: PLR0913 - what a caller may say of a walk
    database: Database,
    ids: Sequence[str],
    *,
    relationship_types: Collection[str] = (),
    direction: Direction = "both",
    depth: int = 1,
    limit: int = 25,
    plain: PlainJson,
) -> Neighbours:
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
    with database.translated():
        if relationship_types:
            _check_types(relationship_types, [row["type"] for row in database.read(_TYPES)])
        statement = hop_statement(sorted(set(relationship_types)), direction, plain.vector_properties)
        return _walk(database, wanted, statement, depth, limit, plain)


def present(database: Database, ids: Iterable[str]) -> list[str]:
    """Return those of the ids that a database has, in one round trip.

    Raises:
        SetupError: Neo4j refused to be asked.
        UnavailableError: Neo4j can't be reached or took too long.
    """
    with database.translated():
        return [row["id"] for row in database.read(_PRESENT, {"ids": list(ids)})]


def together(parts: Sequence[Neighbours]) -> Neighbours:
    """Return what was found in several databases as one."""
    found = Neighbours(
        neighbours=[neighbour for part in parts for neighbour in part.neighbours],
        notice=as_notice(*(part.notice for part in parts)),
    )
    return found.with_beyond_limit(sentence for part in parts for sentence in part.beyond_limit)


def neighbours_text(found: Neighbours) -> str:
    """Return neighbours as a model reads them: the element, the hop, and a line for each neighbour."""
    lines: list[str] = []
    heading = None
    for neighbour in found.neighbours:
        if heading != (neighbour.start, neighbour.hop):
            heading = (neighbour.start, neighbour.hop)
            lines.append(f"From {neighbour.start}, hop {neighbour.hop}:")
        lines.append(neighbour.as_text())
    return "\n".join([*(lines or ["No neighbours."]), *([found.notice] if found.notice else [])])


def within(found: Neighbours, limit: int = RESPONSE_TOKENS) -> Neighbours:
    """Return as many whole neighbours, from the first on, as fit `limit` tokens of text; the notice says so.

    Only the texts of a first one that is too long by itself are cut.
    """
    given = found.neighbours
    taken, is_cut = fitting(given, limit)
    if len(taken) == len(given) and not is_cut:
        return found
    shown = f"Only {len(taken)} of {len(given)} neighbours are shown"
    if is_cut:
        shown = f"Only one of {len(given)} neighbours is shown, with its texts cut"
    left = f"{shown}, {to_keep_to(limit)}: ask for fewer ids, name relationship_types, or lower limit."
    return Neighbours(neighbours=taken, notice=as_notice(found.without_beyond_limit(), left))


def ends_statement(vector_properties: Iterable[str] = ()) -> str:
    """Return the statement that tells nodes from relationships, and describes the ends of the latter, by `$ids`."""
    properties = _projection("edge", vector_properties)
    ends = ", ".join(
        f"{{id: elementId({end}), labels: labels({end}), direction: '{points}', "
        f"properties: {_projection(end, vector_properties)}}}"
        for end, points in (("begin", "in"), ("end", "out"))
    )
    return "\n".join(
        [
            "UNWIND $ids AS id",
            "OPTIONAL MATCH (node) WHERE elementId(node) = id",
            "OPTIONAL MATCH (begin)-[edge]->(end) WHERE elementId(edge) = id",
            f"RETURN id, node IS NOT NULL AS is_node, type(edge) AS type, {properties} AS properties,",
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
        direction: As for `expand`.
        vector_properties: Properties whose vectors stay in the database.
    """
    named = list(vector_properties)
    left, right = _ARROWS[direction]
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
            f"properties: {_projection('near', named)}, relationships: [step IN steps[..$shown] | ",
            f"{{type: type(step), direction: {_POINTS[direction]}, via: {other}, properties: ",
            f"{_projection('step', named)}}}]}}) AS found",
            "}",
            "RETURN walk.start AS start, found",
        ]
    )


def _projection(entity: str, vector_properties: Iterable[str]) -> str:
    """Return an element's properties as Cypher; a vector of a known name is null, a text of that name is itself."""
    hidden = "".join(
        f", {quote(name)}: CASE WHEN valueType({entity}.{quote(name)}) STARTS WITH 'LIST' "
        f"OR valueType({entity}.{quote(name)}) STARTS WITH 'VECTOR' THEN null ELSE {entity}.{quote(name)} END"
        for name in sorted(vector_properties)
    )
    return f"{entity} {{.*{hidden}}}"


def _walk(  # noqa: PLR0913 - what one walk needs
    database: Database, ids: list[str], statement: str, depth: int, limit: int, plain: PlainJson
) -> Neighbours:
    rows = [columns(row) for row in database.read(ends_statement(plain.vector_properties), {"ids": ids})]
    gone = [row["id"] for row in rows if not row["is_node"] and not row["type"]]
    if len(gone) == len(ids):
        raise QuestionError(all_gone(gone))

    read = max(_LEAST_READ, 4 * limit)
    parameters = {"limit": limit, "read": read, "shown": _SHOWN_PARALLEL}

    def hop(walks: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        answer = database.read(statement, {**parameters, "walks": walks}) if walks else []
        return {row["start"]: row["found"] for row in map(columns, answer)}

    edges = {row["id"]: _edge_ends(row) for row in rows if row["type"]}
    nodes = [{"start": row["id"], "via": [row["id"]], "without": [], "edge": ""} for row in rows if row["is_node"]]
    found = [edges | hop(nodes)]
    if depth == MAX_DEPTH:
        walks = [_onward(start, nears[:limit], is_edge=start in edges) for start, nears in found[0].items()]
        found.append(hop([walk for walk in walks if walk["via"]]))

    beyond = list(_beyond(found, limit))
    around = Neighbours(
        neighbours=[
            _neighbour(start, place, near, plain)
            for start in ids
            for place, nears in enumerate(found, start=1)
            for near in nears.get(start, [])[:limit]
        ],
        notice=as_notice(*beyond, *_cut(found, limit, read), _missing(gone)),
    )
    return around.with_beyond_limit(beyond)


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


def _beyond(found: Sequence[Mapping[str, Sequence[Mapping[str, Any]]]], limit: int) -> Iterable[str]:
    """Return where there are neighbours beyond the limit."""
    for hop, by_start in enumerate(found, start=1):
        if more := [start for start, nears in by_start.items() if len(nears) > limit]:
            yield (
                f"Hop {hop} from the {_ids(more)}: only {limit} neighbours are shown, there are more: name "
                f"relationship_types or a direction, or raise limit (at most {MAX_LIMIT})."
            )


def _cut(found: Sequence[Mapping[str, Sequence[Mapping[str, Any]]]], limit: int, read: int) -> Iterable[str]:
    """Return what else was left out: relationships not read, parallel ones not shown."""
    for hop, by_start in enumerate(found, start=1):
        unread = [start for start, nears in by_start.items() if len(nears) <= limit and _is_unread(nears, read)]
        if unread:
            yield (
                f"Hop {hop} from the {_ids(unread)}: only {read} relationships of a node were read, there are more: "
                "name relationship_types or a direction."
            )
    if any(near["parallel"] > _SHOWN_PARALLEL for by_start in found for nears in by_start.values() for near in nears):
        yield f"Of a neighbour with more relationships than {_SHOWN_PARALLEL}, the first {_SHOWN_PARALLEL} are shown."


def _is_unread(nears: Iterable[Mapping[str, Any]], read: int) -> bool:
    return any(near["turn"] >= read for near in nears)


def all_gone(ids: Sequence[str]) -> str:
    """Return what is told of ids that no element has."""
    return (
        f"No element has the {_ids(ids)}: ids change when data is loaded anew, so search again and take the ids of its "
        "results."
    )


def _missing(gone: list[str]) -> str | None:
    return f"No element has the {_ids(gone)}: search again and take the ids of its results." if gone else None


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


def _check_types(given: Iterable[str], known: Collection[str]) -> None:
    unknown = list(dict.fromkeys(name for name in given if name not in known))
    if not unknown:
        return
    named = _listed(unknown, "type", "types")
    there = f"the {_listed(known, 'type is', 'types are')}" if known else "this database has none"
    raise QuestionError(f"There {'is' if len(unknown) == 1 else 'are'} no relationship {named}: {there}.")


def _ids(ids: Collection[str]) -> str:
    return _listed(ids, "id", "ids")


def _listed(names: Collection[str], one: str, several: str) -> str:
    """Return names after what they are, as far as there is room for them."""
    shown = ", ".join(f"'{one_line(name, _SHOWN_CHARACTERS)}'" for name in list(names)[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f"{one if len(names) == 1 else several} {shown}{more}"
