"""What an embedder raises, as faults of this project.

Providers share no base class, so they are told apart by what their clients have in common: the HTTP status.
"""

from __future__ import annotations

import re

from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError, UnavailableError

_KEYS = {
    "openai": "OPENAI_API_KEY",
    "azure_openai": "AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT",
    "cohere": "COHERE_API_KEY",
    "google_genai": "GOOGLE_API_KEY",
    "mistralai": "MISTRAL_API_KEY",
    "bedrock": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}
_PACKAGE = re.compile(r"(langchain-[\w-]+)")
_STATUS: dict[int, tuple[type[GraphRAGError], str]] = {
    401: (SetupError, "The provider of {model} refused the key: check {key}."),
    403: (SetupError, "The provider of {model} does not let this key use the model: check {key}."),
    404: (SetupError, "The provider does not know the model {model}: check EMBEDDING_MODEL."),
    429: (UnavailableError, "The provider of {model} allows no more requests just now: ask again in a while."),
}


def translate(error: Exception, model: str) -> GraphRAGError:
    """Return what a caller is told in place of an embedder's error; the provider's own text is not in it."""
    provider = model.partition(":")[0]
    key = _KEYS.get(provider, "the provider's key")
    if isinstance(error, GraphRAGError):
        return error
    if isinstance(error, ImportError):
        return _missing_package(error, model)
    if isinstance(error, ValueError) and ":" not in model:
        return SetupError(
            f"EMBEDDING_MODEL '{model}' names no provider: write provider:model, such as openai:{model}, or "
            f"local:{model} for the model of the demo."
        )
    if isinstance(error, ValueError) and "provider" in str(error).lower():
        return SetupError(f"EMBEDDING_MODEL: '{provider}' is no provider of LangChain's; openai:… and local:… are two.")
    if fault := _by_status(error):
        kind, text = fault
        return kind(text.format(model=model, key=key))
    if _is_missing_key(error):
        return SetupError(f"The key of the embedding model {model} is missing: set {key}.")
    if _is_connection(error):
        return UnavailableError(f"The provider of {model} can't be reached: check the network, then ask again.")
    return SetupError(f"The embedding model {model} failed ({type(error).__name__}): check EMBEDDING_MODEL and {key}.")


def _by_status(error: Exception) -> tuple[type[GraphRAGError], str] | None:
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return None
    server_fault = (UnavailableError, "The provider of {model} failed: ask again in a while.")
    return server_fault if status >= 500 else _STATUS.get(status)  # noqa: PLR2004 - HTTP's own limit


def _missing_package(error: ImportError, model: str) -> GraphRAGError:
    package = _PACKAGE.search(str(error).replace("_", "-"))
    what = package.group(1) if package else "its LangChain package"
    return SetupError(f"EMBEDDING_MODEL {model} needs a package that is not installed: install {what}.")


def _is_missing_key(error: Exception) -> bool:
    text = str(error).lower()
    return "api_key" in text or "missing credentials" in text or "did not find" in text


def _is_connection(error: Exception) -> bool:
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, OSError) or bool(
        names & {"APIConnectionError", "APITimeoutError", "ConnectError", "ConnectionError", "TimeoutException"}
    )
