"""Errors of the driver, in a database's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError, UnavailableError

if TYPE_CHECKING:
    import neo4j

DATABASE = Database(cast("neo4j.Driver", None), "films")


def test_an_error_of_the_driver_is_told_with_the_databases_name():
    error = Neo4jError._hydrate_neo4j(code="Neo.ClientError.Database.DatabaseNotFound", message="x")
    with (
        pytest.raises(SetupError, match="There is no database 'films' on this server") as caught,
        DATABASE.translated(),
    ):
        raise error
    assert caught.value.__cause__ is error


def test_a_lost_connection_is_told_without_its_address():
    with pytest.raises(UnavailableError, match=r"^Neo4j can't be reached") as caught, DATABASE.translated():
        raise ServiceUnavailable("bolt://neo4j:pw@host")
    assert "host" not in str(caught.value)


@pytest.mark.parametrize("error", [QuestionError("other words"), ValueError("a fault of ours")])
def test_whatever_else_is_raised_stays_as_it_is(error: Exception):
    with pytest.raises(type(error)) as caught, DATABASE.translated():
        raise error
    assert caught.value is error
