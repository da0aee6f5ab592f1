"""Reading the file of retrievers: either all of it is sound, or every fault is told with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_neo4j_vector_graphrag.declared import checks
from mcp_neo4j_vector_graphrag.declared.checks import Fault, near
from mcp_neo4j_vector_graphrag.declared.lines import KeyPath, key_lines
from mcp_neo4j_vector_graphrag.declared.structure import keys, sound, structural_faults
from mcp_neo4j_vector_graphrag.declared.tables import DatabaseTable, ParameterTable, RetrieversFile, RetrieverTable
from mcp_neo4j_vector_graphrag.errors import SetupError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
_QUERY_KEYS = ("retrieval_query", "retrieval_query_file")


class RetrieversFileError(SetupError):
    """The file of retrievers has faults: one line of text for each."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def read_file(path: Path, environment: Mapping[str, str]) -> RetrieversFile:
    """Return the retrievers of a file; `retrieval_query` holds the query, whichever way it was given.

    Args:
        path: A TOML file; the query files that it names lie beside it.
        environment: Where the passwords are.

    Raises:
        RetrieversFileError: The file can't be used; its faults are all there are.
    """
    text = _read(path)
    try:
        data = tomllib.loads(text)
        lines = key_lines(text)
    except tomllib.TOMLDecodeError as error:
        raise RetrieversFileError([_syntax_fault(path, text, str(error))]) from None
    except RecursionError:
        raise RetrieversFileError([f"{path.name}:1: lists are nested too deep: write them flat."]) from None
    structural = structural_faults(data)
    entries = [
        _with_query(entry, path.parent) for entry in _entries(data, frozenset(fault.path for fault in structural))
    ]
    faults = [*structural, *_disagreements(data, structural, entries, lines, environment)]
    if faults:
        placed = sorted({(_line(lines, fault.path), fault.text) for fault in faults})
        raise RetrieversFileError([f"{path.name}:{line}: {text}." for line, text in placed])
    file = RetrieversFile.model_validate(data)
    retrievers = [
        table.model_copy(update={"retrieval_query": entry.table.retrieval_query})
        for table, entry in zip(file.retrievers, entries, strict=True)
    ]
    return file.model_copy(update={"retrievers": retrievers})


@dataclass(frozen=True)
class _Entry:
    """A retriever as far as its table is sound."""

    path: KeyPath
    raw: Mapping[str, Any]
    table: RetrieverTable
    bad: frozenset[KeyPath]
    """The paths of all faults of the file's structure."""
    query_fault: Fault | None = None

    @property
    def query_key(self) -> str | None:
        """The key that its query came in."""
        return next((key for key in _QUERY_KEYS if key in self.raw), None)

    @property
    def is_query_known(self) -> bool:
        """Whether the query, or that there is none, is known, and the names of all parameters are."""
        misspelt = (each[-1] for each in self.bad if len(each) == len(self.path) + 1 and each[:-1] == self.path)
        unknown = [str(key) for key in misspelt if key not in keys(self.path)]
        return (
            self.query_fault is None
            and (self.query_key is None or (*self.path, self.query_key) not in self.bad)
            and (*self.path, "parameters") not in self.bad
            and not {"parameters", *_QUERY_KEYS}.intersection(near(key, keys(self.path)) for key in unknown)
        )


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        text = "there is no such file: set RETRIEVERS_FILE to the full path of one that is there"
    except UnicodeDecodeError:
        text = "the file is not in UTF-8: save it as UTF-8"
    except (OSError, ValueError) as error:
        text = f"the file can't be read ({type(error).__name__}): check its name and rights"
    tried = path.absolute()  # a client starts a server in a folder that its user may not know
    raise RetrieversFileError([f"{one_line(str(tried), checks.LONGEST_PATH)}: {text}."])


def _syntax_fault(path: Path, text: str, message: str) -> str:
    place = _PLACE.search(message)
    line = int(place["line"]) if place and place["line"] else max(len(text.splitlines()), 1)
    column = f", column {place['column']}" if place and place["column"] else ""
    said = one_line(_PLACE.sub("", message)).replace("Cannot overwrite a value", "the key is written twice")
    return f"{path.name}:{line}: this is no TOML{column}: {said[:1].lower()}{said[1:]}."


def _line(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """Return the line of a key, or of the table in which it is missing."""
    while path not in lines:
        path = path[:-1]
    return lines[path]


def _entries(data: Mapping[str, Any], bad: frozenset[KeyPath]) -> list[_Entry]:
    retrievers = data.get("retriever")
    return [
        _Entry(("retriever", place), raw, sound(RetrieverTable, raw, ("retriever", place), bad), bad)
        for place, raw in enumerate(retrievers if isinstance(retrievers, list) else [])
        if isinstance(raw, Mapping)
    ]


def _with_query(entry: _Entry, folder: Path) -> _Entry:
    """Return an entry with the text of its query file in it, or what is wrong with that."""
    path = (*entry.path, "retrieval_query_file")
    fault: Fault | None = None
    if all(key in entry.raw for key in _QUERY_KEYS):
        fault = Fault(path, "'retrieval_query' and 'retrieval_query_file' are both written: leave one out")
    elif entry.table.retrieval_query_file is not None:
        try:
            query = checks.read_query(folder, entry.table.retrieval_query_file)
        except checks.QueryFileError as error:
            fault = Fault(path, str(error))
        else:
            table = entry.table.model_copy(update={"retrieval_query": query})
            return _Entry(entry.path, entry.raw, table, entry.bad)
    return _Entry(entry.path, entry.raw, entry.table, entry.bad, fault)


def _disagreements(
    data: Mapping[str, Any],
    structural: list[Fault],
    entries: list[_Entry],
    lines: Mapping[KeyPath, int],
    environment: Mapping[str, str],
) -> Iterator[Fault]:
    """Yield what is wrong between the parts of a file that are sound in themselves."""
    bad = frozenset(fault.path for fault in structural)
    databases = _tables(data.get("database"))
    for name, raw in databases.items():
        path = ("database", name)
        yield from checks.check_database(sound(DatabaseTable, raw, path, bad), path, environment)
    for entry in entries:
        yield from _entry_faults(entry, databases)
    names = [((*entry.path, "name"), entry.table.name) for entry in entries if entry.table.name is not None]
    yield from checks.check_names(names, lines)


def _entry_faults(entry: _Entry, databases: Mapping[str, object]) -> Iterator[Fault]:
    path, table, bad = entry.path, entry.table, entry.bad
    if (*path, "database") not in bad:
        yield from checks.check_database_name(table, path, databases)
    yield from checks.check_search(table, path, entry.raw)
    parameters = _tables(entry.raw.get("parameters"))
    for name, raw in parameters.items():
        place = (*path, "parameters", name)
        yield from checks.check_parameter_name(name, place)
        parameter = sound(ParameterTable, raw, place, bad)
        if parameter.type is not None and (*place, "items") not in bad:
            yield from checks.check_parameter(parameter, place)
    if entry.query_fault:
        yield entry.query_fault
    if entry.is_query_known:
        written = entry.raw.get("parameters", {})
        named = [name for name in written if (*path, "parameters", name, "[key]") not in bad]
        for fault in checks.check_query(table, (*path, entry.query_key or "parameters"), named):
            if fault.path not in bad:
                yield fault


def _tables(value: object) -> dict[str, Mapping[str, Any]]:
    """Return the tables in a table."""
    if not isinstance(value, Mapping):
        return {}
    return {key: each for key, each in value.items() if isinstance(each, Mapping)}
