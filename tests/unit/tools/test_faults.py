"""The one translator of errors to MCP."""

from __future__ import annotations

import logging

import pydantic
import pytest
from fastmcp.exceptions import ToolError
from neo4j.exceptions import ServiceUnavailable
from neo4j_graphrag.exceptions import EmbeddingRequiredError, RetrieverInitializationError

from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.tools.faults import to_tool_error

SECRET = "bolt://neo4j:hunter2@db.example:7687"


class Arguments(pydantic.BaseModel):
    query: str
    top_k: int = pydantic.Field(ge=1)


def bad_arguments() -> pydantic.ValidationError:
    with pytest.raises(pydantic.ValidationError) as caught:
        Arguments(query=["hunter2"], top_k=0)  # type: ignore[arg-type] # bad on purpose
    return caught.value


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "told", "level"),
    [
        (QuestionError("ask again"), "ask again", None),
        (SetupError("set it up"), "set it up", logging.WARNING),
        (UnavailableError("later"), "later", logging.WARNING),
        (ServiceUnavailable(SECRET), "Neo4j can't be reached", logging.WARNING),
        (EmbeddingRequiredError("An embedder\nis needed"), "An embedder is needed", logging.WARNING),
        (
            caused(RetrieverInitializationError([SECRET]), ServiceUnavailable(SECRET)),
            "Neo4j can't be reached",
            logging.WARNING,
        ),
        (bad_arguments(), "query: Input should be a valid string; top_k: Input should be greater", None),
        (RuntimeError(SECRET), "failed inside the server (RuntimeError)", logging.ERROR),
    ],
)
def test_an_error_is_one_line_without_a_secret_and_logged_for_who_must_act(
    caplog: pytest.LogCaptureFixture, error: Exception, told: str, level: int | None
):
    caplog.set_level(logging.INFO)
    answer = to_tool_error(error)
    assert isinstance(answer, ToolError)
    assert told in str(answer)
    assert "hunter2" not in str(answer)
    assert "\n" not in str(answer)
    levels = [record.levelno for record in caplog.records]
    assert (max(levels) if levels else None) == level


def test_what_an_operator_must_see_is_logged_once(caplog: pytest.LogCaptureFixture):
    to_tool_error(SetupError("set it up"))
    assert caplog.messages == ["set it up"]


def test_a_fault_of_this_server_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture):
    to_tool_error(RuntimeError("why"))
    assert any(record.exc_info and record.exc_info[1].args == ("why",) for record in caplog.records)
