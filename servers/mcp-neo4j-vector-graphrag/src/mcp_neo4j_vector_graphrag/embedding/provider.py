"""The providers of embeddings inside Neo4j, and what each needs; quick to import, since the settings need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pydantic import SecretStr

Provider = Literal["openai", "azure-openai", "vertexai", "bedrock-titan"]

_REQUIRED: dict[Provider, tuple[str, ...]] = {
    "openai": ("model", "api_key"),
    "azure-openai": ("model", "api_key", "azure_resource"),
    "vertexai": ("model", "api_key", "vertex_project", "vertex_region"),
    "bedrock-titan": ("model", "aws_access_key_id", "aws_secret_access_key", "aws_region"),
}
"""What each provider needs, whichever function the database has; fields of `Credentials`."""


@dataclass(frozen=True)
class Credentials:
    """The settings of a provider; those that it does not take are `None`."""

    model: str | None = None
    api_key: SecretStr | None = None
    dimensions: int | None = None
    azure_resource: str | None = None
    vertex_project: str | None = None
    vertex_region: str | None = None
    vertex_publisher: str = "google"
    aws_access_key_id: SecretStr | None = None
    aws_secret_access_key: SecretStr | None = None
    aws_region: str | None = None

    @property
    def secrets(self) -> frozenset[str]:
        """The values that no log may hold."""
        given = (self.api_key, self.aws_access_key_id, self.aws_secret_access_key)
        return frozenset(secret.get_secret_value() for secret in given if secret)


def missing(provider: Provider, given: Credentials) -> list[str]:
    """Return the fields that a provider needs and that are not set."""
    return [name for name in _REQUIRED[provider] if not getattr(given, name)]
