"""Options of an embedding inside the database: what lacks or contradicts is told at the start, by name."""

from __future__ import annotations

import os

import pytest

from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import load, options

URI = "bolt://localhost:7687"
PREFIX = "NEO4J_EMBEDDING_"

NEEDED: dict[str, tuple[str, ...]] = {
    "openai": ("MODEL", "API_KEY"),
    "azure-openai": ("MODEL", "API_KEY", "AZURE_RESOURCE"),
    "vertexai": ("MODEL", "API_KEY", "VERTEX_PROJECT", "VERTEX_REGION"),
    "bedrock-titan": ("MODEL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"),
}


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch):
    """Hide the variables of the machine that the tests run on."""
    known = {variable for option in options() for variable in option.variables}
    for name in [name for name in os.environ if name.upper() in known]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NEO4J_URI", URI)


def provide(monkeypatch: pytest.MonkeyPatch, provider: str, *left_out: str) -> None:
    """Set what a provider needs, some of it left out."""
    monkeypatch.setenv("NEO4J_EMBEDDING_PROVIDER", provider)
    for name in NEEDED[provider]:
        if name not in left_out:
            monkeypatch.setenv(PREFIX + name, f"the {name}")


def refusal() -> str:
    with pytest.raises(SetupError) as caught:
        load({})
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


@pytest.mark.parametrize("provider", NEEDED)
def test_a_provider_with_what_it_needs_is_taken(monkeypatch: pytest.MonkeyPatch, provider: str):
    provide(monkeypatch, provider)
    settings = load({})
    assert settings.embedding_provider == provider
    assert settings.embedding_credentials.model == "the MODEL"


@pytest.mark.parametrize(("provider", "lacking"), [(name, lacking) for name in NEEDED for lacking in NEEDED[name]])
def test_what_a_provider_lacks_is_told_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, provider: str, lacking: str
):
    provide(monkeypatch, provider, lacking)
    assert refusal() == f"NEO4J_EMBEDDING_PROVIDER is {provider}, which needs NEO4J_EMBEDDING_{lacking} as well."


@pytest.mark.parametrize("provider", NEEDED)
def test_all_that_a_provider_lacks_is_told_together(monkeypatch: pytest.MonkeyPatch, provider: str):
    provide(monkeypatch, provider, *NEEDED[provider])
    names = ", ".join(PREFIX + name for name in NEEDED[provider])
    assert refusal() == f"NEO4J_EMBEDDING_PROVIDER is {provider}, which needs {names} as well."


@pytest.mark.parametrize("blank", ["", "  ", "${user_config.key}"])
def test_a_key_that_is_blank_or_a_placeholder_lacks(monkeypatch: pytest.MonkeyPatch, blank: str):
    provide(monkeypatch, "openai")
    monkeypatch.setenv("NEO4J_EMBEDDING_API_KEY", blank)
    assert "needs NEO4J_EMBEDDING_API_KEY as well" in refusal()


def test_every_variable_that_is_told_exists():
    known = {variable for option in options() for variable in option.variables}
    assert {PREFIX + name for names in NEEDED.values() for name in names} <= known


def test_a_model_of_this_server_and_one_inside_the_database_are_refused_with_both_names(
    monkeypatch: pytest.MonkeyPatch,
):
    provide(monkeypatch, "openai")
    monkeypatch.setenv("EMBEDDING_MODEL", "openai:text-embedding-ada-002")
    assert refusal() == "EMBEDDING_MODEL and NEO4J_EMBEDDING_PROVIDER are both set: take one of them."


def test_the_contradiction_is_told_before_what_lacks(monkeypatch: pytest.MonkeyPatch):
    provide(monkeypatch, "openai", "API_KEY")
    monkeypatch.setenv("EMBEDDING_MODEL", "local:use-multilingual-v3")
    assert "EMBEDDING_MODEL and NEO4J_EMBEDDING_PROVIDER are both set" in refusal()


def test_an_unknown_provider_is_told_with_those_that_are_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEO4J_EMBEDDING_PROVIDER", "a-provider-of-mine")
    monkeypatch.setenv("NEO4J_EMBEDDING_API_KEY", "s3cr3t-key")
    text = refusal()
    assert text.startswith("NEO4J_EMBEDDING_PROVIDER (--embedding-provider): ")
    assert all(f"'{provider}'" in text for provider in NEEDED)
    assert "a-provider-of-mine" not in text
    assert "s3cr3t" not in text


@pytest.mark.parametrize("value", ["0", "-1", "4097", "many", "1.5"])
def test_a_length_that_no_vector_has_is_refused(monkeypatch: pytest.MonkeyPatch, value: str):
    provide(monkeypatch, "openai")
    monkeypatch.setenv("NEO4J_EMBEDDING_DIMENSIONS", value)
    assert refusal().startswith("NEO4J_EMBEDDING_DIMENSIONS (--embedding-dimensions): ")


def test_what_lacks_is_told_without_the_secrets_that_are_set(monkeypatch: pytest.MonkeyPatch):
    provide(monkeypatch, "bedrock-titan", "AWS_REGION")
    monkeypatch.setenv("NEO4J_EMBEDDING_AWS_SECRET_ACCESS_KEY", "s3cr3t-key")
    assert "s3cr3t" not in refusal()


def test_each_credential_has_the_value_of_its_own_variable(monkeypatch: pytest.MonkeyPatch):
    provide(monkeypatch, "openai")
    names = {name for needed in NEEDED.values() for name in needed} | {"VERTEX_PUBLISHER"}
    for name in names:
        monkeypatch.setenv(PREFIX + name, f"value of {name}")
    monkeypatch.setenv("NEO4J_EMBEDDING_DIMENSIONS", "256")

    given = load({}).embedding_credentials

    bare = {
        name.upper(): value.get_secret_value() if hasattr(value, "get_secret_value") else value
        for name, value in vars(given).items()
    }
    assert bare == {**{name: f"value of {name}" for name in names}, "DIMENSIONS": 256}


def test_the_publisher_of_a_vertex_model_is_google_unless_told():
    assert load({}).embedding_credentials.vertex_publisher == "google"


def test_every_secret_is_known_to_be_one_and_is_shown_to_nobody(monkeypatch: pytest.MonkeyPatch):
    provide(monkeypatch, "bedrock-titan")
    secrets = {
        "NEO4J_PASSWORD": "s3cr3t-1",
        "NEO4J_EMBEDDING_API_KEY": "s3cr3t-2",
        "NEO4J_EMBEDDING_AWS_ACCESS_KEY_ID": "s3cr3t-3",
        "NEO4J_EMBEDDING_AWS_SECRET_ACCESS_KEY": "s3cr3t-4",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)

    settings = load({})

    assert settings.secrets == set(secrets.values())
    assert "s3cr3t" not in repr(settings)
    assert "s3cr3t" not in repr(settings.embedding_credentials)


def test_a_secret_that_came_by_a_flag_is_known_as_well(monkeypatch: pytest.MonkeyPatch):
    provide(monkeypatch, "openai", "API_KEY")
    assert "s3cr3t-key" in load({"embedding_api_key": "s3cr3t-key"}).secrets


def test_every_option_with_the_name_of_a_secret_is_one(monkeypatch: pytest.MonkeyPatch):
    """A secret that is added later must not become a plain text."""
    named = [
        option for option in options() if option.variables[0].endswith(("KEY", "KEY_ID", "PASSWORD", "TOKEN", "SECRET"))
    ]
    assert len(named) >= 4
    monkeypatch.setenv("NEO4J_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("NEO4J_EMBEDDING_MODEL", "model")
    for place, option in enumerate(named):
        monkeypatch.setenv(option.variables[0], f"s3cr3t-{place}")
    assert load({}).secrets == {f"s3cr3t-{place}" for place in range(len(named))}


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"NEO4J_EMBEDDING_API_KEY": "key"}, "NEO4J_EMBEDDING_PROVIDER is not set"),
        ({"NEO4J_EMBEDDING_MODEL": "model"}, "NEO4J_EMBEDDING_PROVIDER is not set"),
        ({"NEO4J_EMBEDDING_DIMENSIONS": "512"}, "NEO4J_EMBEDDING_PROVIDER is not set"),
        ({"NEO4J_EMBEDDING_AWS_SECRET_ACCESS_KEY": "key"}, "NEO4J_EMBEDDING_PROVIDER is not set"),
    ],
)
def test_what_belongs_to_a_provider_is_refused_without_one(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], says: str
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SetupError, match=says):
        load({"uri": "bolt://localhost"})
