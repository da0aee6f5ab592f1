"""On which line of a TOML file each key stands, which the parser of the standard library does not tell."""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple

KeyPath = tuple[str | int, ...]
"""Keys and places in arrays, from the root: `("retriever", 0, "name")`."""

_TOKEN = re.compile(
    r'''
    (?P<space>[ \t\r]+|\#[^\n]*)
    | (?P<newline>\n)
    | (?P<string>"""(?:\\.|(?!""")[^\\])*"{3,5} | \'\'\'(?:(?!\'\'\').)*'{3,5} | "(?:\\.|[^"\\])*" | '[^']*')
    | (?P<mark>[\[\]{}=,.])
    | (?P<bare>[^\s\#"'\[\]{}=,.]+)
    ''',
    re.VERBOSE | re.DOTALL,
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every table, key and item of an array, counted from 1.

    Args:
        text: What `tomllib` takes; nothing is checked here.
    """
    reader = _Reader(text)
    reader.read()
    return reader.lines


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {(): 1}
        self._sizes: dict[KeyPath, int] = {}
        """Of the arrays of tables."""
        self._tokens = _tokens(text)
        self._at = 0

    def read(self) -> None:
        table: KeyPath = ()
        while self._now.kind != "end":
            if self._now.kind == "newline":
                self._at += 1
            elif self._now.text == "[":
                table = self._header()
            else:
                self._pair(table)

    @property
    def _now(self) -> _Token:
        return self._tokens[self._at]

    def _header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]`, and return the path of its table."""
        line = self._now.line
        depth = 2 if self._tokens[self._at + 1].text == "[" else 1
        self._at += depth
        *parents, last = self._keys()
        self._at += depth
        path = (*self._inside((), parents, line), last)
        self._note(path, line)
        if depth == 1:
            return path
        self._sizes[path] = self._sizes.get(path, 0) + 1
        path = (*path, self._sizes[path] - 1)
        self._note(path, line)
        return path

    def _pair(self, table: KeyPath) -> None:
        """Read `a.b = value`."""
        line = self._now.line
        *parents, last = self._keys()
        self._at += 1
        path = (*self._inside(table, parents, line), last)
        self._note(path, line)
        self._value(path)

    def _inside(self, path: KeyPath, keys: list[str], line: int) -> KeyPath:
        """Return the path of a table in a table; of an array of tables, its last."""
        for key in keys:
            path = (*path, key)
            self._note(path, line)
            if path in self._sizes:
                path = (*path, self._sizes[path] - 1)
        return path

    def _keys(self) -> list[str]:
        keys = [self._key()]
        while self._now.text == "." and self._now.kind == "mark":
            self._at += 1
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        kind, text, _ = self._now
        self._at += 1
        return str(tomllib.loads(f"key = {text}")["key"]) if kind == "string" else text

    def _value(self, path: KeyPath) -> None:
        opening = self._now.text if self._now.kind == "mark" else ""
        if opening not in ("[", "{"):
            while self._now.kind not in ("newline", "end") and self._now[:2] not in _ENDS:
                self._at += 1
            return
        self._at += 1
        place = 0
        while self._now[:2] not in _CLOSINGS:
            if self._now.kind == "newline" or self._now[:2] == _COMMA:
                self._at += 1
            elif opening == "{":
                self._pair(path)
            else:
                self._note((*path, place), self._now.line)
                self._value((*path, place))
                place += 1
        self._at += 1

    def _note(self, path: KeyPath, line: int) -> None:
        self.lines.setdefault(path, line)


_COMMA = ("mark", ",")
_CLOSINGS = (("mark", "]"), ("mark", "}"))
_ENDS = (_COMMA, *_CLOSINGS)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    line = 1
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        if kind != "space":
            tokens.append(_Token(kind, found.group(), line))
        line += found.group().count("\n")
    return [*tokens, _Token("end", "", line)]
