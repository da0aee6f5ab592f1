"""Read-only, checked: what a plan may hold before its query is run.

A READ session refuses writes, and yet runs `LOAD CSV`, `SHOW`, `TERMINATE` and administrative procedures. They show in
the plan: as operators, or, nested in `COLLECT {}`, `COUNT {}` and `EXISTS {}` inside an expression, in the details of
the operator that evaluates it, which is why both are read.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.database.cypher import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ALLOWED_PROCEDURES = (
    "db.index.vector.queryNodes",
    "db.index.vector.queryRelationships",
    "db.index.fulltext.queryNodes",
    "db.index.fulltext.queryRelationships",
    "db.labels",
    "db.relationshipTypes",
    "db.propertyKeys",
    "apoc.path.*",
    "apoc.neighbors.*",
    "apoc.algo.*",
    "gds.*.stream",
)
"""Procedures that only read the graph, with `*` for any characters."""

_KINDS = (
    "ALL|BUILT|IN|USER|DEFINED|FULLTEXT|VECTOR|RANGE|POINT|TEXT|LOOKUP|NODE|REL|RELATIONSHIP|PROPERTY|UNIQUE|"
    "UNIQUENESS|KEY|EXIST|EXISTENCE|TYPE|CURRENT|HOME|DEFAULT|POPULATED|COMPOSITE|SUPPORTED"
)
_SHOWN = (
    r"SETTINGS?|TRANSACTIONS?|PROCEDURES?|FUNCTIONS?|INDEX(?:ES)?|CONSTRAINTS?|DATABASES?|USERS?|ROLES?|PRIVILEGES?|"
    r"ALIAS(?:ES)?|SERVERS?|GRAPH\s+TYPE"
)
"""What SHOW can be followed by, and a variable called `show` hardly is."""

_CLAUSES = {
    "LOAD CSV": re.compile(r"\bLOAD\s+CSV\b", re.IGNORECASE),
    "SHOW": re.compile(rf"\bSHOW\s+(?:(?:{_KINDS})\s+)*(?:{_SHOWN})\b", re.IGNORECASE),
    "TERMINATE TRANSACTIONS": re.compile(r"\bTERMINATE\s+TRANSACTIONS?\b", re.IGNORECASE),
    "IN TRANSACTIONS": re.compile(r"\}\s*IN\s+(?:\S+\s+)?(?:CONCURRENT\s+)?TRANSACTIONS\b", re.IGNORECASE),
}
_OPERATORS = {
    "LoadCSV": "LOAD CSV",
    "Show": "SHOW",
    "TerminateTransactions": "TERMINATE TRANSACTIONS",
    "Transaction": "IN TRANSACTIONS",
    "AdministrationCommand": "an administration command",
}
# A procedure's name has a dot, which tells it from a variable or a property called `call`. In the details of a plan
# before 2026 a nested call is a `ResolvedCall(…)`.
_CALL = re.compile(r"\b(?:CALL\s+|ResolvedCall\()([A-Za-z_]\w*(?:\s*\.\s*\w+)+)", re.IGNORECASE)
_DYNAMIC = re.compile(r"\bapoc\.cypher\.\w+", re.IGNORECASE)


def refusal(query_type: str | None, plan: Mapping[str, Any], query: str, allowed: Iterable[str] = ()) -> str | None:
    """Return what makes a query more than a reading one, as a noun; `None` if nothing does.

    Args:
        query_type: The type that EXPLAIN tells; only `r` reads without writing.
        plan: The plan that EXPLAIN tells, of the whole statement.
        query: The operator's own part of the statement.
        allowed: Procedures allowed beside `ALLOWED_PROCEDURES`.
    """
    patterns = (*ALLOWED_PROCEDURES, *allowed)
    found = _in_text(query, patterns)
    for operator, details in _operators(plan):
        found = found or _in_operator(operator, details, patterns) or _in_text(details, patterns)
    if found or query_type == "r":
        return found
    return "a clause that writes or administers"


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each operator's name, without the database's, and its details."""
    yield plan["operatorType"].split("@", 1)[0], str(plan.get("args", {}).get("Details", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)


def _in_operator(operator: str, details: str, patterns: Iterable[str]) -> str | None:
    if operator == "ProcedureCall":
        return _procedure(words(details).split("(", 1)[0].strip(), patterns)
    return next((clause for prefix, clause in _OPERATORS.items() if operator.startswith(prefix)), None)


def _in_text(text: str, patterns: Iterable[str]) -> str | None:
    bare = words(text)
    for clause, pattern in _CLAUSES.items():
        if pattern.search(bare):
            return clause
    if dynamic := _DYNAMIC.search(bare):
        return _procedure(dynamic.group(), patterns)
    return next((found for name in _CALL.findall(bare) if (found := _procedure(name, patterns))), None)


def _procedure(written: str, patterns: Iterable[str]) -> str | None:
    name = "".join(written.split())
    allowed = any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)
    return None if allowed else f"the procedure {name} (ALLOWED_PROCEDURES can allow it)"
