"""What the driver raises, as faults of this project: one table, sorted by who must act."""

from __future__ import annotations

import re

from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError, SetupError, UnavailableError, one_line

_PLACE = re.compile(r"\s*\(line (\d+), column (\d+)(?: \(offset: \d+\))?\)")

_UNREACHABLE = "Neo4j can't be reached: check that it is running and that {uri} is right, then ask again."
_REFUSED_SETTINGS = "The driver refuses the connection settings: check {uri}."

_BY_CODE: dict[str, tuple[type[GraphRAGError], str]] = {
    "Neo.ClientError.Security.Unauthorized": (
        SetupError,
        "Neo4j refused the user name or password: check {user_and_password}.",
    ),
    "Neo.ClientError.Security.CredentialsExpired": (
        SetupError,
        "The password of this Neo4j user must be changed before its first use: change it, then set {password}.",
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        UnavailableError,
        "Neo4j refuses this user for a while after too many wrong passwords: check {password}, wait, ask again.",
    ),
    "Neo.ClientError.Security.Forbidden": (
        SetupError,
        "The Neo4j user in {username} may not read this: grant it read access to the database and its indexes.",
    ),
    "Neo.ClientError.Database.DatabaseNotFound": (
        SetupError,
        "There is no database {database} on this server: check {name}.",
    ),
    "Neo.TransientError.General.DatabaseUnavailable": (
        UnavailableError,
        "The database {database} is offline or still starting: ask again in a moment.",
    ),
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration": (
        UnavailableError,
        "The search took longer than {timeout} and was ended: ask for fewer results, or raise NEO4J_READ_TIMEOUT.",
    ),
    "Neo.ClientError.Transaction.TransactionTimedOut": (
        UnavailableError,
        "The search took longer than the database allows and was ended: ask for fewer results.",
    ),
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": (
        UnavailableError,
        "The search needed more memory than the database allows: ask for fewer results.",
    ),
    "Neo.ClientError.Statement.AccessMode": (
        SetupError,
        "The retrieval query (RETRIEVAL_QUERY) tries to write; only reading queries are run.",
    ),
}


def translate(
    error: Exception, *, database: str | None = None, timeout: float | None = None, settings_of: str | None = None
) -> GraphRAGError:
    """Return the fault that a caller is told of in place of one of the driver's.

    Args:
        error: What the driver raised.
        database: The database's name; `None` for the user's default one.
        timeout: The time limit of a query, in seconds, where it is known.
        settings_of: Where the connection's settings stand, such as `[database.movies] in RETRIEVERS_FILE`; `None` for
            the environment.

    The driver's own text stands in the result for queries that Neo4j refuses, and nowhere else: it quotes the URI.
    """
    if isinstance(error, GraphRAGError):
        return error
    if isinstance(error, Neo4jError) and (fault := _BY_CODE.get(error.code or "")):
        kind, text = fault
        limit = f"{timeout:g} s" if timeout else "its time limit"
        named = f"'{database}'" if database else "of that name"
        return kind(text.format(database=named, timeout=limit, **setting_names(settings_of)))
    if isinstance(error, AuthError):
        unauthorized = _BY_CODE["Neo.ClientError.Security.Unauthorized"][1]
        return SetupError(unauthorized.format(**setting_names(settings_of)))
    if isinstance(error, ConfigurationError):
        return SetupError(_REFUSED_SETTINGS.format(**setting_names(settings_of)))
    if isinstance(error, (ServiceUnavailable, SessionExpired, OSError)):
        return UnavailableError(_UNREACHABLE.format(**setting_names(settings_of)))
    if isinstance(error, Neo4jError):
        return _refused(error)
    if isinstance(error, DriverError):
        return UnavailableError(f"The connection to Neo4j failed ({type(error).__name__}): ask again.")
    return UnavailableError(f"The search failed ({type(error).__name__}): ask again.")


def is_about_statement(error: Neo4jError) -> bool:
    """Whether Neo4j did not take the statement itself, as a server does that lacks what stands in it."""
    return (error.code or "").startswith("Neo.ClientError.Statement.")


def setting_names(settings_of: str | None) -> dict[str, str]:
    """Return what an operator knows each setting of a connection by, here or in a table of a file."""
    if settings_of is None:
        return {
            "uri": "NEO4J_URI",
            "username": "NEO4J_USERNAME",
            "password": "NEO4J_PASSWORD",
            "user_and_password": "NEO4J_USERNAME and NEO4J_PASSWORD",
            "name": "NEO4J_DATABASE",
        }
    return {
        "uri": f"`uri` of {settings_of}",
        "username": f"`username` of {settings_of}",
        "password": f"the variable that `password_env` of {settings_of} names",
        "user_and_password": f"`username` and `password_env` of {settings_of}",
        "name": f"`name` of {settings_of}",
    }


def _refused(error: Neo4jError) -> GraphRAGError:
    """Return the fault for a query that Neo4j refused or could not finish."""
    message, _ = complaint(error)
    if error.is_retryable():
        return UnavailableError(f"Neo4j could not answer just now: {message}")
    if "finite values" in message or error.gql_status == "22NBG":
        return QuestionError("The embedder made no usable vector of this question: rephrase it.")
    return SetupError(f"Neo4j refused the search: {message}")


def complaint(error: Neo4jError) -> tuple[str, tuple[int, int] | None]:
    """Return what Neo4j says of a query, without quoting it, and the line and column it speaks of, both from 1."""
    message = (error.message or error.code or "unknown error").split("\n", 1)[0]
    match = _PLACE.search(message)
    place = (int(match[1]), int(match[2])) if match and match[1] != "0" else None
    return one_line(_PLACE.sub("", message)), place
