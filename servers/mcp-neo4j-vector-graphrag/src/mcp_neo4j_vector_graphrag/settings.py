"""Every option, once: its variable, its flag, what it does, its default and its check.

The flags, the README's table and the refusal of a bad value all derive from these fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from mcp_neo4j_vector_graphrag.database.address import check_address
from mcp_neo4j_vector_graphrag.embedding.provider import Credentials, Provider, missing
from mcp_neo4j_vector_graphrag.environment import is_blank
from mcp_neo4j_vector_graphrag.errors import SetupError, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic.fields import FieldInfo


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _strip(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


_SEGMENT = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9._~!$&'()*+,;=:@-]+"
_PATH = re.compile(rf"/?{_SEGMENT}(?:/{_SEGMENT})*/?|/")
"""What RFC 3986 has in a path, without `%`, and without `.` and `..` as parts, which clients leave out."""


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _path(value: str) -> str:
    if not _PATH.fullmatch(value) or value.strip("/") == "health":
        raise ValueError("is no path of its own: write letters, digits and '/', as in /mcp")
    return value


Text = Annotated[str, BeforeValidator(_strip)]
CommaSeparated = Annotated[list[str], NoDecode, BeforeValidator(_split)]


def _option(description: str, *variables: str, flag: str, default: Any = None, **checks: Any) -> Any:  # noqa: ANN401
    """Return the field of one option; the first variable wins over the second."""
    return Field(
        default,
        description=description,
        validation_alias=AliasChoices(*variables),
        json_schema_extra={"flag": flag},
        validate_default=False,
        **checks,
    )


class Settings(BaseSettings):
    """What the operator chose. A flag wins over a variable, a variable over the default; empty counts as not set."""

    model_config = SettingsConfigDict(extra="forbid", hide_input_in_errors=True)

    uri: Text | None = _option(
        "Where Neo4j is, such as neo4j+s://xxxx.databases.neo4j.io or bolt://localhost:7687. Required, unless "
        "RETRIEVERS_FILE or NEO4J_MCP_RETRIEVER brings its own database, or the demo is served.",
        "NEO4J_URI", "NEO4J_URL", flag="--db-url",
    )  # fmt: skip
    username: Text = _option("The Neo4j user.", "NEO4J_USERNAME", "NEO4J_USER", flag="--username", default="neo4j")
    password: SecretStr | None = _option(
        "The user's password. Without one, only a Neo4j that asks for none answers.",
        "NEO4J_PASSWORD",
        flag="--password",
    )
    database: Text | None = _option(
        "The database to search. Default: the user's home database.", "NEO4J_DATABASE", flag="--database"
    )
    index_name: Text | None = _option(
        "The vector index that `neo4j_vector` searches, on nodes or relationships. Without one, every vector and "
        "full-text index of the database gets a tool of its own, or with NEO4J_EMBEDDING_PROVIDER all share "
        "`vector-search`, `fulltext-search` and `hybrid-search`.",
        "INDEX_NAME", flag="--index-name",
    )  # fmt: skip
    fulltext_index_name: Text | None = _option(
        "The full-text index on the same label or type; beside INDEX_NAME it gives `neo4j_hybrid`, a search of both.",
        "FULLTEXT_INDEX_NAME", flag="--fulltext-index-name",
    )  # fmt: skip
    embedding_model: Text | None = _option(
        "The model that made the index's vectors, as `provider:model` (LangChain) or `local:use-multilingual-v3`.",
        "EMBEDDING_MODEL", flag="--embedding-model",
    )  # fmt: skip
    embedding_provider: Annotated[Provider, BeforeValidator(_strip)] | None = _option(
        "Whose model embeds the question inside Neo4j, by its GenAI plugin: `openai`, `azure-openai`, `vertexai` or "
        "`bedrock-titan`. Without INDEX_NAME, RETRIEVERS_FILE and NEO4J_MCP_RETRIEVER it gives the tools "
        "`vector-search`, `fulltext-search` and `hybrid-search`.",
        "NEO4J_EMBEDDING_PROVIDER", flag="--embedding-provider",
    )  # fmt: skip
    embedding_provider_model: Text | None = _option(
        "The provider's model that made the index's vectors; with `azure-openai`, its deployment.",
        "NEO4J_EMBEDDING_MODEL", flag="--embedding-provider-model",
    )  # fmt: skip
    embedding_api_key: SecretStr | None = _option(
        "The key or token of `openai`, `azure-openai` or `vertexai`.",
        "NEO4J_EMBEDDING_API_KEY", flag="--embedding-api-key",
    )  # fmt: skip
    embedding_dimensions: int | None = _option(
        "The length of the vectors, where the model offers several.",
        "NEO4J_EMBEDDING_DIMENSIONS", flag="--embedding-dimensions", ge=1, le=4096,
    )  # fmt: skip
    embedding_azure_resource: Text | None = _option(
        "The Azure resource.", "NEO4J_EMBEDDING_AZURE_RESOURCE", flag="--embedding-azure-resource"
    )
    embedding_vertex_project: Text | None = _option(
        "The Google Cloud project.", "NEO4J_EMBEDDING_VERTEX_PROJECT", flag="--embedding-vertex-project"
    )
    embedding_vertex_region: Text | None = _option(
        "Its region.", "NEO4J_EMBEDDING_VERTEX_REGION", flag="--embedding-vertex-region"
    )
    embedding_vertex_publisher: Text = _option(
        "The publisher of the Vertex AI model.",
        "NEO4J_EMBEDDING_VERTEX_PUBLISHER", flag="--embedding-vertex-publisher", default="google",
    )  # fmt: skip
    embedding_aws_access_key_id: SecretStr | None = _option(
        "The id of the AWS access key.", "NEO4J_EMBEDDING_AWS_ACCESS_KEY_ID", flag="--embedding-aws-access-key-id"
    )
    embedding_aws_secret_access_key: SecretStr | None = _option(
        "The AWS secret access key.",
        "NEO4J_EMBEDDING_AWS_SECRET_ACCESS_KEY", flag="--embedding-aws-secret-access-key",
    )  # fmt: skip
    embedding_aws_region: Text | None = _option(
        "The AWS region.", "NEO4J_EMBEDDING_AWS_REGION", flag="--embedding-aws-region"
    )
    retrieval_query: Text | None = _option(
        "Cypher that goes on from each hit: it sees `node` (or `relationship`), `score`, `$query_text` and `$top_k`. "
        "Its columns `text`, `score` and `metadata` make the answer. Default: the hit's own properties.",
        "RETRIEVAL_QUERY", flag="--retrieval-query",
    )  # fmt: skip
    top_k: int | None = _option(
        "How many results a tool returns when the caller doesn't say, 1 to 50. "
        "Default: 5 of the families `configured`, `declared` and `own`, 10 of `discovered` and `generic`.",
        "TOP_K", flag="--top-k", ge=1, le=50,
    )  # fmt: skip
    candidates: int | None = _option(
        "How many neighbours to ask the index for, of which the best `top_k` are kept: more find more of the nearest. "
        "Default: 12 times `top_k` and at least 120; half of that where the index is not quantised.",
        "NEO4J_MCP_CANDIDATES", flag="--candidates", ge=1, le=10_000,
    )  # fmt: skip
    max_filters: int = _option(
        "How many filters a discovered tool has at the most, those inside the index first.",
        "NEO4J_MCP_MAX_FILTERS", flag="--max-filters", default=8, ge=0, le=100,
    )  # fmt: skip
    retrievers_file: Text | None = _option(
        "A TOML file with one search tool a table: its index, its query, its typed parameters.",
        "RETRIEVERS_FILE", flag="--retrievers-file",
    )  # fmt: skip
    retriever: Text | None = _option(
        "Retrievers of your own, as `package.module:factory`: a function that returns one, or a mapping from names. "
        "What they ask of a database is not checked: they may write.",
        "NEO4J_MCP_RETRIEVER", flag="--retriever",
    )  # fmt: skip
    tools: CommaSeparated = _option(
        "Which tools a model sees, separated by commas: families (`configured`, `declared`, `own`, `discovered`, "
        "`generic`, `schema`, `walking`, `connectors`) and single tools, by their names without the namespace; `-name` "
        "hides one (on the command line `--tools=-name`). Default: the tools that the other settings make.",
        "NEO4J_MCP_TOOLS", flag="--tools", default=[],
    )  # fmt: skip
    require_index: bool = _option(
        "Stop at the start, with an error, if the database has no vector index.",
        "NEO4J_MCP_REQUIRE_INDEX", flag="--require-index", default=False,
    )  # fmt: skip
    tool_description: Text | None = _option(
        "What the data is about, for the model that chooses between tools.",
        "TOOL_DESCRIPTION", flag="--tool-description",
    )  # fmt: skip
    namespace: Text | None = _option(
        "Prefix of every tool's name, so that several servers can run side by side.",
        "NEO4J_NAMESPACE", flag="--namespace",
    )  # fmt: skip
    transport: Literal["stdio", "http", "sse"] = _option(
        "How clients connect: `stdio`, `http` (streamable), or `sse` (deprecated).",
        "NEO4J_TRANSPORT", flag="--transport", default="stdio",
    )  # fmt: skip
    server_host: Text = _option(
        "The address that HTTP listens on.", "NEO4J_MCP_SERVER_HOST", flag="--server-host", default="127.0.0.1"
    )
    server_port: int = _option(
        "The port that HTTP listens on.", "NEO4J_MCP_SERVER_PORT", flag="--server-port", default=8000, ge=1, le=65535
    )
    server_path: Annotated[str, BeforeValidator(_strip), AfterValidator(_path)] = _option(
        "The path of the HTTP endpoint.", "NEO4J_MCP_SERVER_PATH", flag="--server-path", default="/mcp"
    )
    allowed_hosts: CommaSeparated = _option(
        "Host headers that HTTP answers beside the loopback ones, separated by commas.",
        "NEO4J_MCP_SERVER_ALLOWED_HOSTS", flag="--allowed-hosts", default=[],
    )  # fmt: skip
    allowed_origins: CommaSeparated = _option(
        "Web origins that HTTP answers beside the loopback ones, separated by commas.",
        "NEO4J_MCP_SERVER_ALLOWED_ORIGINS", flag="--allowed-origins", default=[],
    )  # fmt: skip
    allow_unauthenticated: bool = _option(
        "Let HTTP listen beyond loopback although it asks for no token: only behind something that does.",
        "NEO4J_MCP_SERVER_ALLOW_UNAUTHENTICATED", flag="--allow-unauthenticated", default=False,
    )  # fmt: skip
    allowed_procedures: CommaSeparated = _option(
        "Procedures that the retrieval query may call beside the usual reading ones, separated by commas; `*` stands "
        "for any characters.",
        "ALLOWED_PROCEDURES", flag="--allowed-procedures", default=[],
    )  # fmt: skip
    read_timeout: float = _option(
        "Seconds that the database gives a query. One that is a single long expression is answered in time too, but it "
        "goes on inside Neo4j, which can't end it.",
        "NEO4J_READ_TIMEOUT", flag="--read-timeout", default=30.0, gt=0, le=3600,
    )  # fmt: skip
    response_tokens: int = _option(
        "Tokens of text in one answer, of four bytes each; whole results beyond it are left out, and the answer "
        "says so.",
        "RESPONSE_TOKEN_LIMIT", flag="--response-token-limit", default=8_000, ge=200,
    )  # fmt: skip
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)] = _option(
        "How much is logged, on stderr.", "LOG_LEVEL", flag="--log-level", default="WARNING"
    )
    demo: bool = _option(
        "Serve the demo graph from a Neo4j of its own, started for the purpose; needs the `demo` extra.",
        "NEO4J_MCP_DEMO", flag="--demo", default=False,
    )  # fmt: skip

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take flags, then variables: a stray `.env` in the folder where a client starts the server counts not.

        Blank variables count as not set, and so do placeholders that a client hands over unexpanded.
        """
        del settings_cls, dotenv_settings, file_secret_settings
        assert isinstance(env_settings, EnvSettingsSource)  # noqa: S101 - what pydantic-settings hands over
        env_settings.env_vars = {name: value for name, value in env_settings.env_vars.items() if not is_blank(value)}
        return (init_settings, env_settings)

    @model_validator(mode="after")
    def _agree(self) -> Settings:
        """Refuse contradictions and what no start can do without."""
        if self.demo and self.uri:
            raise ValueError("NEO4J_MCP_DEMO (--demo) and NEO4J_URI are both set: take one of them")
        if self.uri or not (self.demo or self.retrievers_file or self.retriever):
            self._check_connection()
        self._check_embedding()
        if self.fulltext_index_name and not self.index_name:
            raise ValueError("FULLTEXT_INDEX_NAME is set and INDEX_NAME is not: set both")
        if self.transport != "stdio" and not self._is_loopback() and not self.allow_unauthenticated:
            raise ValueError(
                f"NEO4J_MCP_SERVER_HOST is {self.server_host}, open to others, and no token is asked for: "
                "set 127.0.0.1, or --allow-unauthenticated behind a proxy that asks"
            )
        return self

    def _check_embedding(self) -> None:
        if self.embedding_provider is None:
            others = {name for name in self.model_fields_set if name.startswith("embedding_")} - {"embedding_model"}
            if any(getattr(self, name) for name in others):
                raise ValueError("NEO4J_EMBEDDING_PROVIDER is not set, and other NEO4J_EMBEDDING_ variables are")
            return
        if self.demo:
            raise ValueError("NEO4J_MCP_DEMO (--demo) has a model of its own: leave NEO4J_EMBEDDING_PROVIDER out")

        if self.embedding_model:
            raise ValueError("EMBEDDING_MODEL and NEO4J_EMBEDDING_PROVIDER are both set: take one of them")
        if lacking := missing(self.embedding_provider, self.embedding_credentials):
            names = ", ".join(f"NEO4J_EMBEDDING_{name.upper()}" for name in lacking)
            raise ValueError(f"NEO4J_EMBEDDING_PROVIDER is {self.embedding_provider}, which needs {names} as well")

    @property
    def names_retrievers(self) -> bool:
        """Whether they say themselves what can be searched; without that, it is found in the database."""
        return bool(self.index_name or self.retrievers_file or self.retriever)

    @property
    def embedding_credentials(self) -> Credentials:
        """What the provider of an embedding inside the database needs."""
        return Credentials(
            model=self.embedding_provider_model,
            api_key=self.embedding_api_key,
            dimensions=self.embedding_dimensions,
            azure_resource=self.embedding_azure_resource,
            vertex_project=self.embedding_vertex_project,
            vertex_region=self.embedding_vertex_region,
            vertex_publisher=self.embedding_vertex_publisher,
            aws_access_key_id=self.embedding_aws_access_key_id,
            aws_secret_access_key=self.embedding_aws_secret_access_key,
            aws_region=self.embedding_aws_region,
        )

    @property
    def secrets(self) -> frozenset[str]:
        """The values that no log may hold."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return frozenset(value.get_secret_value() for value in values if isinstance(value, SecretStr))

    def _check_connection(self) -> None:
        if not self.uri:
            raise ValueError("NEO4J_URI is not set: set it to where Neo4j is, such as bolt://localhost:7687")
        check_address(self.uri, "NEO4J_URI", "NEO4J_USERNAME and NEO4J_PASSWORD")

    def _is_loopback(self) -> bool:
        return self.server_host in ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Option:
    """One option as the command line and the README show it."""

    field: str
    variables: tuple[str, ...]
    flag: str
    description: str
    default: str
    is_switch: bool


def options() -> list[Option]:
    """Return all options, in the order of the fields."""
    return [_as_option(name, info) for name, info in Settings.model_fields.items()]


def load(flags: Mapping[str, object]) -> Settings:
    """Return the settings: a flag wins over a variable, a variable over the default.

    Args:
        flags: Values by field name, of the flags that were given.

    Raises:
        SetupError: A value is missing, bad or contradicts another; the text names the variable.
    """
    variables = {option.field: option.variables[0] for option in options()}
    given = {variables[field]: value for field, value in flags.items() if not is_blank(value)}
    try:
        return Settings(**given)  # type: ignore[arg-type] # checked by the model
    except ValidationError as error:
        raise SetupError(_first_fault(error)) from None


def _as_option(name: str, info: FieldInfo) -> Option:
    alias, extra = info.validation_alias, info.json_schema_extra
    assert isinstance(alias, AliasChoices)  # noqa: S101 - narrows what `_option` has put there
    assert isinstance(extra, dict)  # noqa: S101
    return Option(
        field=name,
        variables=tuple(str(choice) for choice in alias.choices),
        flag=str(extra["flag"]),
        description=info.description or "",
        default="" if info.default in (None, False, []) else str(info.default),
        is_switch=info.annotation is bool,
    )


def _first_fault(error: ValidationError) -> str:
    """Return one line that names the variable, never the value: it may be a secret in the wrong place."""
    fault = error.errors(include_url=False, include_input=False)[0]
    message = one_line(fault["msg"].removeprefix("Value error, "))
    variable = fault["loc"][0] if fault["loc"] else None
    return f"{variable} ({_flag(str(variable))}): {message}." if variable else f"{message}."


def _flag(variable: str) -> str:
    return next((option.flag for option in options() if variable in option.variables), "")
