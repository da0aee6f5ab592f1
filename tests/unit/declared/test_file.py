"""A file of retrievers is read as a whole: every fault is told, each with its line and what to write instead."""

from __future__ import annotations

import random
import re
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from docs.generate import ROOT
from mcp_neo4j_vector_graphrag.declared.file import RetrieversFileError, read_file
from mcp_neo4j_vector_graphrag.errors import SetupError

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.declared.tables import RetrieversFile

ENVIRONMENT = {"MOVIES_PASSWORD": "p-secret", "BLANK": " ", "UNEXPANDED": "${user_config.password}"}

EXAMPLE = (ROOT / "examples" / "retrievers.toml").read_text("utf-8")
PIECES = (
    *("1", "-0.5", "true", "nan", "2026-01-31", "12:00:00", "'x'", '"""x', "$x", "\\", "\u2028", "\U0001f3ac"),
    *("[", "]", "{", "}", "[]", "{}", "[{}]", "=", ",", ".", "#", "\n", "[retriever]", "[[retriever]]"),
    *("[retriever.parameters.top_k]", "[database.x]", "uri = 'bolt://x'", "database = 'x'"),
    *("type", "items", "default", "min", "index", "'list'", "'date'"),
)

SOUND = """\
[[retriever]]
name = "a"
description = "A."
index = "i"
"""
"""Four lines: what follows begins on the fifth."""

NOT_THERE = "{}: there is no such file: set RETRIEVERS_FILE to the full path of one that is there."


def write(folder: Path, text: str) -> Path:
    path = folder / "retrievers.toml"
    path.write_text(text, "utf-8")
    return path


def read(folder: Path, text: str) -> RetrieversFile:
    return read_file(write(folder, text), ENVIRONMENT)


def faults(folder: Path, text: str) -> list[str]:
    return refused(write(folder, text))


def refused(path: Path) -> list[str]:
    with pytest.raises(RetrieversFileError) as raised:
        read_file(path, ENVIRONMENT)
    assert str(raised.value) == "\n".join(raised.value.faults)
    return raised.value.faults


def test_a_whole_file_is_read(tmp_path: Path):
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "rated.cypher").write_text("\ufeffRETURN node.title AS text, $least AS least", "utf-8")
    file = read(
        tmp_path,
        """\
        [database.movies]
        uri = "neo4j+s://example.org"
        username = "reader"
        password_env = "MOVIES_PASSWORD"
        name = "films"

        [database.local]
        uri = "bolt://localhost:7687"

        [[retriever]]
        name = "films"
        title = "Films"
        description = "Films by plot."
        database = "movies"
        index = "plots"
        retrieval_query_file = "queries/rated.cypher"
        top_k = 7
        embedding_model = "openai:text-embedding-3-small"
        filters = ["year", "a `b`"]
        fixed_filters = { language = "en", year = { min = 1990 }, released = { max = 2000-01-01 }, kind = [1, "x"] }
        [retriever.parameters.least]
        type = "number"
        description = "The least rating."
        default = 5
        minimum = 0
        maximum = 10.0

        [[retriever]]
        name = "words"
        description = "Films by word."
        database = "local"
        fulltext_index = "words"
        retrieval_query = 'RETURN $query_text AS text, $top_k AS k, "$unused" AS x // $comment'

        [[retriever]]
        name = "both"
        description = "Films by both."
        database = "movies"
        index = "plots"
        fulltext_index = "words"
        """,
    )
    films, words, both = file.retrievers
    assert [table.kind for table in file.retrievers] == ["vector", "fulltext", "hybrid"]
    assert films.retrieval_query == "RETURN node.title AS text, $least AS least"
    assert words.retrieval_query.startswith("RETURN $query_text")
    assert both.retrieval_query is None
    assert (films.top_k, films.title, films.embedding_model) == (7, "Films", "openai:text-embedding-3-small")
    assert films.filters == ["year", "a `b`"]
    assert films.fixed_filters == {
        "language": "en",
        "year": {"min": 1990},
        "released": {"max": "2000-01-01"},
        "kind": [1, "x"],
    }
    least = films.parameters["least"]
    assert (least.type, least.default, least.minimum, least.maximum) == ("number", 5, 0, 10.0)
    movies = file.database_of(films)
    assert (movies.uri, movies.username, movies.name) == ("neo4j+s://example.org", "reader", "films")
    assert movies.password(ENVIRONMENT).get_secret_value() == "p-secret"
    assert file.database_of(words).password(ENVIRONMENT) is None
    assert file.database_of(words).username == "neo4j"
    assert "p-secret" not in repr(file)


def test_without_database_tables_the_environments_is_searched(tmp_path: Path):
    file = read(tmp_path, SOUND)
    assert file.database_of(file.retrievers[0]) is None


def test_a_single_database_need_not_be_named(tmp_path: Path):
    file = read(tmp_path, SOUND + '[database.x]\nuri = "bolt://x"')
    assert file.database_of(file.retrievers[0]).uri == "bolt://x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # -- the file's own keys
        ("", ["1: 'retriever' is missing: write [[retriever]] and, below, name = \"…\"."]),
        (
            "retriever = []",
            ["1: 'retriever' must be tables in double brackets: write [[retriever]] and, below, name = \"…\"."],
        ),
        (
            "\n[retriever]\nname = 'a'",
            ["2: 'retriever' must be tables in double brackets: write [[retriever]] and, below, name = \"…\"."],
        ),
        ("retriever = [1]", ["1: 'retriever' is no table: write [[retriever]] and, below, name = \"films_by_plot\"."]),
        ("[[retrievers]]\nname = 'a'", ["1: 'retrievers' is unknown: write 'retriever'."]),
        (SOUND + "[zzz]", ["5: 'zzz' is unknown: write one of database, retriever."]),
        ("x = 1\n" + SOUND, ["1: 'x' is unknown: write one of database, retriever."]),
        # -- TOML
        ("a = \n", ["1: this is no TOML, column 5: invalid value."]),
        (SOUND + "name = 'b'", ["5: this is no TOML: the key is written twice."]),
        (SOUND + '\ntitle = "never ends', ["6: this is no TOML: unterminated string."]),
        (SOUND + "[[[", ["5: this is no TOML, column 3: invalid initial character for a key part."]),
        ("a = " + "[" * 5000, ["1: lists are nested too deep: write them flat."]),
        # -- keys of a retriever
        (
            "[[retriever]]",
            [
                "1: 'description' is missing: write description = \"Films by what happens in them.\".",
                "1: 'index' is missing: write the name of a vector index, or 'fulltext_index', or both.",
                "1: 'name' is missing: write name = \"films_by_plot\".",
            ],
        ),
        (SOUND + "titel = 'x'", ["5: 'titel' is unknown: write 'title'."]),
        (SOUND + "Top_K = 3", ["5: 'Top_K' is unknown: write 'top_k'."]),
        (SOUND + "query = 'RETURN 1'", ["5: 'query' is unknown: write 'retrieval_query'."]),
        (
            SOUND + '"' + "x" * 99 + '" = 1',
            [
                (
                    f"5: '{'x' * 59}…' is unknown: write one of name, title, description, database, index, "
                    "fulltext_index, retrieval_query, retrieval_query_file, top_k, embedding_model, filters, "
                    "fixed_filters, parameters."
                )
            ],
        ),
        (
            SOUND.replace('"a"', '"a b"'),
            ["2: 'name' must be 1 to 64 letters, digits, '_' or '-' in quotes: write name = \"films_by_plot\"."],
        ),
        (
            SOUND.replace('"a"', f'"{"a" * 65}"'),
            ["2: 'name' must be 1 to 64 letters, digits, '_' or '-' in quotes: write name = \"films_by_plot\"."],
        ),
        (
            SOUND.replace('"a"', '"a\\n"'),
            ["2: 'name' must be 1 to 64 letters, digits, '_' or '-' in quotes: write name = \"films_by_plot\"."],
        ),
        (
            SOUND.replace('"A."', '" "'),
            ["3: 'description' must be a text in quotes: write description = \"Films by what happens in them.\"."],
        ),
        (SOUND + "title = 2026-01-31", ["5: 'title' must be a text in quotes: write title = \"Films by plot\"."]),
        (SOUND.replace('"i"', "7"), ["4: 'index' must be a text in quotes: write index = \"moviePlotsEmbedding\"."]),
        (SOUND + "top_k = '5'", ["5: 'top_k' must be a whole number from 1 to 50: write top_k = 5."]),
        (SOUND + "top_k = 5.0", ["5: 'top_k' must be a whole number from 1 to 50: write top_k = 5."]),
        (SOUND + "top_k = true", ["5: 'top_k' must be a whole number from 1 to 50: write top_k = 5."]),
        (SOUND + "top_k = 0", ["5: 'top_k' must be a whole number from 1 to 50: write top_k = 5."]),
        (SOUND + "top_k = 51", ["5: 'top_k' must be a whole number from 1 to 50: write top_k = 5."]),
        (
            SOUND.replace("index", "fulltext_index") + "embedding_model = 'openai:x'",
            ["5: 'embedding_model' has no use without a vector index: add 'index', or leave it out."],
        ),
        # -- filters
        (
            SOUND + "filters = 'year'",
            ['5: \'filters\' must be a list of property names: write filters = ["year", "language"].'],
        ),
        (
            SOUND + "filters = [\n'year',\n3]",
            ['7: \'filters\' must be a list of property names: write filters = ["year", "language"].'],
        ),
        (
            SOUND + "filters = ['']",
            ['5: \'filters\' must be a list of property names: write filters = ["year", "language"].'],
        ),
        (SOUND + "filters = ['a', 'a']", ["5: 'filters' names 'a' 2 times: write it once."]),
        (
            SOUND + "fixed_filters = 'year'",
            [
                (
                    "5: 'fixed_filters' must be a table of properties and values: "
                    'write fixed_filters = { language = "en", year = { min = 1990 } }.'
                )
            ],
        ),
        (
            SOUND + "[retriever.fixed_filters]\nyear = { mn = 1 }",
            ["6: bounds are written { min = 1990, max = 1999 }, with one of them or both."],
        ),
        (
            SOUND + "fixed_filters = { year = {} }",
            ["5: bounds are written { min = 1990, max = 1999 }, with one of them or both."],
        ),
        (
            SOUND + "fixed_filters = { year = { min = true } }",
            ["5: a bound must be a number, a date or a time: write { min = 1990 }."],
        ),
        (
            SOUND + "fixed_filters = { year = { min = 2, max = 1 } }",
            ["5: min lies above max, which nothing can match: write the lower of the two as min."],
        ),
        (
            SOUND + "fixed_filters = { a = [] }",
            ["5: the list is empty and would match nothing: write the values that are allowed."],
        ),
        (
            SOUND + "fixed_filters = { a = [[1]] }",
            ['5: a filter is a value, a list of values or bounds: write "en", ["en", "de"] or { min = 1990 }.'],
        ),
        (SOUND + "fixed_filters = { a = nan }", ["5: a filter must be a finite number."]),
        # -- databases
        (
            SOUND + "database = 'x'",
            [
                (
                    "5: the file has no [database.<name>] table: add one, or leave 'database' out to search the "
                    "environment's."
                )
            ],
        ),
        (
            SOUND + "database = 'x'\n[database.a]\nuri = 'bolt://a'\n[database.b]\nuri = 'bolt://b'",
            ['5: there is no database \'x\': write one of "a", "b".'],
        ),
        (
            SOUND + "[database.a]\nuri = 'bolt://a'\n[database.b]\nuri = 'bolt://b'",
            ['1: \'database\' is missing: write one of "a", "b".'],
        ),
        (
            SOUND + "[database.x]",
            ["5: 'uri' is missing: write uri = \"neo4j+s://xxxx.databases.neo4j.io\"."],
        ),
        (
            SOUND + "[database]\nuri = 'bolt://x'",
            ["6: 'uri' is no table: write [database.movies] and, below, uri = \"neo4j+s://xxxx.databases.neo4j.io\"."],
        ),
        (
            SOUND + "[[database]]\nuri = 'bolt://x'",
            ["5: 'database' must be tables with names: write [database.movies] and, below, uri = \"…\"."],
        ),
        (
            SOUND + "[database.x]\nuri = 'http://x'",
            [
                (
                    "6: 'uri' has no scheme that Neo4j knows: begin it with one of neo4j, neo4j+s, neo4j+ssc, bolt, "
                    "bolt+s, bolt+ssc."
                )
            ],
        ),
        (
            SOUND + "[database.x]\nuri = 'bolt://me:p-secret@x'",
            ["6: 'uri' holds a user or a password: write them in 'username' and 'password_env'."],
        ),
        (
            SOUND + "[database.x]\nuri = 'bolt://x:y'",
            ["6: 'uri' has a port that is no port: write it as in bolt://localhost:7687."],
        ),
        (SOUND + "[database.x]\nuri = 'bolt://'", ["6: 'uri' names no host: write it as in bolt://localhost:7687."]),
        (
            SOUND + "[database.x]\nuri = 'bolt://x'\npassword = 'p-secret'",
            ["7: 'password' is unknown: write 'password_env'."],
        ),
        (
            SOUND + "[database.x]\nuri = 'bolt://x'\npassword_env = 'p-secret!'",
            [
                (
                    "7: 'password_env' must be the name of an environment variable: write password_env = "
                    '"MOVIES_PASSWORD".'
                )
            ],
        ),
        *(
            (
                SOUND + f"[database.x]\nuri = 'bolt://x'\npassword_env = '{variable}'",
                [
                    (
                        "7: 'password_env' names no environment variable that is set: set it, or write the name of the "
                        "one that holds the password."
                    )
                ],
            )
            for variable in ("NOT_SET", "BLANK", "UNEXPANDED")
        ),
        # -- names
        (
            SOUND + SOUND,
            ["6: two retrievers are named 'a', the other on line 2: write another name."],
        ),
        (
            SOUND + SOUND + SOUND,
            [
                "6: two retrievers are named 'a', the other on line 2: write another name.",
                "10: two retrievers are named 'a', the other on line 2: write another name.",
            ],
        ),
        # -- queries
        (
            SOUND + "retrieval_query = ''",
            [
                (
                    "5: 'retrieval_query' must be Cypher in quotes: write "
                    'retrieval_query = "RETURN node.title AS text, score".'
                )
            ],
        ),
        (
            SOUND + "retrieval_query = 'RETURN 1'\nretrieval_query_file = 'q.cypher'",
            ["6: 'retrieval_query' and 'retrieval_query_file' are both written: leave one out."],
        ),
        (
            SOUND + "retrieval_query_file = 'q.txt'",
            [
                (
                    "5: 'retrieval_query_file' must be the name of a .cypher file in quotes: write "
                    'retrieval_query_file = "films.cypher".'
                )
            ],
        ),
        (
            SOUND + "retrieval_query_file = '../q.cypher'",
            ["5: '../q.cypher' lies outside the folder of this file: move it there."],
        ),
        (
            SOUND + "retrieval_query_file = '/q.cypher'",
            ["5: '/q.cypher' lies outside the folder of this file: move it there."],
        ),
        (
            SOUND + "retrieval_query_file = 'link.cypher'",
            ["5: 'link.cypher' lies outside the folder of this file: move it there."],
        ),
        (
            SOUND + "retrieval_query_file = 'folder.cypher'",
            ["5: 'folder.cypher' can't be read (IsADirectoryError): check its name and rights."],
        ),
        (
            SOUND + 'retrieval_query_file = "\\u0000.cypher"',
            ["5: '\0.cypher' can't be read (ValueError): check its name and rights."],
        ),
        (
            SOUND + "retrieval_query_file = 'latin.cypher'",
            ["5: 'latin.cypher' is not in UTF-8: save it as UTF-8."],
        ),
        (
            SOUND + "retrieval_query_file = 'blank.cypher'",
            ["5: 'blank.cypher' is blank: write a query in it, or leave 'retrieval_query_file' out."],
        ),
        # -- parameters and queries
        (
            SOUND + "retrieval_query = 'RETURN $leest'\n[retriever.parameters.least]\ntype = 'number'",
            [
                (
                    "5: the query uses $leest, which is no parameter: add [retriever.parameters.leest], or write "
                    "$least in the query."
                ),
                "6: the query does not use $least: use it there, or leave the parameter out.",
            ],
        ),
        (
            SOUND + "retrieval_query = 'RETURN $query, $zzz'",
            [
                "5: the query uses $query, which is no parameter: write $query_text in the query.",
                (
                    "5: the query uses $zzz, which is no parameter: add [retriever.parameters.zzz], or take it out of "
                    "the query."
                ),
            ],
        ),
        (
            SOUND + "[retriever.parameters.least]\ntype = 'number'",
            ["5: the query does not use $least: use it there, or leave the parameter out."],
        ),
        (
            SOUND.replace("index", "fulltext_index") + "retrieval_query = 'RETURN $query_vector'",
            [
                "5: the query uses $query_vector, which is no parameter: write $query_text in the query.",
            ],
        ),
        (
            SOUND.replace("index", "fulltext_index") + "retrieval_query = 'RETURN $candidates'",
            ["5: the query uses $candidates, which is no parameter: take it out of the query."],
        ),
        *(
            (
                SOUND + f"retrieval_query = 'RETURN 1'\n[retriever.parameters.{name}]\ntype = 'string'",
                [f"6: the search itself sets '{name}': give the parameter another name."],
            )
            for name in (
                "query_text",
                "top_k",
                "hits",
                "filter_inside_0",
                "embedding_x",
                "query",
                "filters",
                "alpha",
                "lucene",
            )
        ),
        (
            SOUND + "[retriever.parameters.a-b]\ntype = 'number'",
            ["5: 'a-b' is no name of a parameter: write letters, digits and '_', such as min_rating."],
        ),
        (
            SOUND + "[retriever.parameter.least]\ntype = 'number'\n[[retriever]]\nname = 'b'\ndescription = 'B.'\n"
            "index = 'i'\nretrieval_query = 'RETURN $x'\nparameter.x.type = 'string'",
            ["5: 'parameter' is unknown: write 'parameters'.", "12: 'parameter' is unknown: write 'parameters'."],
        ),
        (
            SOUND + "parameters = ['x']\nretrieval_query = 'RETURN $x'",
            ["5: 'parameters' must be tables: write [retriever.parameters.min_rating] and, below, type = \"number\"."],
        ),
        (
            SOUND + "retrieval_query = 'RETURN $x'\nparameters = { x = 'string' }",
            [
                "6: 'x' is no table: write [retriever.parameters.min_rating] and, below, type = \"number\".",
            ],
        ),
        (
            SOUND + "parameters = { p = 1 }",
            ["5: 'p' is no table: write [retriever.parameters.min_rating] and, below, type = \"number\"."],
        ),
    ],
)
def test_each_fault_is_told_with_its_line(tmp_path: Path, text: str, expected: list[str]):
    folder = tmp_path / "folder"
    (folder / "folder.cypher").mkdir(parents=True)
    (tmp_path / "q.cypher").write_text("RETURN 1", "utf-8")
    (folder / "link.cypher").symlink_to(tmp_path / "q.cypher")
    (folder / "latin.cypher").write_bytes("RETURN 'é'".encode("latin-1"))
    (folder / "blank.cypher").write_text("\n \n", "utf-8")
    found = faults(folder, text)
    assert found == [f"retrievers.toml:{line}" for line in expected]
    assert "p-secret" not in str(found)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", ["6: 'type' is missing: write type = \"number\"."]),
        (
            "type = 'float'",
            [
                (
                    "7: 'type' must be one of string, integer, number, boolean, date, datetime and list: "
                    'write type = "number".'
                )
            ],
        ),
        ("type = 'list'", ["6: 'items' is missing: write the type of the list's items, such as items = \"string\"."]),
        (
            "type = 'list'\nitems = 'list'",
            [
                (
                    "8: 'items' must be one of string, integer, number, boolean, date and datetime: "
                    'write items = "string".'
                )
            ],
        ),
        ("type = 'string'\nitems = 'string'", ["8: 'items' is for lists: write type = \"list\", or leave it out."]),
        (
            "type = 'string'\nrequired = true",
            [("8: 'required' is unknown: write one of type, items, description, default, minimum, maximum, choices.")],
        ),
        ("type = 'string'\nminimun = 1", ["8: 'minimun' is unknown: write 'minimum'."]),
        (
            "type = 'string'\ndescription = 5",
            ["8: 'description' must be a text in quotes: write description = \"The least rating, out of ten.\"."],
        ),
        (
            "type = 'string'\ndefault = 5",
            ["8: 'default' does not fit the type: write a text in quotes, such as \"en\"."],
        ),
        (
            "type = 'string'\ndefault = 2026-01-31",
            ["8: 'default' does not fit the type: write a text in quotes, such as \"en\"."],
        ),
        ("type = 'integer'\ndefault = 5.0", ["8: 'default' does not fit the type: write a whole number, such as 5."]),
        ("type = 'integer'\ndefault = '5'", ["8: 'default' does not fit the type: write a whole number, such as 5."]),
        ("type = 'integer'\ndefault = true", ["8: 'default' does not fit the type: write a whole number, such as 5."]),
        (
            "type = 'integer'\ndefault = 9223372036854775808",
            ["8: 'default' does not fit the type: write a whole number, such as 5."],
        ),
        ("type = 'number'\ndefault = nan", ["8: 'default' does not fit the type: write a number, such as 7.5."]),
        ("type = 'number'\ndefault = [1]", ["8: 'default' does not fit the type: write a number, such as 7.5."]),
        ("type = 'boolean'\ndefault = 1", ["8: 'default' does not fit the type: write true or false."]),
        (
            "type = 'date'\ndefault = 2026-01-31T12:00:00",
            ["8: 'default' does not fit the type: write a date, such as 2026-01-31."],
        ),
        ("type = 'date'\ndefault = 'soon'", ["8: 'default' does not fit the type: write a date, such as 2026-01-31."]),
        (
            "type = 'datetime'\ndefault = 12:00:00",
            ["8: 'default' does not fit the type: write a date and time, such as 2026-01-31T12:00:00Z."],
        ),
        (
            "type = 'datetime'\ndefault = 2026-01-31",
            ["8: 'default' does not fit the type: write a date and time, such as 2026-01-31T12:00:00Z."],
        ),
        (
            "type = 'list'\nitems = 'integer'\ndefault = 5",
            ["9: 'default' of this type is a list: write in brackets, for each item, a whole number, such as 5."],
        ),
        (
            "type = 'list'\nitems = 'integer'\ndefault = [5, 'x']",
            ["9: 'default' of this type is a list: write in brackets, for each item, a whole number, such as 5."],
        ),
        (
            "type = 'list'\nitems = 'integer'\ndefault = [5, 1]\nminimum = 2",
            ["9: an item of 'default' is not allowed: write a whole number of at least 2."],
        ),
        ("type = 'string'\nminimum = 1", ["8: 'minimum' has no meaning for a string: leave it out."]),
        ("type = 'boolean'\nmaximum = 1", ["8: 'maximum' has no meaning for a boolean: leave it out."]),
        ("type = 'integer'\nminimum = 'x'", ["8: 'minimum' does not fit the type: write a whole number, such as 5."]),
        (
            "type = 'integer'\nminimum = 3\nmaximum = 2",
            ["8: 'minimum' lies above 'maximum': write the lower of the two as minimum."],
        ),
        (
            "type = 'date'\nminimum = 2026-02-01\nmaximum = '2026-01-01'",
            ["8: 'minimum' lies above 'maximum': write the lower of the two as minimum."],
        ),
        (
            "type = 'datetime'\nminimum = 2026-01-01T12:00:00Z\nmaximum = 2026-01-01T13:00:00+02:00",
            ["8: 'minimum' lies above 'maximum': write the lower of the two as minimum."],
        ),
        (
            "type = 'integer'\nminimum = 3\ndefault = 2",
            ["9: 'default' is not allowed: write a whole number of at least 3."],
        ),
        (
            "type = 'number'\nmaximum = 3\ndefault = 3.5",
            ["9: 'default' is not allowed: write a number of at most 3.0."],
        ),
        (
            "type = 'string'\nchoices = ['a', 'b']\ndefault = 'c'",
            ['9: \'default\' is not allowed: write one of "a", "b".'],
        ),
        (
            "type = 'string'\nchoices = []",
            ['8: \'choices\' must be a list of values: write choices = ["film", "series"].'],
        ),
        (
            "type = 'string'\nchoices = 'a'",
            ['8: \'choices\' must be a list of values: write choices = ["film", "series"].'],
        ),
        (
            "type = 'string'\nchoices = ['a',\n1]",
            [
                (
                    "9: 'choices' of this type is a list: write in brackets, for each item, a text in quotes, "
                    'such as "en".'
                )
            ],
        ),
        (
            "type = 'integer'\nchoices = [1, 9]\nmaximum = 5",
            ["8: a choice lies outside the bounds: write a whole number of at most 5."],
        ),
        ("type = 'string'\nchoices = ['a', 'b', 'a']", ["8: 'choices' has 'a' more than once: write it once."]),
        ("type = 'number'\nchoices = [1, 1.0]", ["8: 'choices' has '1.0' more than once: write it once."]),
        ("type = 'boolean'\nchoices = [true]", ["8: 'choices' has no meaning for a boolean: leave it out."]),
        (
            "type = 'integer'\nminimum = 'x'\nchoices = ['y', 7]\ndefault = 'z'\nwhat = 1",
            [
                "8: 'minimum' does not fit the type: write a whole number, such as 5.",
                "9: 'choices' of this type is a list: write in brackets, for each item, a whole number, such as 5.",
                "10: 'default' does not fit the type: write a whole number, such as 5.",
                "11: 'what' is unknown: write one of type, items, description, default, minimum, maximum, choices.",
            ],
        ),
    ],
)
def test_each_fault_of_a_parameter_is_told_with_its_line(tmp_path: Path, table: str, expected: list[str]):
    text = SOUND + f"retrieval_query = 'RETURN $x'\n[retriever.parameters.x]\n{table}"
    assert faults(tmp_path, text) == [f"retrievers.toml:{line}" for line in expected]


def test_a_query_file_that_is_not_there_is_told_with_the_folder_it_was_looked_for_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / ("a folder with a long name " * 4).strip()
    folder.mkdir()
    (folder / "link.cypher").symlink_to("gone.cypher")
    monkeypatch.chdir(tmp_path)
    for name, tried in (
        ("q.cypher", "q.cypher"),
        ("queries/q.cypher", "queries/q.cypher"),
        ("link.cypher", "gone.cypher"),
        ("a\\nb.cypher", "a b.cypher"),
    ):
        (folder / "retrievers.toml").write_text(SOUND + f'retrieval_query_file = "{name}"', "utf-8")
        fault = f"there is no file '{folder / tried}': write the name of one beside this file or below."
        for path in (folder / "retrievers.toml", Path(folder.name) / "retrievers.toml"):
            assert refused(path) == [f"retrievers.toml:5: {fault}"]


def test_a_query_file_that_is_a_loop_of_links_is_a_fault_with_its_line(tmp_path: Path):
    (tmp_path / "a.cypher").symlink_to("b.cypher")
    (tmp_path / "b.cypher").symlink_to("a.cypher")
    [found] = faults(tmp_path, SOUND + "retrieval_query_file = 'a.cypher'")
    assert found.startswith("retrievers.toml:5: 'a.cypher' can't be read (")


def test_all_faults_of_a_file_are_told_at_once_in_their_order(tmp_path: Path):
    text = dedent("""\
        [database.movies]
        url = "bolt://x"
        password_env = "NOT_SET"

        [[retriever]]
        name = "films"
        top_k = 500
        index = "plots"
        database = "films"
        retrieval_query = '''
        RETURN $stars'''
        fixed_filters = { year = { min = 1990, from = 3 } }
        [retriever.parameters.least]
        type = "number"
        minimum = 11
        maximum = 10
        default = "5"

        [[retriever]]
        name = "films"
        description = "D."
        """)
    assert faults(tmp_path, text) == [
        f"retrievers.toml:{line}"
        for line in (
            "2: 'url' is unknown: write 'uri'.",
            (
                "3: 'password_env' names no environment variable that is set: set it, or write the name of the one "
                "that holds the password."
            ),
            "5: 'description' is missing: write description = \"Films by what happens in them.\".",
            "7: 'top_k' must be a whole number from 1 to 50: write top_k = 5.",
            "9: there is no database 'films': write one of \"movies\".",
            (
                "10: the query uses $stars, which is no parameter: add [retriever.parameters.stars], or take it out of "
                "the query."
            ),
            "12: bounds are written { min = 1990, max = 1999 }, with one of them or both.",
            "13: the query does not use $least: use it there, or leave the parameter out.",
            "15: 'minimum' lies above 'maximum': write the lower of the two as minimum.",
            "17: 'default' does not fit the type: write a number, such as 7.5.",
            "19: 'index' is missing: write the name of a vector index, or 'fulltext_index', or both.",
            "20: two retrievers are named 'films', the other on line 6: write another name.",
        )
    ]


def test_the_fault_is_one_of_the_set_up(tmp_path: Path):
    with pytest.raises(SetupError, match=r"retrievers\.toml:1: 'retriever' is missing"):
        read(tmp_path, "")


def test_a_file_that_is_not_there_is_told(tmp_path: Path):
    path = tmp_path / "none.toml"
    assert refused(path) == [NOT_THERE.format(path)]


@pytest.mark.parametrize("name", ["none.toml", "no folder/none.toml", "./none.toml", "~/none.toml", "no\nne.toml"])
def test_a_relative_file_that_is_not_there_is_told_with_the_folder_it_was_looked_for_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.chdir(tmp_path)
    tried = name.removeprefix("./").replace("\n", " ")
    assert refused(Path(name)) == [NOT_THERE.format(tmp_path / tried)]


def test_a_file_that_can_not_be_read_is_told(tmp_path: Path):
    (tmp_path / "latin.toml").write_bytes("name = 'é'".encode("latin-1"))
    for path, said in (
        (tmp_path, "the file can't be read (IsADirectoryError): check its name and rights."),
        (tmp_path / "latin.toml", "the file is not in UTF-8: save it as UTF-8."),
        (tmp_path / "\0", "the file can't be read (ValueError): check its name and rights."),
    ):
        assert refused(path) == [f"{path}: {said}"]


def test_an_editor_on_windows_leaves_a_mark_and_its_own_line_ends(tmp_path: Path):
    path = tmp_path / "retrievers.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (SOUND + "titel = 'x'").replace("\n", "\r\n").encode())
    assert refused(path) == ["retrievers.toml:5: 'titel' is unknown: write 'title'."]


@pytest.mark.parametrize("seed", range(40))
def test_any_change_of_a_file_is_read_or_refused_line_by_line(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    path = tmp_path / "retrievers.toml"
    (tmp_path / "liked_films.cypher").write_text("RETURN $min_rating AS x", "utf-8")
    for _ in range(50):
        text = EXAMPLE
        for _ in range(chance.randint(1, 4)):
            words = re.findall(r"\s+|[^\s]+", text)
            place = chance.randrange(len(words))
            words[place : place + chance.randint(0, 2)] = [chance.choice(PIECES)]
            text = "".join(words)
        path.write_text(text, "utf-8")
        assert all(1 <= line <= text.count("\n") + 1 for line in lines_of_faults(path))


def lines_of_faults(path: Path) -> list[int]:
    try:
        read_file(path, {})
    except RetrieversFileError as error:
        told = [re.fullmatch(r"retrievers\.toml:(\d+): [^\n]+\.", fault) for fault in error.faults]
        return [int(fault[1]) for fault in told]
    return []
