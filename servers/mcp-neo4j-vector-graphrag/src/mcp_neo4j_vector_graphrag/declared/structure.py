"""What is no table of this kind: keys that are unknown or missing, values that can't be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from mcp_neo4j_vector_graphrag.declared.checks import Fault, near, short
from mcp_neo4j_vector_graphrag.declared.tables import (
    DatabaseTable,
    ParameterTable,
    RetrieversFile,
    RetrieverTable,
    Written,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic_core import ErrorDetails

    from mcp_neo4j_vector_graphrag.declared.lines import KeyPath

Table = TypeVar("Table", bound=BaseModel)

_HEADERS: dict[type[BaseModel], str] = {
    DatabaseTable: "[database.movies]",
    RetrieverTable: "[[retriever]]",
    ParameterTable: "[retriever.parameters.min_rating]",
}


def structural_faults(data: Mapping[str, Any]) -> list[Fault]:
    """Return all that the tables say is wrong with a file's content."""
    try:
        RetrieversFile.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
    else:
        return []
    # A key that is misspelt is not missing as well.
    misspelt = {
        (*detail["loc"][:-1], near(str(detail["loc"][-1]), keys(detail["loc"])))
        for detail in details
        if detail["type"] == "extra_forbidden"
    }
    return [
        Fault(detail["loc"], _text(detail))
        for detail in details
        if detail["type"] != "missing" or detail["loc"] not in misspelt
    ]


def sound(model: type[Table], raw: Mapping[str, Any], path: KeyPath, bad: Collection[KeyPath]) -> Table:
    """Return what of a table is sound, so that this can be checked further; another required key is `None`.

    Args:
        model: The table's.
        raw: Its content.
        path: Where it stands.
        bad: The paths of all faults.
    """
    wrong = {each[len(path)] for each in bad if len(each) > len(path) and each[: len(path)] == path}
    required = {name: None for name, info in model.model_fields.items() if info.is_required()}
    return model.model_construct(**{**required, **{key: value for key, value in raw.items() if key not in wrong}})


def keys(path: KeyPath) -> list[str]:
    """Return the keys that the table of a key may have."""
    return list(_fields(_model(path)[0]))


def _text(detail: ErrorDetails) -> str:
    path, key = detail["loc"], str(detail["loc"][-1])
    if detail["type"] == "value_error":
        return detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        meant = near(key, keys(path))
        return f"{short(key)} is unknown: write " + (f"'{meant}'" if meant else f"one of {', '.join(keys(path))}")
    if key == "[key]":
        return f"{short(path[-2])} is no name of a parameter: write letters, digits and '_', such as min_rating"
    model, place = _model(path)
    if place >= len(path):
        name = next(str(part) for part in reversed(path) if isinstance(part, str))
        return f"{short(name)} is no table: write {_HEADERS[model]} and, below, {_first(model).example}"
    field = str(path[place])
    written = _fields(model)[field]
    if detail["type"] == "missing":
        return f"'{field}' is missing: write {written.example}"
    return f"'{field}' must be {written.rule}: write {written.example}"


def _model(path: KeyPath) -> tuple[type[BaseModel], int]:
    """Return the model of the table that a key stands in, and the key's place in its path."""
    match path:
        case ("database", _, *_):
            return DatabaseTable, 2
        case ("retriever", _, "parameters", _, *_):
            return ParameterTable, 4
        case ("retriever", _, *_):
            return RetrieverTable, 2
    return RetrieversFile, 0


def _fields(model: type[BaseModel]) -> dict[str, Written]:
    """Return the keys of a table as they are written."""
    return {
        info.alias or name: next(part for part in info.metadata if isinstance(part, Written))
        for name, info in model.model_fields.items()
    }


def _first(model: type[BaseModel]) -> Written:
    return next(iter(_fields(model).values()))
