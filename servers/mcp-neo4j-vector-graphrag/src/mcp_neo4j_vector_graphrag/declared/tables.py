"""The tables of the file of retrievers: each key, what it means and how it is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, WithJsonSchema

from mcp_neo4j_vector_graphrag.database.address import check_address

MAX_TOP_K = 50

Scalar = Literal["string", "integer", "number", "boolean", "date", "datetime"]
Kind = Literal["vector", "fulltext", "hybrid"]

_SCALARS: list[dict[str, Any]] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_BOUNDS = {"min", "max"}


@dataclass(frozen=True)
class Written:
    """How a key is written, for the text of a fault."""

    rule: str
    """What its value must be."""
    example: str
    """A line of TOML."""


def _uri(value: str) -> str:
    value = value.strip()
    check_address(value, "'uri'", "'username' and 'password_env'")
    return value


def _filter_value(value: object) -> object:
    """Return a fixed filter as `retrieval.filters.parse` takes it: TOML's own dates and times become texts."""
    if isinstance(value, Mapping):
        if not value or not _BOUNDS.issuperset(value):
            raise ValueError("bounds are written { min = 1990, max = 1999 }, with one of them or both")
        if any(isinstance(bound, bool) for bound in value.values()):
            raise ValueError("a bound must be a number, a date or a time: write { min = 1990 }")
        bounds = {key: _filter_scalar(bound) for key, bound in value.items()}
        if len(bounds) == len(_BOUNDS) and _is_above(bounds["min"], bounds["max"]):
            raise ValueError("min lies above max, which nothing can match: write the lower of the two as min")
        return bounds
    if isinstance(value, list):
        if not value:
            raise ValueError("the list is empty and would match nothing: write the values that are allowed")
        return [_filter_scalar(item) for item in value]
    return _filter_scalar(value)


def _filter_scalar(value: object) -> object:
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a filter must be a finite number")
    if not isinstance(value, (str, int, float, bool)):
        raise ValueError('a filter is a value, a list of values or bounds: write "en", ["en", "de"] or { min = 1990 }')  # noqa: TRY004 - pydantic takes this one
    return value


def _is_above(lower: Any, upper: Any) -> bool:  # noqa: ANN401 - any values
    """Whether two bounds of one type are the wrong way round; of two types, the data decides."""
    numbers = (int, float)
    is_one_type = isinstance(lower, str) == isinstance(upper, str) or (
        isinstance(lower, numbers) and isinstance(upper, numbers)
    )
    return bool(is_one_type and lower > upper)


FilterValue = Annotated[
    Any,
    BeforeValidator(_filter_value),
    WithJsonSchema(
        {
            "anyOf": [
                *_SCALARS,
                {"type": "array", "items": {"anyOf": _SCALARS}, "minItems": 1},
                {
                    "type": "object",
                    "properties": {bound: {"anyOf": _SCALARS[:2]} for bound in ("min", "max")},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
            ]
        }
    ),
]

Value = Annotated[Any, WithJsonSchema({"anyOf": _SCALARS})]
"""Of a parameter; what its type allows is checked once the type is known."""


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class DatabaseTable(_Table):
    """A database that retrievers may name."""

    uri: Annotated[
        str,
        AfterValidator(_uri),
        Field(description="Where Neo4j is; never with a user or a password in it."),
        Written("a text in quotes", 'uri = "neo4j+s://xxxx.databases.neo4j.io"'),
    ]
    username: Annotated[
        str,
        Field(pattern=r"\S", description="The Neo4j user."),
        Written("a text in quotes", 'username = "neo4j"'),
    ] = "neo4j"
    password_env: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
            description="The environment variable that holds the password. Without one, only a Neo4j that asks for "
            "none answers.",
        ),
        Written("the name of an environment variable", 'password_env = "MOVIES_PASSWORD"'),
    ] = None
    name: Annotated[
        str | None,
        Field(pattern=r"\S", description="The database's name. Default: the user's home database."),
        Written("a text in quotes", 'name = "movies"'),
    ] = None

    def password(self, environment: Mapping[str, str]) -> SecretStr | None:
        """Return the password that the environment holds."""
        return SecretStr(environment[self.password_env]) if self.password_env else None


class ParameterTable(_Table):
    """An argument of the tool that the retrieval query is given as `$name`; without a default it must be sent."""

    type: Annotated[
        Literal["string", "integer", "number", "boolean", "date", "datetime", "list"],
        Field(description="The type of the value; a datetime without a zone is in UTC."),
        Written("one of string, integer, number, boolean, date, datetime and list", 'type = "number"'),
    ]
    items: Annotated[
        Scalar | None,
        Field(description="The type of a list's items."),
        Written("one of string, integer, number, boolean, date and datetime", 'items = "string"'),
    ] = None
    description: Annotated[
        str | None,
        Field(pattern=r"\S", description="What the argument means, for the model."),
        Written("a text in quotes", 'description = "The least rating, out of ten."'),
    ] = None
    default: Annotated[
        Any,
        WithJsonSchema({"anyOf": [*_SCALARS, {"type": "array", "items": {"anyOf": _SCALARS}}]}),
        Field(description="What holds when the argument is not sent."),
        Written("a value of the parameter's type", "default = 5.0"),
    ] = None
    minimum: Annotated[
        Value,
        Field(description="The least that is allowed; of a list, for each item."),
        Written("a value of the parameter's type", "minimum = 0"),
    ] = None
    maximum: Annotated[
        Value,
        Field(description="The most that is allowed; of a list, for each item."),
        Written("a value of the parameter's type", "maximum = 10"),
    ] = None
    choices: Annotated[
        list[Value] | None,
        Field(min_length=1, description="All that is allowed; of a list, for each item."),
        Written("a list of values", 'choices = ["film", "series"]'),
    ] = None

    @property
    def scalar(self) -> Scalar:
        """The type of its value or, of a list, of each item."""
        return (self.items or "string") if self.type == "list" else self.type


Parameters = dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")], ParameterTable]


class RetrieverTable(_Table):
    """A search tool: an index, a query that goes on from each hit, and what a caller may say beside the question."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": ["index"]}, {"required": ["fulltext_index"]}],
            "not": {"required": ["retrieval_query", "retrieval_query_file"]},
        }
    )

    name: Annotated[
        str,
        Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$", description="The tool's name."),
        Written("1 to 64 letters, digits, '_' or '-' in quotes", 'name = "films_by_plot"'),
    ]
    title: Annotated[
        str | None,
        Field(pattern=r"\S", description="The tool's title, for people."),
        Written("a text in quotes", 'title = "Films by plot"'),
    ] = None
    description: Annotated[
        str,
        Field(pattern=r"\S", description="What the tool finds: a model chooses between tools by it."),
        Written("a text in quotes", 'description = "Films by what happens in them."'),
    ]
    database: Annotated[
        str | None,
        Field(
            description="The [database.<name>] table to search; may be left out where there is one. Without any table, "
            "the environment's database is searched."
        ),
        Written("a text in quotes", 'database = "movies"'),
    ] = None
    index: Annotated[
        str | None,
        Field(pattern=r"\S", description="The vector index."),
        Written("a text in quotes", 'index = "moviePlotsEmbedding"'),
    ] = None
    fulltext_index: Annotated[
        str | None,
        Field(pattern=r"\S", description="The full-text index; together with a vector index the search is hybrid."),
        Written("a text in quotes", 'fulltext_index = "movieFulltext"'),
    ] = None
    retrieval_query: Annotated[
        str | None,
        Field(
            pattern=r"\S",
            description="Cypher that goes on from each hit: it sees `node` (or `relationship`), `score`, "
            "`$query_text`, `$top_k` and the parameters. Default: the hit's own properties.",
        ),
        Written("Cypher in quotes", 'retrieval_query = "RETURN node.title AS text, score"'),
    ] = None
    retrieval_query_file: Annotated[
        str | None,
        Field(
            pattern=r"\.cypher$",
            description="A .cypher file that holds the retrieval query, beside this file or below.",
        ),
        Written("the name of a .cypher file in quotes", 'retrieval_query_file = "films.cypher"'),
    ] = None
    top_k: Annotated[
        int | None,
        Field(ge=1, le=MAX_TOP_K, description="How many results the tool returns when the caller doesn't say."),
        Written(f"a whole number from 1 to {MAX_TOP_K}", "top_k = 5"),
    ] = None
    embedding_model: Annotated[
        str | None,
        Field(pattern=r"\S", description="The model that made the vector index's vectors, if it is not the server's."),
        Written("a text in quotes", 'embedding_model = "openai:text-embedding-3-small"'),
    ] = None
    filters: Annotated[
        list[Annotated[str, Field(min_length=1)]],
        Field(description="The properties that a caller may filter by."),
        Written("a list of property names", 'filters = ["year", "language"]'),
    ] = []
    fixed_filters: Annotated[
        dict[str, FilterValue],
        Field(
            description="What holds for every search of this tool, whatever a caller sends. `expand` and `fetch` reach "
            "any element by its id: they can't be shown beside it."
        ),
        Written("a table of properties and values", 'fixed_filters = { language = "en", year = { min = 1990 } }'),
    ] = {}
    parameters: Annotated[
        Parameters,
        Field(description="Typed arguments of the tool that the retrieval query is given."),
        Written("tables", '[retriever.parameters.min_rating] and, below, type = "number"'),
    ] = {}

    @property
    def kind(self) -> Kind:
        """How it searches."""
        if self.index and self.fulltext_index:
            return "hybrid"
        return "vector" if self.index else "fulltext"


class RetrieversFile(_Table):
    """Retrievers as search tools, and the databases that they search."""

    databases: Annotated[
        dict[str, DatabaseTable],
        Field(alias="database", description="Databases by the names that retrievers give them."),
        Written("tables with names", '[database.movies] and, below, uri = "…"'),
    ] = {}
    retrievers: Annotated[
        list[RetrieverTable],
        Field(alias="retriever", min_length=1, description="One tool each."),
        Written("tables in double brackets", '[[retriever]] and, below, name = "…"'),
    ]

    def database_name(self, retriever: RetrieverTable) -> str | None:
        """Return the name of the database that a retriever searches; `None` is the environment's."""
        return retriever.database or next(iter(self.databases), None)

    def database_of(self, retriever: RetrieverTable) -> DatabaseTable | None:
        """Return the database that a retriever searches; `None` is the environment's."""
        name = self.database_name(retriever)
        return None if name is None else self.databases[name]
