"""What the tables of a file must agree on: with each other, with their queries and with the environment."""

from __future__ import annotations

import keyword
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.declared import parameters as typed
from mcp_neo4j_vector_graphrag.environment import is_blank
from mcp_neo4j_vector_graphrag.errors import one_line
from mcp_neo4j_vector_graphrag.retrieval import fulltext_statement, statement

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from pathlib import Path

    from mcp_neo4j_vector_graphrag.declared.lines import KeyPath
    from mcp_neo4j_vector_graphrag.declared.tables import DatabaseTable, ParameterTable, RetrieverTable

ARGUMENTS = frozenset({"query", "top_k", "filters", "alpha", "ranker", "lucene"})
"""What a search tool's own arguments are called."""

LONGEST_PATH = 4_096
"""Characters of a path that is told whole."""

_LONGEST = 60


@dataclass(frozen=True)
class Fault:
    """What is wrong at a key, and what to write instead."""

    path: KeyPath
    text: str


class QueryFileError(Exception):
    """A query file that can't be had; the text says what to write instead."""


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant."""
    folded = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), folded, 1, 0.5)
    return folded[found[0]] if found else None


def short(name: object, limit: int = _LONGEST) -> str:
    """Return a name from the file as a fault quotes it."""
    return f"'{one_line(str(name), limit)}'"


def check_database(table: DatabaseTable, path: KeyPath, environment: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what is wrong with a database; what is written as its variable is never quoted, it may be the password."""
    if table.password_env and is_blank(environment.get(table.password_env)):
        yield Fault(
            (*path, "password_env"),
            "'password_env' names no environment variable that is set: set it, or write the name of the one that holds "
            "the password",
        )


def check_names(names: Iterable[tuple[KeyPath, str]], lines: Mapping[KeyPath, int]) -> Iterator[Fault]:
    """Yield each retriever that has the name of an earlier one."""
    first: dict[str, KeyPath] = {}
    for path, name in names:
        if name in first:
            line = lines[first[name]]
            yield Fault(path, f"two retrievers are named {short(name)}, the other on line {line}: write another name")
        first.setdefault(name, path)


def check_database_name(table: RetrieverTable, path: KeyPath, databases: Iterable[str]) -> Iterator[Fault]:
    """Yield that a retriever's database is none of the file's."""
    known = list(databases)
    if table.database is None:
        if len(known) > 1:
            yield Fault(path, f"'database' is missing: write one of {_quoted(known)}")
    elif not known:
        yield Fault(
            (*path, "database"),
            "the file has no [database.<name>] table: add one, or leave 'database' out to search the environment's",
        )
    elif table.database not in known:
        yield Fault((*path, "database"), f"there is no database {short(table.database)}: write one of {_quoted(known)}")


def check_search(table: RetrieverTable, path: KeyPath, written: Container[str]) -> Iterator[Fault]:
    """Yield what is wrong with what a retriever searches and by what.

    Args:
        table: The retriever.
        path: Of its table.
        written: The keys that it has, sound or not.
    """
    if "index" not in written and "fulltext_index" not in written:
        yield Fault(path, "'index' is missing: write the name of a vector index, or 'fulltext_index', or both")
    if table.embedding_model is not None and "index" not in written and "fulltext_index" in written:
        yield Fault(
            (*path, "embedding_model"),
            "'embedding_model' has no use without a vector index: add 'index', or leave it out",
        )
    for name, count in Counter(table.filters).items():
        if count > 1:
            yield Fault((*path, "filters"), f"'filters' names {short(name)} {count} times: write it once")


def read_query(folder: Path, name: str) -> str:
    """Return the text of a query file.

    Args:
        folder: Where the file of retrievers is.
        name: The file's name, from there.

    Raises:
        QueryFileError: It is not there, or outside the folder, or holds no text.
    """
    file = folder / name
    try:
        file = file.resolve()
        if not file.is_relative_to(folder.resolve()):
            raise QueryFileError(f"{short(name)} lies outside the folder of this file: move it there")
        text = file.read_text("utf-8-sig")
    except FileNotFoundError:
        raise QueryFileError(
            f"there is no file {short(file, LONGEST_PATH)}: write the name of one beside this file or below"
        ) from None
    except UnicodeDecodeError:
        raise QueryFileError(f"{short(name)} is not in UTF-8: save it as UTF-8") from None
    except (OSError, ValueError, RuntimeError) as error:  # the last is a loop of links before Python 3.13
        raise QueryFileError(
            f"{short(name)} can't be read ({type(error).__name__}): check its name and rights"
        ) from None
    if not text.strip():
        raise QueryFileError(f"{short(name)} is blank: write a query in it, or leave 'retrieval_query_file' out")
    return text


def check_query(table: RetrieverTable, query: KeyPath, declared: Iterable[str]) -> Iterator[Fault]:
    """Yield each parameter that a retriever's query uses and is not given, and each that it is given in vain.

    Args:
        table: The retriever, with the text of its query.
        query: The path of the query's key.
        declared: The names of its parameters.
    """
    names = [name for name in declared if not _is_taken(name)]
    given = fulltext_statement.PARAMETERS if table.kind == "fulltext" else statement.PARAMETERS
    used = statement.RetrievalQuery.parse(table.retrieval_query).parameters if table.retrieval_query else frozenset()
    for name in sorted(used - given - set(names)):
        meant = near(name, (*names, "query_text", "top_k"))
        other = f"write ${meant} in the query" if meant else "take it out of the query"
        declare = "" if _is_taken(name) else f"add [retriever.parameters.{name}], or "
        yield Fault(query, f"the query uses ${one_line(name, _LONGEST)}, which is no parameter: {declare}{other}")
    for name in names:
        if name not in used:
            yield Fault(
                (*query[:-1], "parameters", name),
                f"the query does not use ${one_line(name, _LONGEST)}: use it there, or leave the parameter out",
            )


def check_parameter_name(name: str, path: KeyPath) -> Iterator[Fault]:
    """Yield that a parameter has a name that the search itself needs."""
    if _is_taken(name):
        yield Fault(path, f"the search itself sets {short(name)}: give the parameter another name")
    elif keyword.iskeyword(name):
        yield Fault(path, f"{short(name)} is a word of Python's: write {name}_value, here and in the query")


def check_parameter(table: ParameterTable, path: KeyPath) -> Iterator[Fault]:
    """Yield what in a parameter's table does not fit its type, or its bounds and choices.

    Args:
        table: With a known type.
        path: Of the table.
    """
    if table.type == "list" and table.items is None:
        yield Fault(path, "'items' is missing: write the type of the list's items, such as items = \"string\"")
        return
    if table.type != "list" and table.items is not None:
        yield Fault((*path, "items"), "'items' is for lists: write type = \"list\", or leave it out")
    limits = list(_check_limits(table, path))
    yield from limits
    yield from _check_default(table, path, are_limits_sound=not limits)


def _check_limits(table: ParameterTable, path: KeyPath) -> Iterator[Fault]:
    bounds = list(_check_bounds(table, path))
    yield from bounds
    yield from _check_choices(table.model_copy(update={"minimum": None, "maximum": None}) if bounds else table, path)


def _check_bounds(table: ParameterTable, path: KeyPath) -> Iterator[Fault]:
    sound: list[Any] = []
    for key, bound in (("minimum", table.minimum), ("maximum", table.maximum)):
        if bound is None:
            continue
        if table.scalar not in typed.ORDERED:
            yield Fault((*path, key), f"'{key}' has no meaning for a {table.scalar}: leave it out")
        elif (value := typed.from_file(bound, table.scalar)) is None:
            yield Fault((*path, key), _no_value(key, table))
        else:
            sound.append(value)
    if len(sound) > 1 and sound[0] > sound[1]:
        yield Fault((*path, "minimum"), "'minimum' lies above 'maximum': write the lower of the two as minimum")


def _check_choices(table: ParameterTable, path: KeyPath) -> Iterator[Fault]:
    if table.choices is None:
        return
    if table.scalar == "boolean":
        yield Fault((*path, "choices"), "'choices' has no meaning for a boolean: leave it out")
        return
    unlimited = table.model_copy(update={"choices": None})
    seen: list[Any] = []
    for place, choice in enumerate(table.choices):
        value = typed.from_file(choice, table.scalar)
        if value is not None and value in seen:
            yield Fault((*path, "choices", place), f"'choices' has {short(choice)} more than once: write it once")
        seen.append(value)
        if value is None:
            yield Fault((*path, "choices", place), _no_value("choices", table))
        elif instead := typed.complaint(value, unlimited):
            yield Fault((*path, "choices", place), f"a choice lies outside the bounds: write {instead}")


def _check_default(table: ParameterTable, path: KeyPath, *, are_limits_sound: bool) -> Iterator[Fault]:
    if table.default is None:
        return
    path = (*path, "default")
    is_list = isinstance(table.default, list)
    if is_list != (table.type == "list"):
        yield Fault(path, _no_value("default", table))
        return
    for item in table.default if is_list else [table.default]:
        value = typed.from_file(item, table.scalar)
        if value is None:
            yield Fault(path, _no_value("default", table))
            return
        if are_limits_sound and (instead := typed.complaint(value, table)):
            each = "an item of 'default'" if is_list else "'default'"
            yield Fault(path, f"{each} is not allowed: write {instead}")
            return


_WRITTEN = {
    "string": 'a text in quotes, such as "en"',
    "integer": "a whole number, such as 5",
    "number": "a number, such as 7.5",
    "boolean": "true or false",
    "date": "a date, such as 2026-01-31",
    "datetime": "a date and time, such as 2026-01-31T12:00:00Z",
}


def _no_value(key: str, table: ParameterTable) -> str:
    kind = _WRITTEN[table.scalar]
    if key == "choices" or (key == "default" and table.type == "list"):
        return f"'{key}' of this type is a list: write in brackets, for each item, {kind}"
    return f"'{key}' does not fit the type: write {kind}"


def _is_taken(name: str) -> bool:
    return statement.is_reserved(name) or name in ARGUMENTS


def _quoted(names: Iterable[str]) -> str:
    return one_line(", ".join(f'"{name}"' for name in names))
