"""From an index and a retrieval query to one Cypher statement. Pure functions: no driver, no question.

A caller's values are parameters, every name is quoted, and the operator's retrieval query begins on a line of its own,
so that Neo4j's line and column lead back to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mcp_neo4j_vector_graphrag.database.capabilities import NEW_EMBED
from mcp_neo4j_vector_graphrag.database.cypher import parameters, quote, with_line_breaks, without_vectors, words
from mcp_neo4j_vector_graphrag.database.sample import pattern
from mcp_neo4j_vector_graphrag.embedding.query_vector import PARAMETER
from mcp_neo4j_vector_graphrag.retrieval.filters import COMPARES, NOT_IN, NOT_WITHIN, NULL_CHECKS, WITHIN, Condition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcp_neo4j_vector_graphrag.database.capabilities import Capabilities
    from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, VectorIndex

MAX_CANDIDATES = 10_000
"""Neo4j returns no more neighbours than this, whatever is asked for, and does not say so."""

PARAMETERS = frozenset({"query_vector", "query_text", "top_k", "candidates", "index_name"})
"""What every statement is given; a retrieval query may use them too."""

INSIDE, OUTSIDE = "filter_inside_", "filter_outside_"
"""How the parameters of conditions begin; no retrieval query may use such names."""

_RESERVED = (INSIDE, OUTSIDE, "embedding_", "fulltext_", "hybrid_")


def is_reserved(parameter: str) -> bool:
    """Whether the search itself sets a parameter of that name."""
    return parameter in PARAMETERS or parameter == "hits" or parameter.startswith(_RESERVED)


_NUMBERS = frozenset({"INTEGER", "FLOAT"})
_PROCEDURES = {"node": "db.index.vector.queryNodes", "relationship": "db.index.vector.queryRelationships"}
_VERSION = re.compile(
    r"(?P<before>(?:\s|//[^\n]*|/\*.*?\*/)*)(?P<version>CYPHER\s+(?:(?P<language>\d+)\b)?)", re.IGNORECASE | re.DOTALL
)
_BRACES = re.compile(r"\{[^{}]*\}")
_RETURN = re.compile(r"(?<![.:$])\bRETURN\b", re.IGNORECASE)


@dataclass(frozen=True)
class RetrievalQuery:
    """The operator's part of a statement: it sees `node` or `relationship`, `score` and the parameters."""

    text: str
    language: str | None = None
    """`5` or `25` where the query says so itself."""
    name: str = "RETRIEVAL_QUERY"
    """What an operator knows it by, for the text of an error."""

    @classmethod
    def parse(cls, text: str, name: str = name) -> RetrievalQuery:
        """Read a query as people write it in a settings file.

        A literal backslash-n outside a string is a line break, a trailing semicolon goes, and a leading `CYPHER 25`
        moves to where Cypher takes it: before the whole statement.
        """
        text = with_line_breaks(text.rstrip()).rstrip()
        while text.endswith(";"):
            text = text[:-1].rstrip()
        version = _VERSION.match(text)
        if version is None:
            return cls(text, name=name)
        # Blanks in its place keep the lines and columns that Neo4j tells.
        blank = re.sub(r"\S", " ", version["version"])
        return cls(version["before"] + blank + text[version.end() :], version["language"], name)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters that the query uses."""
        return parameters(self.text)

    @cached_property
    def orders_rows(self) -> bool:
        """Whether the last RETURN orders the rows; an ORDER BY in a subquery or before a WITH does not."""
        text, inner = words(self.text), ""
        while text != inner:
            text, inner = _BRACES.sub(" ", text), text
        return re.search(r"\bORDER\s+BY\b", _RETURN.split(text)[-1], re.IGNORECASE) is not None


@dataclass(frozen=True)
class Statement:
    """A whole statement, and on which of its lines the retrieval query begins."""

    text: str
    first_line: int


Clause = Literal["search", "procedure"]


def default_query(index: VectorIndex) -> RetrievalQuery:
    """Return what stands in for a retrieval query: the entity's own properties, without its vector."""
    return entity_query(index.variable, (index.property,))


def entity_query(
    variable: Literal["node", "relationship"], vectors: Iterable[str], columns: Iterable[str] = ()
) -> RetrievalQuery:
    """Return the query for an entity's own properties.

    Args:
        variable: What was found.
        vectors: The properties whose vectors are left out.
        columns: What else is known of each hit, for its metadata.
    """
    if variable == "node":
        about = "id: elementId(node), labels: labels(node)"
    else:
        about = (
            "id: elementId(relationship), type: type(relationship), "
            "start: properties(startNode(relationship)), end: properties(endNode(relationship))"
        )
    about += "".join(f", {column}: {column}" for column in columns)
    return RetrievalQuery(f"RETURN {without_vectors(variable, vectors)} AS doc, {{{about}}} AS metadata, score")


def candidates(top_k: int, index: VectorIndex, least: int | None = None, ratio: int = 1) -> int:
    """Return how many neighbours to ask the index for, of which the best `top_k` are kept.

    An index is approximate. The default one is quantised too: asked for 10 it finds 7 of the 10 nearest, asked for 120
    it has nearly all of them among those, for a few milliseconds (`benchmarks/`).

    Args:
        top_k: How many are wanted.
        index: The index.
        least: What the operator chose in place of the default.
        ratio: At least so many times `top_k`.
    """
    default = max(120, 12 * top_k) if index.quantised else max(60, 6 * top_k)
    return min(max(default if least is None else max(least, top_k), ratio * top_k), MAX_CANDIDATES)


@dataclass(frozen=True)
class Split:
    """Conditions that the index checks itself, and those that are checked on what it finds."""

    inside: tuple[Condition, ...] = ()
    outside: tuple[Condition, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of all conditions, by the names of their parameters."""
        return {
            name: condition.value
            for name, condition in (*_named(self.inside, INSIDE), *_named(self.outside, OUTSIDE))
            if condition.operator not in NULL_CHECKS
        }


def split(
    conditions: Sequence[Condition],
    index: VectorIndex,
    capabilities: Capabilities,
    types: Mapping[str, tuple[str, ...]],
) -> Split:
    """Return which conditions a server can check inside the index: it takes one value or one range for each property.

    Args:
        conditions: At most one lower and one upper bound for each property.
        index: The index.
        capabilities: Of the server.
        types: The stored types of each property; where they are mixed, the index would lose rows.
    """
    inside: list[Condition] = []
    shapes: dict[str, str] = {}
    for condition in conditions:
        name, shape = condition.property, _shape(condition)
        fits = (
            capabilities.search_clause
            and name in index.filter_properties
            and (len(types.get(name, ())) <= 1 or _NUMBERS.issuperset(types[name]))
            and (shape in ("value", "range") or (shape == "list" and capabilities.in_list_filter))
            and (name not in shapes or shapes[name] == shape == "range")
        )
        if fits:
            inside.append(condition)
            shapes[name] = shape
    return Split(tuple(inside), tuple(condition for condition in conditions if condition not in inside))


def vector_search(
    index: VectorIndex,
    query: RetrievalQuery,
    clause: Clause,
    inside: Sequence[Condition] = (),
    vector: str = PARAMETER,
) -> Statement:
    """Return the statement that finds the nearest entities and hands them to the retrieval query.

    Args:
        index: The index to search.
        query: What to return for each entity that is found.
        clause: `search` for the SEARCH clause of Cypher 25, `procedure` for servers without it.
        inside: Conditions that the index checks itself; only with `search`.
        vector: The expression for the query vector.
    """
    lines = [
        *prefix(query, clause, vector),
        *nearest(index, clause, inside, vector),
        f"WITH {index.variable}, score ORDER BY score DESC LIMIT $top_k",
    ]
    return Statement("\n".join([*lines, query.text]), first_line=len(lines) + 1)


def pool(index: VectorIndex, clause: Clause, conditions: Split, vector: str = PARAMETER) -> str:
    """Return the statement that checks conditions on the nearest candidates.

    It tells how many match, the best of those, and the query vector, for the statements that may follow.
    """
    entity, outside = index.variable, _named(conditions.outside, OUTSIDE)
    # Servers without SEARCH score a quantised index by its compressed vectors.
    score = "score" if clause == "search" else _similarity(index, "query_vector")
    return "\n".join(
        [
            *(["CYPHER 25"] if clause == "search" or _is_new(vector) else []),
            f"WITH {vector} AS query_vector",
            "CALL (query_vector) {",
            *nearest(index, clause, conditions.inside, "query_vector"),
            *([f"WITH {entity}, score WHERE {_all(entity, outside)}"] if outside else []),
            f"WITH elementId({entity}) AS id, {score} AS score ORDER BY score DESC",
            "RETURN collect([id, score]) AS hits",
            "}",
            "RETURN size(hits) AS matched, hits[..$top_k] AS hits, query_vector",
        ]
    )


def bounded_scan(index: VectorIndex, conditions: Split, *, strict: bool = False) -> str:
    """Return the statement that compares all that match with the question, if they are no more than `$bound`."""
    entity, score = index.variable, f"{_similarity(index)} AS score"
    best = (
        f"COLLECT {{ UNWIND found AS {entity} WITH {entity}, {score} ORDER BY score DESC LIMIT $top_k "
        f"RETURN [elementId({entity}), score] }}"
    )
    return "\n".join(
        [
            *_matching(index, conditions, strict=strict),
            f"WITH {entity} LIMIT $bound + 1",
            f"WITH collect({entity}) AS found",
            f"RETURN size(found) AS matched, CASE WHEN size(found) > $bound THEN [] ELSE {best} END AS hits",
        ]
    )


def full_scan(index: VectorIndex, conditions: Split, *, strict: bool = False) -> str:
    """Return the statement that compares all that match with the question, however many they are."""
    entity = index.variable
    return "\n".join(
        [
            *_matching(index, conditions, strict=strict),
            f"WITH elementId({entity}) AS id, {_similarity(index)} AS score ORDER BY score DESC LIMIT $top_k",
            "WITH collect([id, score]) AS hits",
            "RETURN size(hits) AS matched, hits",
        ]
    )


def retrieval(index: VectorIndex | FulltextIndex, query: RetrievalQuery, clause: Clause) -> Statement:
    """Return the statement that hands entities which are already found, `$hits`, to the retrieval query."""
    entity = index.variable
    lines = [
        *prefix(query, clause),
        "UNWIND $hits AS hit",
        by_id(entity, "hit[0]"),
        f"WITH {entity}, hit[1] AS score ORDER BY score DESC",
    ]
    return Statement("\n".join([*lines, query.text]), first_line=len(lines) + 1)


def by_id(variable: Literal["node", "relationship"], element_id: str) -> str:
    """Return the line that finds an entity by an expression for its element id."""
    found = "(node)" if variable == "node" else "()-[relationship]->()"
    return f"MATCH {found} WHERE elementId({variable}) = {element_id}"


def prefix(query: RetrievalQuery, clause: Clause, vector: str = PARAMETER) -> list[str]:
    """Return the line that says which Cypher a statement is in, if it must be said."""
    language = query.language or ("25" if clause == "search" or _is_new(vector) else None)
    return [f"CYPHER {language}"] if language else []


def _is_new(vector: str) -> bool:
    """Whether an expression is known to Cypher 25 alone."""
    return vector.startswith(NEW_EMBED)


def nearest(index: VectorIndex, clause: Clause, inside: Sequence[Condition], vector: str) -> list[str]:
    """Return the lines that ask a vector index for `$candidates` entities, each with its `score`."""
    if clause == "procedure":
        call = f"CALL {_PROCEDURES[index.variable]}($index_name, $candidates, {vector})"
        return [f"{call} YIELD {index.variable}, score"]
    # Without a label the pattern takes every label of the index. A relationship has a direction, or it is found twice.
    found = "(node)" if index.variable == "node" else pattern(index, index.variable)
    where = f"WHERE {_all(index.variable, _named(inside, INSIDE))} " if inside else ""
    search = f"SEARCH {index.variable} IN (VECTOR INDEX {quote(index.name)} FOR {vector} {where}LIMIT $candidates)"
    return [f"MATCH {found}", f"{search} SCORE AS score"]


def _matching(index: VectorIndex, conditions: Split, *, strict: bool) -> list[str]:
    """Return the lines that find what matches and has a vector that the similarity function takes.

    Args:
        index: The index.
        conditions: What must hold.
        strict: Look at each number of a vector as well. It takes longer, and is needed where one is NaN or no number.
    """
    entity, vector = index.variable, f"{index.variable}.{quote(index.property)}"
    comparable = f"size({vector}) = size($query_vector)"
    if strict:
        numbers = " OR ".join(f"valueType({vector}) STARTS WITH 'LIST<{kind} NOT NULL>'" for kind in sorted(_NUMBERS))
        finite = f"all(x IN {vector} WHERE -1.0e308 < x < 1.0e308)"
        # Cypher 5 knows no size of a VECTOR, whose type tells it; its numbers are finite.
        is_vector = f"valueType({vector}) STARTS WITH 'VECTOR<'"
        as_long = f"valueType({vector}) CONTAINS '(' + toString(size($query_vector)) + ')'"
        comparable = f"CASE WHEN {numbers} THEN {comparable} AND {finite} ELSE {is_vector} AND {as_long} END"
    if index.similarity == "cosine":
        comparable += f" AND {vector} <> $zero_vector"
    named = (*_named(conditions.inside, INSIDE), *_named(conditions.outside, OUTSIDE))
    wanted = f"{_all(entity, named)} AND {vector} IS NOT NULL AND {comparable}"
    return [f"MATCH {pattern(index, entity)}", f"WHERE {wanted}"]


def _similarity(index: VectorIndex, vector: str = PARAMETER) -> str:
    return f"vector.similarity.{index.similarity}({index.variable}.{quote(index.property)}, {vector})"


def _shape(condition: Condition) -> str:
    if condition.operator in ("<", "<=", ">", ">="):
        return "range"
    if condition.operator == "=" or condition.operator in NULL_CHECKS:
        return "value"
    return "list" if condition.operator == "IN" else "other"


def holds(variable: str, conditions: Sequence[Condition]) -> str:
    """Return the predicate that conditions outside of an index make, in the parameters of `Split(outside=…)`."""
    return _all(variable, _named(conditions, OUTSIDE))


def _named(conditions: Iterable[Condition], prefix: str) -> list[tuple[str, Condition]]:
    return [(f"{prefix}{place}", condition) for place, condition in enumerate(conditions)]


def _all(entity: str, named: Iterable[tuple[str, Condition]]) -> str:
    return " AND ".join(
        _predicate(f"{entity}.{quote(condition.property)}", name, condition) for name, condition in named
    )


def _predicate(value: str, parameter: str, condition: Condition) -> str:
    if condition.operator in NULL_CHECKS:
        return f"{value} {condition.operator}"
    if condition.operator in (WITHIN, NOT_WITHIN):
        # What can't be compared is null, and no match.
        meets = f"any(span IN ${parameter} WHERE ({value} >= span[0] AND {value} < span[1]) OR {value} = span[2])"
        return meets if condition.operator == WITHIN else f"{value} IS NOT NULL AND NOT coalesce({meets}, false)"
    if condition.operator == COMPARES:
        holds = " ".join(f"WHEN '{sign}' THEN item {sign} bound[1]" for sign in ("<", "<=", ">", ">="))
        bounds = f"any(bound IN ${parameter} WHERE CASE bound[0] {holds} END)"
        return f"any(item IN [{value}, toFloatOrNull({value})] WHERE {bounds})"
    if condition.operator == NOT_IN:
        return f"NOT {value} IN ${parameter}"
    return f"{value} {condition.operator} ${parameter}"
