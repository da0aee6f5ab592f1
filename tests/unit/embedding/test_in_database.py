"""What the database is asked, for each provider and function of the GenAI plugin, and what is told of a failure."""

from __future__ import annotations

import logging
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
from neo4j.exceptions import Neo4jError
from pydantic import SecretStr

from mcp_neo4j_vector_graphrag.embedding.in_database import FAILED, InDatabaseEmbedder
from mcp_neo4j_vector_graphrag.embedding.provider import Credentials, missing
from mcp_neo4j_vector_graphrag.errors import SetupError

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.capabilities import EmbedFunction
    from mcp_neo4j_vector_graphrag.embedding.provider import Provider

NEW: EmbedFunction = "ai.text.embed"
OLD: EmbedFunction = "genai.vector.encode"
PROVIDERS: tuple[Provider, ...] = ("openai", "azure-openai", "vertexai", "bedrock-titan")

KEY, AWS_ID, AWS_SECRET = "s3cr3t-key", "s3cr3t-aws-id", "s3cr3t-aws-key"
EVERYTHING = Credentials(
    model="the-model",
    api_key=SecretStr(KEY),
    dimensions=256,
    azure_resource="the-resource",
    vertex_project="the-project",
    vertex_region="the-region",
    vertex_publisher="the-publisher",
    aws_access_key_id=SecretStr(AWS_ID),
    aws_secret_access_key=SecretStr(AWS_SECRET),
    aws_region="the-aws-region",
)
"""What every provider takes: each must pick its own."""

OPENAI = {"token": KEY, "model": "the-model"}
AZURE = {"token": KEY, "resource": "the-resource"}
VERTEX = {"token": KEY, "model": "the-model", "region": "the-region"}
AWS = {"accessKeyId": AWS_ID, "secretAccessKey": AWS_SECRET, "model": "the-model", "region": "the-aws-region"}

ASKED: list[tuple[Provider, EmbedFunction, str, dict[str, Any], dict[str, Any]]] = [
    ("openai", NEW, "openai", OPENAI, {"vendorOptions": {"dimensions": 256}}),
    ("openai", OLD, "OpenAI", OPENAI, {"dimensions": 256}),
    ("azure-openai", NEW, "azure-openai", {**AZURE, "model": "the-model"}, {"vendorOptions": {"dimensions": 256}}),
    ("azure-openai", OLD, "AzureOpenAI", {**AZURE, "deployment": "the-model"}, {"dimensions": 256}),
    (
        "vertexai",
        NEW,
        "vertexai",
        {**VERTEX, "project": "the-project", "publisher": "the-publisher"},
        {"vendorOptions": {"outputDimensionality": 256}},
    ),
    ("vertexai", OLD, "VertexAI", {**VERTEX, "projectId": "the-project"}, {}),
    ("bedrock-titan", NEW, "bedrock-titan", AWS, {"vendorOptions": {"dimensions": 256}}),
    ("bedrock-titan", OLD, "Bedrock", AWS, {}),
]
"""Provider, function, the provider's name there, its configuration, and what a length adds to that."""

NEEDED: dict[Provider, list[str]] = {
    "openai": ["model", "api_key"],
    "azure-openai": ["model", "api_key", "azure_resource"],
    "vertexai": ["model", "api_key", "vertex_project", "vertex_region"],
    "bedrock-titan": ["model", "aws_access_key_id", "aws_secret_access_key", "aws_region"],
}


def failure(message: str) -> Neo4jError:
    code = "Neo.ClientError.Procedure.ProcedureCallFailed"
    return Neo4jError._basic_hydrate(neo4j_code=code, message=message)  # the driver has no public way to make one


def invoked(function: str, why: str) -> str:
    return f"Failed to invoke function `{function}`: Caused by: org.neo4j.genai.util.GenAIProcedureException: {why}"


@pytest.mark.parametrize("sized", [True, False], ids=["length", "no-length"])
@pytest.mark.parametrize(
    ("provider", "function", "name", "configuration", "length"), ASKED, ids=[f"{row[0]}-{row[1]}" for row in ASKED]
)
def test_the_database_is_asked_in_the_words_of_its_function(  # noqa: PLR0913 - a row of the table
    provider: Provider,
    function: EmbedFunction,
    name: str,
    configuration: dict[str, Any],
    length: dict[str, Any],
    sized: bool,  # noqa: FBT001 - a parameter of the test
):
    credentials = EVERYTHING if sized else replace(EVERYTHING, dimensions=None)

    asked = InDatabaseEmbedder(provider, credentials).query_vector("what?", function)

    assert asked.expression == f"{function}($embedding_text, $embedding_provider, $embedding_configuration)"
    assert asked.parameters == {
        "embedding_text": "what?",
        "embedding_provider": name,
        "embedding_configuration": {**configuration, **(length if sized else {})},
    }
    assert asked.vector is None


def test_the_publisher_of_a_vertex_model_is_google_unless_told():
    given = Credentials(model="m", api_key=SecretStr(KEY), vertex_project="p", vertex_region="r")
    asked = InDatabaseEmbedder("vertexai", given).query_vector("what?", NEW)
    assert asked.parameters["embedding_configuration"]["publisher"] == "google"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_a_provider_needs_is_told_by_field_in_order(provider: Provider):
    assert missing(provider, Credentials()) == NEEDED[provider]


@pytest.mark.parametrize(("provider", "field"), [(name, field) for name in PROVIDERS for field in NEEDED[name]])
def test_each_field_that_lacks_is_told(provider: Provider, field: str):
    assert missing(provider, replace(EVERYTHING, **{field: None})) == [field]
    assert missing(provider, replace(EVERYTHING, **{field: type(getattr(EVERYTHING, field))("")})) == [field]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_another_provider_needs_is_not_asked_for(provider: Provider):
    own = {field.name: getattr(EVERYTHING, field.name) for field in fields(Credentials)}
    only = Credentials(**{name: value for name, value in own.items() if name in NEEDED[provider]})
    assert missing(provider, only) == []


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("function", [NEW, OLD])
def test_secrets_are_parameters_and_nothing_else(provider: Provider, function: EmbedFunction):
    embedder = InDatabaseEmbedder(provider, EVERYTHING)
    asked = embedder.query_vector("what?", function)
    assert "s3cr3t" in str(asked.parameters["embedding_configuration"])
    for shown in (asked.expression, repr(asked), str(asked), repr(embedder), repr(EVERYTHING), str(vars(embedder))):
        assert "s3cr3t" not in shown


def test_a_question_is_a_parameter_whatever_it_holds():
    question = "'}) RETURN 1 //`$embedding_provider"
    asked = InDatabaseEmbedder("openai", EVERYTHING).query_vector(question, OLD)
    assert asked.parameters["embedding_text"] == question
    assert question not in asked.expression


def test_a_database_without_a_function_is_told_with_the_plugins_name():
    with pytest.raises(SetupError) as caught:
        InDatabaseEmbedder("openai", EVERYTHING).query_vector("what?", None)
    assert str(caught.value) == (
        "This Neo4j has no function that embeds text: install the GenAI plugin on the server (Aura has it), or set "
        "EMBEDDING_MODEL in place of NEO4J_EMBEDDING_PROVIDER."
    )


def test_the_librarys_own_way_to_a_vector_is_refused():
    with pytest.raises(SetupError, match="inside the database"):
        InDatabaseEmbedder("openai", EVERYTHING).embed_query("what?")


@pytest.mark.parametrize("function", [NEW, OLD])
def test_a_failed_embedding_is_told_in_general_and_logged_with_its_cause(
    caplog: pytest.LogCaptureFixture, function: EmbedFunction
):
    fault = InDatabaseEmbedder("openai", EVERYTHING).fault(failure(invoked(function, "429 Too Many\nRequests")))

    assert isinstance(fault, SetupError)
    assert str(fault) == (
        "The database could not embed the question: check that the GenAI plugin is installed and its credentials are "
        "valid; the server's log has the details."
    )
    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage().endswith("429 Too Many Requests")
    assert function in record.getMessage()


def test_an_error_of_the_plugins_own_is_a_failed_embedding_too(caplog: pytest.LogCaptureFixture):
    fault = InDatabaseEmbedder("openai", EVERYTHING).fault(failure("org.neo4j.genai.util.Unreachable: no route"))
    assert str(fault) == FAILED
    assert "no route" in caplog.text


@pytest.mark.parametrize(
    "message",
    [
        "Failed to invoke procedure `db.index.vector.queryNodes`: Caused by: java.lang.IllegalArgumentException: no",
        "Variable `x` not defined",
        "",
    ],
)
def test_another_error_is_left_to_others(caplog: pytest.LogCaptureFixture, message: str):
    assert InDatabaseEmbedder("openai", EVERYTHING).fault(failure(message)) is None
    assert caplog.records == []


@pytest.mark.parametrize(
    "message",
    [
        "Vector index 'x' has a configured dimensionality of 8, but the provided vector has dimension 5.",
        (
            "Failed to invoke procedure `db.index.vector.queryNodes`: Caused by: java.lang.IllegalArgumentException: "
            "Index query vector has 5 dimensions, but indexed vectors have 8."
        ),
    ],
    ids=["search-clause", "procedure"],
)
def test_a_vector_of_another_length_is_told_with_both_lengths_and_the_settings(message: str):
    fault = InDatabaseEmbedder("openai", EVERYTHING).fault(failure(message))
    assert isinstance(fault, SetupError)
    assert str(fault) == (
        "The provider's model makes vectors of 5 dimensions and the index holds vectors of 8: set "
        "NEO4J_EMBEDDING_MODEL and NEO4J_EMBEDDING_DIMENSIONS to what made the index's vectors."
    )


@pytest.mark.parametrize(
    "key",
    ["leak-s3cr3t", "leak-s3cr3t-" + "x" * 2_000, "leak-s3cr3t\n", "leak-s3cr3t with  two blanks", "a"],
    ids=["plain", "longer-than-a-line", "line-break-at-its-end", "blanks", "one-letter"],
)
def test_a_key_that_the_provider_quotes_is_not_logged_whoever_handles_the_log(
    caplog: pytest.LogCaptureFixture, key: str
):
    credentials = replace(EVERYTHING, api_key=SecretStr(key))
    quoted = invoked(OLD, f"401 Unauthorized: incorrect key provided: {key}")

    InDatabaseEmbedder("openai", credentials).fault(failure(quoted))

    [record] = caplog.records
    assert "s3cr3t" not in record.getMessage()
    assert "401 Unauthorized" in record.getMessage()


def test_both_aws_secrets_are_not_logged_either(caplog: pytest.LogCaptureFixture):
    quoted = invoked(OLD, f"403 Forbidden for {AWS_ID} with {AWS_SECRET}")
    InDatabaseEmbedder("bedrock-titan", EVERYTHING).fault(failure(quoted))
    assert "403 Forbidden" in caplog.text
    assert "s3cr3t" not in caplog.text
