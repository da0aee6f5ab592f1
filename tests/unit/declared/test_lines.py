"""The line of every key, however it is written."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from mcp_neo4j_vector_graphrag.declared.lines import KeyPath, key_lines

DOCUMENT = '''\
# comment with [a.header] and key = 1
[[retriever]]
name = "one" # = "comment"
query = """
name = "not a key"
[not.a.header]
\\""" still inside
"""
literal = \'\'\'
name = 'no'
\'\'\'
fixed = { year = { min = 1, max = 2 }, "odd.name" = ["a",
    "b, [c]", # comment ]
    { deep = 1.5 },
] }
[retriever.parameters.x]
type = "number"
"quoted key" . 'other' . bare = 1979-05-27 07:32:00
[retriever.parameters."y.z"]
type = "string"

[[retriever]]
  parameters.z.type = 'q'
empty = ""
quotes = """""quoted"""""
list = []

[database.main]
uri = "bolt://x"
'''


def test_each_key_has_its_line():
    first: KeyPath = ("retriever", 0)
    second: KeyPath = ("retriever", 1)
    assert key_lines(DOCUMENT) == {
        (): 1,
        ("retriever",): 2,
        first: 2,
        (*first, "name"): 3,
        (*first, "query"): 4,
        (*first, "literal"): 9,
        (*first, "fixed"): 12,
        (*first, "fixed", "year"): 12,
        (*first, "fixed", "year", "min"): 12,
        (*first, "fixed", "year", "max"): 12,
        (*first, "fixed", "odd.name"): 12,
        (*first, "fixed", "odd.name", 0): 12,
        (*first, "fixed", "odd.name", 1): 13,
        (*first, "fixed", "odd.name", 2): 14,
        (*first, "fixed", "odd.name", 2, "deep"): 14,
        (*first, "parameters"): 16,
        (*first, "parameters", "x"): 16,
        (*first, "parameters", "x", "type"): 17,
        (*first, "parameters", "x", "quoted key"): 18,
        (*first, "parameters", "x", "quoted key", "other"): 18,
        (*first, "parameters", "x", "quoted key", "other", "bare"): 18,
        (*first, "parameters", "y.z"): 19,
        (*first, "parameters", "y.z", "type"): 20,
        second: 22,
        (*second, "parameters"): 23,
        (*second, "parameters", "z"): 23,
        (*second, "parameters", "z", "type"): 23,
        (*second, "empty"): 24,
        (*second, "quotes"): 25,
        (*second, "list"): 26,
        ("database",): 28,
        ("database", "main"): 28,
        ("database", "main", "uri"): 29,
    }


def paths(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    """Return the path of every table, key and item that the standard parser finds."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path}.union(*(paths(part, (*path, key)) for key, part in parts))


@pytest.mark.parametrize(
    "text",
    [
        DOCUMENT,
        DOCUMENT.replace("\n", "\r\n"),
        "",
        "\n\n",
        "# only a comment",
        "a = 1",
        "a = [[1, 2], [3, [4]], []]\nb = {}\nc = {x = {}, y = [{}]}",
        "[a]\n[a.b]\n[a.b.c]\nd = 1\n[e]",
        "[[a]]\n[[a.b]]\nc = 1\n[[a.b]]\nc = 2\n[[a]]\n[[a.b]]\nc = 3",
        "[[a]]\n[a.b.c]\nd = true\n[[a]]\n[a.b.c]\nd = false",
        "1.2.3 = 4.5\n'' = 'empty'\n\"\\u0041\" = '\"'\n-_- = -inf",
        'a = """"""\nb = \'\'\'\'\'\'\nc = """\\"""\\\\"""\nd = \'\'\'\'x\'\'\'\'\ne = 2',
        "a = '# no comment' # comment ' \" [\nb = \"\\\\\"\nc = 1e-3 # x",
        "[ x . y ]\nz = 1\n[[ x . t ]]\nz = 2",
    ],
)
def test_what_the_standard_parser_finds_has_a_line_and_nothing_else_has(text: str):
    lines = key_lines(text)
    assert lines.keys() == paths(tomllib.loads(text))
    assert set(lines.values()) <= set(range(1, max(text.count("\n"), 0) + 2))
