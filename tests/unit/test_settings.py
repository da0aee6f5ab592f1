"""Options: where a value comes from, and what is said of a bad one."""

from __future__ import annotations

import os

import pytest

from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import load, options

URI = "bolt://localhost:7687"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch):
    """Hide the variables of the machine that the tests run on."""
    known = {variable for option in options() for variable in option.variables}
    for name in [name for name in os.environ if name.upper() in known]:
        monkeypatch.delenv(name)


def refusal(**flags: object) -> str:
    with pytest.raises(SetupError) as caught:
        load(flags)
    return str(caught.value)


def test_the_defaults_are_those_that_are_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEO4J_URI", URI)
    settings = load({})
    assert (settings.uri, settings.username, settings.password, settings.database) == (URI, "neo4j", None, None)
    told = {option.field: option.default for option in options()}
    assert {field: told[field] for field in ("transport", "server_host", "server_port", "read_timeout")} == {
        "transport": settings.transport,
        "server_host": settings.server_host,
        "server_port": str(settings.server_port),
        "read_timeout": str(settings.read_timeout),
    }
    assert (settings.top_k, settings.transport, settings.server_host) == (None, "stdio", "127.0.0.1")


def test_a_flag_wins_over_a_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEO4J_URI", URI)
    monkeypatch.setenv("TOP_K", "9")
    assert load({}).top_k == 9
    assert load({"top_k": "7"}).top_k == 7


@pytest.mark.parametrize("variable", ["NEO4J_URI", "NEO4J_URL"])
def test_both_names_of_the_address_are_taken(monkeypatch: pytest.MonkeyPatch, variable: str):
    monkeypatch.setenv(variable, URI)
    assert load({}).uri == URI


@pytest.mark.parametrize("variable", ["NEO4J_USERNAME", "NEO4J_USER"])
def test_both_names_of_the_user_are_taken(monkeypatch: pytest.MonkeyPatch, variable: str):
    monkeypatch.setenv(variable, "reader")
    assert load({"uri": URI}).username == "reader"


def test_the_first_name_of_an_option_wins_over_the_second(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEO4J_URL", "bolt://second")
    monkeypatch.setenv("NEO4J_URI", "bolt://first")
    assert load({}).uri == "bolt://first"


def test_a_flag_wins_over_the_second_name_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEO4J_URL", "bolt://second")
    assert load({"uri": "bolt://flag"}).uri == "bolt://flag"


def test_a_blank_first_name_leaves_the_second(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEO4J_URI", "")
    monkeypatch.setenv("NEO4J_URL", "bolt://second")
    assert load({}).uri == "bolt://second"


@pytest.mark.parametrize("value", ["", "   ", "${user_config.index}", " ${INDEX} "])
def test_a_blank_or_unexpanded_value_counts_as_not_set(monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("INDEX_NAME", value)
    monkeypatch.setenv("TOP_K", value)
    settings = load({"uri": URI, "database": value})
    assert (settings.index_name, settings.top_k, settings.database) == (None, None, None)


def test_a_stray_env_file_in_the_folder_counts_not(monkeypatch: pytest.MonkeyPatch, tmp_path):
    (tmp_path / ".env").write_text("NEO4J_URI=bolt://stray\nTOP_K=not a number\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load({"uri": URI}).top_k is None
    assert "NEO4J_URI is not set" in refusal()


def test_no_address_is_one_line_that_names_the_variable():
    text = refusal()
    assert text.startswith("NEO4J_URI is not set")
    assert "\n" not in text


@pytest.mark.parametrize("uri", ["localhost:7687", "http://localhost:7474", "bolt:localhost", "://x"])
def test_an_address_without_a_scheme_of_neo4j_is_refused(uri: str):
    text = refusal(uri=uri)
    assert "NEO4J_URI" in text
    assert "neo4j+s" in text


@pytest.mark.parametrize(
    ("field", "value", "variable", "flag"),
    [
        ("top_k", "0", "TOP_K", "--top-k"),
        ("top_k", "51", "TOP_K", "--top-k"),
        ("top_k", "many", "TOP_K", "--top-k"),
        ("server_port", "70000", "NEO4J_MCP_SERVER_PORT", "--server-port"),
        ("transport", "carrier pigeon", "NEO4J_TRANSPORT", "--transport"),
        ("read_timeout", "0", "NEO4J_READ_TIMEOUT", "--read-timeout"),
        ("read_timeout", "inf", "NEO4J_READ_TIMEOUT", "--read-timeout"),
        ("read_timeout", "nan", "NEO4J_READ_TIMEOUT", "--read-timeout"),
        ("response_tokens", "10", "RESPONSE_TOKEN_LIMIT", "--response-token-limit"),
        ("log_level", "LOUD", "LOG_LEVEL", "--log-level"),
        ("demo", "perhaps", "NEO4J_MCP_DEMO", "--demo"),
    ],
)
def test_a_bad_value_is_refused_with_the_names_of_its_variable_and_flag(
    field: str, value: str, variable: str, flag: str
):
    text = refusal(uri=URI, **{field: value})
    assert text.startswith(f"{variable} ({flag}): ")
    assert "\n" not in text


def test_a_refusal_never_quotes_the_value():
    assert "hunter2-is-my-password" not in refusal(uri=URI, top_k="hunter2-is-my-password")
    assert "hunter2-is-my-password" not in refusal(uri="http://neo4j:hunter2-is-my-password@host")


def test_the_password_is_kept_as_it_is_and_shown_to_nobody():
    settings = load({"uri": URI, "password": " pass word "})
    assert settings.password is not None
    assert settings.password.get_secret_value() == " pass word "
    assert "pass word" not in repr(settings)


def test_lists_are_separated_by_commas():
    settings = load({"uri": URI, "allowed_procedures": "apoc.text.*, ,gds.util.asNode,"})
    assert settings.allowed_procedures == ["apoc.text.*", "gds.util.asNode"]


@pytest.mark.parametrize("value", ["true", "1", True])
def test_a_switch_is_on_by_a_variable_or_a_flag(value: object):
    assert load({"demo": value}).demo is True


def test_the_demo_needs_no_address_and_takes_no_other():
    assert load({"demo": True}).uri is None
    text = refusal(demo=True, uri=URI)
    assert "NEO4J_MCP_DEMO" in text
    assert "NEO4J_URI" in text


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_listening_beyond_loopback_without_a_token_takes_an_explicit_flag(transport: str):
    open_to_others = {"uri": URI, "transport": transport, "server_host": "0.0.0.0"}
    text = refusal(**open_to_others)
    assert "NEO4J_MCP_SERVER_HOST" in text
    assert "--allow-unauthenticated" in text
    assert load({**open_to_others, "allow_unauthenticated": True}).server_host == "0.0.0.0"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_takes_no_flag(host: str):
    assert load({"uri": URI, "transport": "http", "server_host": host}).server_host == host


def test_every_option_has_a_variable_a_flag_and_a_description_of_its_own():
    listed = options()
    assert len({option.flag for option in listed}) == len(listed)
    assert len({variable for option in listed for variable in option.variables}) == sum(
        len(option.variables) for option in listed
    )
    assert all(option.flag.startswith("--") and option.description.endswith(".") for option in listed)


@pytest.mark.parametrize("path", ["/{x:nope}", "/{x}", "/a b", "/a?b", "/health", "health/", "//", "/./", "/a/../b"])
def test_a_path_that_is_taken_or_can_be_none_is_refused(path: str):
    with pytest.raises(SetupError, match=r"^NEO4J_MCP_SERVER_PATH \(--server-path\): is no path of its own"):
        load({"uri": "bolt://localhost", "server_path": path})


@pytest.mark.parametrize("path", ["/mcp", "mcp/", "/", "/api/v1.2/mcp-x_y", "/~me/mcp:1", "/.well-known/mcp"])
def test_a_path_is_taken_with_and_without_slashes(path: str):
    assert load({"uri": "bolt://localhost", "server_path": path}).server_path == path
