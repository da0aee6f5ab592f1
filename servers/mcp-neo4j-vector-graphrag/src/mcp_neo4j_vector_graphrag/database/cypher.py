"""Cypher as text: quoting a name, and looking at a query's own words without its strings and comments."""

from __future__ import annotations

import re

_OPAQUE = re.compile(
    r"""
    (?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    | (?P<name>`(?:``|[^`])*`)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    """,
    re.VERBOSE | re.DOTALL,
)
_PARAMETER = re.compile(r"\$(\w+)")
_PLAIN_NAME = re.compile(r"`(\w+)`")


def quote(name: str) -> str:
    """Return a label, type, property or index name as Cypher takes it, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def words(text: str) -> str:
    """Return a query with its strings, comments and odd quoted names blanked out, and plain quoted names unquoted.

    What is left can be searched for clauses: `CALL db.`labels`()` becomes `CALL db.labels()`, and nothing that a string
    says is taken for a clause.
    """

    def blank(match: re.Match[str]) -> str:
        plain = _PLAIN_NAME.fullmatch(match.group())
        return plain.group(1) if plain else " "

    return _OPAQUE.sub(blank, text)


def parameters(text: str) -> frozenset[str]:
    """Return the names of the parameters that a query uses."""
    return frozenset(_PARAMETER.findall(words(text)))


def outside_strings(text: str, old: str, new: str) -> str:
    """Replace text everywhere but in strings, comments and quoted names."""
    pieces: list[str] = []
    end = 0
    for match in _OPAQUE.finditer(text):
        pieces += [text[end : match.start()].replace(old, new), match.group()]
        end = match.end()
    return "".join([*pieces, text[end:].replace(old, new)])
