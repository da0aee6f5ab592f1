"""Retrievers of the operator's own, from `package.module:factory`."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import DriverError, Neo4jError
from neo4j_graphrag.retrievers.base import Retriever

from mcp_neo4j_vector_graphrag.database.faults import translate
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError, UnavailableError, one_line
from mcp_neo4j_vector_graphrag.logs import without_secrets

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database

SINGLE_NAME = "neo4j_vector"
"""The name of a retriever that comes alone."""

_TARGET = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<factory>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")
_SHOWN_CHARACTERS = 100
"""Of a target."""


def load_retrievers(target: str, database: Callable[[], Database] | None = None) -> dict[str, Retriever]:
    """Return the retrievers that a factory makes, by the names of their tools; one that comes alone is `neo4j_vector`.

    The module is found among the installed packages, then in the current folder. The factory is called with no
    arguments; one that has parameters named `driver` or `database` is given the driver of the server's own connection
    and the name of its database, which is `None` for the user's default one.

    Args:
        target: `package.module:factory`.
        database: The server's own connection, for factories that ask for it.

    Raises:
        SetupError: Something of it fails: one line that names the target.
        UnavailableError: The factory asks a database that can't be reached.
    """
    named = _TARGET.fullmatch(target)
    shown = one_line(target, _SHOWN_CHARACTERS)
    if named is None:
        raise SetupError(f"--retriever '{shown}' has not the form package.module:factory, such as my_retrievers:make.")
    factory = _factory(named["module"], named["factory"], shown)
    arguments = _arguments(factory, shown, database)
    try:
        made = factory(**arguments)
    except (UnavailableError, DriverError) as error:
        raise UnavailableError(f"--retriever '{shown}': the factory failed: {_told(error)}") from error
    except (Exception, SystemExit) as error:
        raise SetupError(f"--retriever '{shown}': the factory failed: {_told(error)}") from error
    return _named(made, shown)


def _factory(module: str, path: str, shown: str) -> Callable[..., object]:
    """Return what a target names.

    Raises:
        SetupError: There is no such module, it can't be imported, or it has no such function.
    """
    if not {"", os.getcwd()} & set(sys.path):  # noqa: PTH109 - as an import looks it up
        sys.path.append(os.getcwd())  # noqa: PTH109 - last, so that a stray file there hides no installed package
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}.")
        if missing:
            raise SetupError(
                f"--retriever '{shown}': there is no module {module} in the current folder, nor is one installed."
            ) from error
        raise SetupError(f"--retriever '{shown}': the module can't be imported: {_told(error)}") from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except Exception as error:
            raise SetupError(f"--retriever '{shown}': {module} has no attribute {name}.") from error
    if not callable(found):
        raise SetupError(f"--retriever '{shown}': {path} is a {type(found).__name__}, not a function to call.")
    made: Callable[..., object] = found
    return made


def _arguments(factory: Callable[..., object], shown: str, database: Callable[[], Database] | None) -> dict[str, Any]:
    """Return what a factory is called with: as much of the connection as it asks for.

    Raises:
        SetupError: It asks for something else, or for a connection that is not there.
    """
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):  # some that are written in C have none
        return {}
    known = ("driver", "database")
    asked = [
        name for name in known if name in parameters and parameters[name].kind is not inspect.Parameter.VAR_KEYWORD
    ]
    unknown = [
        name
        for name, parameter in parameters.items()
        if name not in known
        and parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if unknown:
        raise SetupError(
            f"--retriever '{shown}': the factory asks for {', '.join(unknown)}: it can be given driver and database, "
            "and nothing else."
        )
    if not asked:
        return {}
    if database is None:
        raise SetupError(f"--retriever '{shown}': the factory asks for {' and '.join(asked)}: set NEO4J_URI.")
    connection = database()
    offered = {"driver": connection.driver, "database": connection.name}
    return {name: offered[name] for name in asked}


def _named(made: object, shown: str) -> dict[str, Retriever]:
    """Return what a factory made, by name.

    Raises:
        SetupError: It is no retriever.
    """
    if inspect.iscoroutine(made):
        made.close()
        raise SetupError(f"--retriever '{shown}': the factory is a coroutine function: write it without async.")
    by_name: Mapping[Any, Any] = made if isinstance(made, Mapping) else {SINGLE_NAME: made}
    try:
        items = list(by_name.items())
    except Exception as error:
        raise SetupError(f"--retriever '{shown}': the factory's mapping can't be read: {_told(error)}") from error
    if not items:
        raise SetupError(f"--retriever '{shown}': the factory returned no retriever: the mapping is empty.")
    retrievers: dict[str, Retriever] = {}
    for name, retriever in items:
        # Not isinstance: the library's classes share one cache of its answers, so asking spoils it for other classes.
        if not isinstance(name, str) or Retriever not in type(retriever).__mro__:
            what = f"the class {retriever.__name__}" if isinstance(retriever, type) else type(retriever).__name__
            raise SetupError(
                f"--retriever '{shown}': the factory returned {what} for '{one_line(str(name), _SHOWN_CHARACTERS)}': "
                "return a retriever of neo4j-graphrag, or a mapping from names to them."
            )
        retrievers[name] = retriever
    return retrievers


def _told(error: BaseException) -> str:
    """Return the kind of an exception and its first line, without secrets; what the driver says is told as always."""
    if isinstance(error, GraphRAGError):
        return str(error)
    if isinstance(error, (Neo4jError, DriverError)):
        return str(translate(error))
    first = next(iter(str(error).strip().splitlines()), "")
    return one_line(without_secrets(f"{type(error).__name__}: {first}" if first else f"{type(error).__name__}."))
