"""Logging: to standard error, and never with a secret in it."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from mcp_neo4j_vector_graphrag import logs
from mcp_neo4j_vector_graphrag.logs import Redacting, blank_out

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def _restored_logging():
    """Put the loggers back as pytest had them."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in ("httpx", "httpx2", "httpcore", "neo4j", "openai")}
    yield
    root.handlers[:], root.level = handlers, level
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)


@pytest.fixture(autouse=True)
def _no_secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "_secrets", set())


def formatted(message: str, *arguments: object, secrets: frozenset[str] = frozenset(), error: object = None) -> str:
    logs.add_secrets(secrets)
    record = logging.LogRecord("a.logger", logging.WARNING, __file__, 1, message, arguments, error)
    return Redacting().format(record)


def test_a_record_has_its_level_its_logger_and_its_message():
    assert formatted("%s rows", 3).endswith("WARNING a.logger: 3 rows")


@pytest.mark.parametrize(
    "variable",
    ["NEO4J_PASSWORD", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "HF_TOKEN", "CLIENT_SECRET"],
)
def test_the_secrets_of_the_environment_are_blanked_out(monkeypatch: pytest.MonkeyPatch, variable: str):
    monkeypatch.setenv(variable, "hunter2-hunter2")
    assert "hunter2" not in formatted("sent %s to it", "hunter2-hunter2")


def test_a_given_secret_is_blanked_out_in_message_and_arguments():
    text = formatted("sent top-secret and %s", "top-secret", secrets=frozenset({"top-secret"}))
    assert text.endswith("sent *** and ***")


def test_a_secret_that_holds_another_is_blanked_out_whole():
    assert formatted("longsecret-more", secrets=frozenset({"longsecret", "longsecret-more"})).endswith(": ***")


def test_a_secret_in_a_traceback_is_blanked_out():
    with pytest.raises(ValueError, match="top-secret") as caught:
        int("top-secret")
    error = (caught.type, caught.value, caught.tb)
    text = formatted("failed", secrets=frozenset({"top-secret"}), error=error)
    assert "ValueError: invalid literal for int() with base 10: '***'" in text
    assert "top-secret" not in text


def test_the_user_in_an_address_is_blanked_out():
    assert formatted("no route to bolt://neo4j:pw@db:7687").endswith("no route to bolt://***@db:7687")


def test_a_secret_too_short_to_be_one_leaves_the_text_readable():
    assert formatted("the cat sat", secrets=frozenset({"a"})).endswith("the cat sat")


@pytest.mark.usefixtures("_restored_logging")
def test_records_go_to_standard_error_alone(capsys: pytest.CaptureFixture[str]):
    logs.configure("WARNING", frozenset({"top-secret"}))
    logging.getLogger("any").warning("told with top-secret")
    logging.getLogger("any").info("not told")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("WARNING any: told with ***\n")
    assert "not told" not in captured.err


@pytest.mark.usefixtures("_restored_logging")
def test_debug_logging_is_ours_and_not_the_drivers(capsys: pytest.CaptureFixture[str]):
    logs.configure("DEBUG")
    logging.getLogger("neo4j.io").debug("C: RUN")
    logging.getLogger("mcp_neo4j_vector_graphrag").debug("ours")
    err = capsys.readouterr().err
    assert "C: RUN" not in err
    assert "ours" in err


@pytest.mark.usefixtures("_restored_logging")
def test_the_driver_is_silenced_where_everything_is(capsys: pytest.CaptureFixture[str]):
    logs.configure("ERROR")
    logging.getLogger("neo4j").warning("chatter")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("text", ["x" * 1_000_000, "a://" * 250_000, "://" + "x" * 1_000_000])
def test_a_long_word_takes_no_longer_than_its_length(text: str):
    start = time.process_time()
    Redacting().format(logging.LogRecord("any", logging.INFO, __file__, 1, text, (), None))
    assert time.process_time() - start < 5  # a quadratic search takes minutes


@pytest.mark.parametrize("written", [repr, json.dumps, lambda text: quote(text, safe="")])
def test_a_secret_is_blanked_out_as_python_json_and_urls_write_it(written: Callable[[str], str]):
    secret = "pa\\ss'w0rd ö/4711"
    assert "4711" not in blank_out(f"refused: {written(secret)}", [secret])
