"""What the driver raises, as faults of this project: one row per code."""

from __future__ import annotations

import pytest
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from mcp_neo4j_vector_graphrag.database.faults import complaint, translate
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError, SetupError, UnavailableError

UNREACHABLE = "Neo4j can't be reached: check that it is running and that NEO4J_URI is right, then ask again."

MOVIES = "[database.movies] in RETRIEVERS_FILE"
SECRET = "bolt://neo4j:hunter2@db.example:7687"


def of_server(code: str, message: str = f"no: {SECRET}") -> Neo4jError:
    """Return the error that the driver makes of a server's answer."""
    return Neo4jError._basic_hydrate(neo4j_code=code, message=message)  # the driver has no public way to make one


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        ("Neo.ClientError.Security.Unauthorized", SetupError, "NEO4J_PASSWORD"),
        ("Neo.ClientError.Security.CredentialsExpired", SetupError, "must be changed"),
        ("Neo.ClientError.Security.AuthenticationRateLimit", UnavailableError, "too many wrong passwords"),
        ("Neo.ClientError.Security.Forbidden", SetupError, "NEO4J_USERNAME"),
        ("Neo.ClientError.Database.DatabaseNotFound", SetupError, "'films'"),
        ("Neo.TransientError.General.DatabaseUnavailable", UnavailableError, "'films'"),
        ("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", UnavailableError, "2.5 s"),
        ("Neo.ClientError.Transaction.TransactionTimedOut", UnavailableError, "longer than the database allows"),
        ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", UnavailableError, "memory"),
        ("Neo.ClientError.Statement.AccessMode", SetupError, "RETRIEVAL_QUERY"),
    ],
)
def test_a_known_code_says_what_to_do_and_quotes_nothing(code: str, kind: type[GraphRAGError], told: str):
    fault = translate(of_server(code), database="films", timeout=2.5)
    assert type(fault) is kind
    assert told in str(fault)
    assert "hunter2" not in str(fault)
    assert "\n" not in str(fault)


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (AuthError(SECRET), SetupError, "NEO4J_PASSWORD"),
        (ConfigurationError(SECRET), SetupError, "NEO4J_URI"),
        (ServiceUnavailable(SECRET), UnavailableError, UNREACHABLE),
        (SessionExpired(SECRET), UnavailableError, UNREACHABLE),
        (ConnectionAcquisitionTimeoutError(SECRET), UnavailableError, "ConnectionAcquisitionTimeoutError"),
        (OSError(SECRET), UnavailableError, UNREACHABLE),
        (RuntimeError(SECRET), UnavailableError, "RuntimeError"),
    ],
)
def test_a_failed_connection_says_what_to_do_and_quotes_nothing(error: Exception, kind: type[GraphRAGError], told: str):
    fault = translate(error, database=None, timeout=30)
    assert type(fault) is kind
    assert told in str(fault)
    assert "hunter2" not in str(fault)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (of_server("Neo.ClientError.Security.Unauthorized"), f"check `username` and `password_env` of {MOVIES}."),
        (AuthError(SECRET), f"check `username` and `password_env` of {MOVIES}."),
        (
            of_server("Neo.ClientError.Security.CredentialsExpired"),
            f"then set the variable that `password_env` of {MOVIES} names.",
        ),
        (
            of_server("Neo.ClientError.Security.AuthenticationRateLimit"),
            f"check the variable that `password_env` of {MOVIES} names, wait",
        ),
        (of_server("Neo.ClientError.Security.Forbidden"), f"The Neo4j user in `username` of {MOVIES} may not read"),
        (
            of_server("Neo.ClientError.Database.DatabaseNotFound"),
            f"no database 'films' on this server: check `name` of {MOVIES}.",
        ),
        (ConfigurationError(SECRET), f"check `uri` of {MOVIES}."),
        (ServiceUnavailable(SECRET), f"that `uri` of {MOVIES} is right"),
        (SessionExpired(SECRET), f"that `uri` of {MOVIES} is right"),
        (OSError(SECRET), f"that `uri` of {MOVIES} is right"),
    ],
)
def test_settings_of_a_file_are_called_what_they_are_there(error: Exception, told: str):
    text = str(translate(error, database="films", settings_of=MOVIES))
    assert told in text
    assert "NEO4J_" not in text


def test_a_fault_of_ours_is_told_as_it_is():
    fault = QuestionError("ask again")
    assert translate(fault, database=None, timeout=30) is fault


def test_an_unnamed_database_is_not_called_none():
    error = of_server("Neo.ClientError.Database.DatabaseNotFound")
    assert "None" not in str(translate(error, database=None, timeout=30))


def test_what_neo4j_refuses_is_told_in_its_own_words_on_one_line():
    error = of_server("Neo.ClientError.Statement.ArithmeticError", "/ by zero\n  in a long story")
    fault = translate(error, database=None, timeout=30)
    assert type(fault) is SetupError
    assert str(fault) == "Neo4j refused the search: / by zero"


def test_what_may_pass_is_no_fault_of_the_set_up():
    error = of_server("Neo.TransientError.Transaction.DeadlockDetected", "a deadlock")
    fault = translate(error, database=None, timeout=30)
    assert type(fault) is UnavailableError
    assert "a deadlock" in str(fault)


def test_a_vector_that_cannot_be_searched_with_is_the_questions_fault():
    error = of_server("Neo.ClientError.Procedure.ProcedureCallFailed", "Vector must only contain finite values.")
    assert type(translate(error, database=None, timeout=30)) is QuestionError


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            'Variable `y` not defined (line 5, column 8 (offset: 40))\n"RETURN y"\n ^',
            ("Variable `y` not defined", (5, 8)),
        ),
        ("Invalid input 'x' (line 1, column 2)", ("Invalid input 'x'", (1, 2))),
        ("Two statements (line 0, column 0 (offset: 0))", ("Two statements", None)),
        ("No place at all", ("No place at all", None)),
    ],
)
def test_a_complaint_is_told_apart_from_its_place(message: str, expected: tuple[str, tuple[int, int] | None]):
    error = of_server("Neo.ClientError.Statement.SyntaxError", message)
    assert isinstance(error, ClientError)
    assert complaint(error) == expected
