"""What an embedder raises, as faults of this project."""

from __future__ import annotations

import httpx
import openai
import pytest

from mcp_neo4j_vector_graphrag.embedding.faults import translate
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError, SetupError, UnavailableError

MODEL = "openai:text-embedding-3-small"
SECRET = "sk-hunter2"
REQUEST = httpx.Request("POST", "https://provider.example/v1/embeddings")


def of_status(status: int) -> Exception:
    """Return what OpenAI's own client raises for a response of that status."""
    response = httpx.Response(status, request=REQUEST, json={"error": {"message": f"no: {SECRET}"}})
    client = openai.OpenAI(api_key=SECRET, base_url="https://provider.example/v1")
    try:
        return client._make_status_error_from_response(response)  # the client has no public way to make one
    finally:
        client.close()


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (401, SetupError, "OPENAI_API_KEY"),
        (403, SetupError, "OPENAI_API_KEY"),
        (404, SetupError, "EMBEDDING_MODEL"),
        (429, UnavailableError, "ask again"),
        (500, UnavailableError, "ask again"),
        (503, UnavailableError, "ask again"),
        (400, SetupError, "BadRequestError"),
    ],
)
def test_a_providers_status_says_who_must_act(status: int, kind: type[GraphRAGError], told: str):
    fault = translate(of_status(status), MODEL)
    assert type(fault) is kind
    assert told in str(fault)
    assert MODEL in str(fault)
    assert SECRET not in str(fault)


@pytest.mark.parametrize(
    "error",
    [
        openai.APIConnectionError(request=REQUEST),
        openai.APITimeoutError(request=REQUEST),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        ConnectionRefusedError(),
        TimeoutError(),
    ],
)
def test_a_provider_that_cannot_be_reached_may_be_later(error: Exception):
    fault = translate(error, MODEL)
    assert type(fault) is UnavailableError
    assert "can't be reached" in str(fault)


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:x", "OPENAI_API_KEY"),
        ("azure_openai:x", "AZURE_OPENAI_ENDPOINT"),
        ("cohere:x", "COHERE_API_KEY"),
        ("google_genai:x", "GOOGLE_API_KEY"),
        ("mistralai:x", "MISTRAL_API_KEY"),
        ("bedrock:x", "AWS_SECRET_ACCESS_KEY"),
        ("other:x", "the provider's key"),
    ],
)
def test_a_missing_key_names_the_variable_of_its_provider(model: str, variable: str):
    fault = translate(RuntimeError("the api_key client option must be set"), model)
    assert type(fault) is SetupError
    assert variable in str(fault)


def test_a_missing_package_is_named():
    error = ImportError("Could not import langchain-ollama python package. Please install it.")
    assert str(translate(error, "ollama:x")).endswith("install langchain-ollama.")


def test_anything_else_is_told_by_its_type_and_without_its_text():
    fault = translate(RuntimeError(SECRET), MODEL)
    assert type(fault) is SetupError
    assert "RuntimeError" in str(fault)
    assert SECRET not in str(fault)


def test_a_fault_of_ours_is_told_as_it_is():
    fault = QuestionError("ask again")
    assert translate(fault, MODEL) is fault
