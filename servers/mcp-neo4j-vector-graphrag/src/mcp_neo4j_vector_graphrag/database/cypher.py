"""Cypher as text: quoting a name, drawing an arrow, and looking at a query's own words without strings and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Direction = Literal["out", "in", "both"]
"""Which way a relationship points, seen from a node."""

ARROWS: dict[Direction, tuple[str, str]] = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}
"""What stands before and after a relationship whose node is on the left."""

_OPAQUE = re.compile(
    r"""
    (?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    | (?P<name>`(?:``|[^`])*`)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPAQUE_ON_ONE_LINE = re.compile(_OPAQUE.pattern.replace(r"//[^\n]*", r"//(?:(?!\\n).)*"), _OPAQUE.flags)
_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9A-Fa-f]{4})")
_WRITTEN = re.compile(r"\\u([0-9A-Fa-f]{4})")
_LINE_BREAK = re.compile(r"(?:\\r)?\\n")
_PARAMETER = re.compile(r"\$(\w+)")
_PLAIN_NAME = re.compile(r"`(\w+)`")
_UNQUOTED = re.compile(r"[^\W\d]\w*")


def quote(name: str) -> str:
    r"""Return a label, type, property or index name as Cypher takes it, whatever characters it has.

    A backslash is escaped too: Cypher reads `\u0060` as a backtick, in quoted names as well.
    """
    escaped = name.replace("\\", r"\u005C").replace("`", "``")
    return f"`{escaped}`"


def without_vectors(entity: str, names: Iterable[str]) -> str:
    """Return the projection of an entity's properties, with null for a vector.

    Args:
        entity: A variable.
        names: Properties that hold vectors; another entity's may hold something else by the same name, which stays.
    """
    hidden = "".join(
        f", {quote(name)}: CASE WHEN {_is_vector(f'{entity}.{quote(name)}')} THEN null ELSE {entity}.{quote(name)} END"
        for name in names
    )
    return f"{entity} {{.*{hidden}}}"


def shown(name: str) -> str:
    """Return a name as Cypher takes it, on one line: nothing in it can pass for a line of the text around it."""
    if _UNQUOTED.fullmatch(name):
        return name
    printable = "".join(each if each.isprintable() and each != "\\" else f"\\u{ord(each):04X}" for each in name)
    return f"`{printable.replace('`', '``')}`"


def words(text: str) -> str:
    r"""Return a query with its strings, comments and odd quoted names blanked out, and plain quoted names unquoted.

    What is left can be searched for clauses: `CALL db.`labels`()` becomes `CALL db.labels()`, and nothing that a string
    says is taken for a clause. Escapes such as `\u004C` are read before all else, as Cypher does.
    """

    def blank(match: re.Match[str]) -> str:
        plain = _PLAIN_NAME.fullmatch(match.group())
        return plain.group(1) if plain else " "

    return _OPAQUE.sub(blank, _ESCAPE.sub(lambda found: found[1] + chr(int(found[2], 16)), text))


def parameters(text: str) -> frozenset[str]:
    """Return the names of the parameters that a query uses."""
    return frozenset(_PARAMETER.findall(words(text)))


def with_line_breaks(text: str) -> str:
    """Return a query with line breaks for the literal backslash-n that some settings files leave in it.

    Strings and quoted names keep theirs, comments too, unless the whole query is on one line: there it ends a comment.
    """
    opaque = _OPAQUE if "\n" in text else _OPAQUE_ON_ONE_LINE
    pieces: list[str] = []
    end = 0
    for match in opaque.finditer(text):
        pieces += [_LINE_BREAK.sub("\n", text[end : match.start()]), match.group()]
        end = match.end()
    return "".join([*pieces, _LINE_BREAK.sub("\n", text[end:])])


def _is_vector(expression: str) -> str:
    """Return the condition that a value is a list of numbers, or of the type VECTOR."""
    return " OR ".join(
        f"valueType({expression}) STARTS WITH '{kind}'" for kind in ("LIST<FLOAT", "LIST<INTEGER", "VECTOR")
    )


def meant_by(written: str, known: Collection[str]) -> str:
    """Return the name that a caller means: as it is where it is known, else without what Cypher puts around it.

    That is a colon, backticks, and the escapes between them.
    """
    if written in known:
        return written
    bare = written.strip().removeprefix(":")
    if len(bare) < len("``") or not bare[0] == bare[-1] == "`":
        return bare
    return _WRITTEN.sub(lambda match: chr(int(match[1], 16)), bare[1:-1].replace("``", "`"))
