"""The tools of the file of retrievers: one for each of its tables."""

from __future__ import annotations

import inspect
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import WithJsonSchema

from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.file import read_file
from mcp_neo4j_vector_graphrag.declared.parameters import bind, parameter_schema
from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError
from mcp_neo4j_vector_graphrag.namespace import title, tool_name
from mcp_neo4j_vector_graphrag.retrieval.result import DocumentResult, RankedResult, SearchResult
from mcp_neo4j_vector_graphrag.tools.calls import CALL_OVERHEAD_SECONDS
from mcp_neo4j_vector_graphrag.tools.family import Family, Served
from mcp_neo4j_vector_graphrag.tools.search import (
    ALPHA,
    DEFAULT_TOP_K,
    LUCENE,
    RANKER,
    Argument,
    SearchTool,
    filters_argument,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastmcp.tools import Tool
    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.declared.tables import DatabaseTable, ParameterTable, RetrieverTable
    from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever
    from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever
    from mcp_neo4j_vector_graphrag.retrieval.result import Results
    from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
    from mcp_neo4j_vector_graphrag.settings import Settings
    from mcp_neo4j_vector_graphrag.tools.family import Context, IndexKind

    Declared = VectorGraphRetriever | FulltextGraphRetriever | HybridGraphRetriever

_logger = logging.getLogger(__name__)

_ANY_VALUE: list[dict[str, Any]] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_BOUND = {"anyOf": _ANY_VALUE[:2]}
_FILTER = {
    "anyOf": [
        *_ANY_VALUE,
        {"type": "array", "items": {"anyOf": _ANY_VALUE}},
        {"type": "object", "properties": {"min": _BOUND, "max": _BOUND}, "additionalProperties": False},
    ],
    "description": "A value, a list of values, or min and max, both inclusive.",
}


@dataclass(frozen=True)
class Source:
    """One table of the file with the database that it searches."""

    table: RetrieverTable
    settings: Settings
    """The operator's, with the table's own model."""
    backend: Backend

    def retriever(self, *, documents: bool = False) -> Declared:
        """Return the table's retriever; nothing is asked of the database yet.

        Args:
            documents: Without its retrieval query, so that each result is a document with its id.

        Raises:
            SetupError: The database can't be had with these settings.
            UnavailableError: It is still starting.
        """
        made = self._made(documents=documents)
        made.query_name = f"retrieval_query of '{self.table.name}' in RETRIEVERS_FILE"
        return made

    def _made(self, *, documents: bool) -> Declared:
        from mcp_neo4j_vector_graphrag.retrieval.configured import (  # noqa: PLC0415 - 0.8 s, for the first call
            FulltextDocuments,
            HybridDocuments,
            VectorDocuments,
        )
        from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever  # noqa: PLC0415
        from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever  # noqa: PLC0415
        from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever  # noqa: PLC0415

        table, database = self.table, self.backend.database()
        where = f"of '{table.name}' in RETRIEVERS_FILE"
        shared: dict[str, Any] = {
            "retrieval_query": None if documents else table.retrieval_query,
            "allowed_procedures": self.settings.allowed_procedures,
            "filterable": table.filters,
            "fixed_filters": table.fixed_filters,
            "index_setting": where,
        }
        as_documents = documents or not table.retrieval_query
        if table.kind == "fulltext":
            by_words = FulltextDocuments if as_documents else FulltextGraphRetriever
            return by_words(database, table.fulltext_index or "", **shared)
        shared |= {"embedder": configured_embedder(self.settings), "candidates": self.settings.candidates}
        if table.kind == "vector":
            by_meaning = VectorDocuments if as_documents else VectorGraphRetriever
            return by_meaning(database, table.index or "", **shared)
        shared["fulltext_index_setting"] = where
        by_both = HybridDocuments if as_documents else HybridGraphRetriever
        return by_both(database, table.index or "", table.fulltext_index or "", **shared)


class Sources:
    """All tables of a file; those on one database share its connections.

    Args:
        settings: The operator's.
        backend: The environment's database.

    Raises:
        SetupError: The file has faults: a line for each. Or it needs the environment's database, which is not set.
    """

    def __init__(self, settings: Settings, backend: Backend) -> None:
        path = Path(settings.retrievers_file or "")
        file = read_file(path, os.environ)
        backends: dict[int, Backend] = {}
        self.all: list[Source] = []
        for table in file.retrievers:
            own = file.database_of(table)
            if own is None and not settings.uri and not settings.demo:
                raise SetupError(f"The retriever '{table.name}' searches the environment's database: set NEO4J_URI.")
            if own is not None and id(own) not in backends:
                backends[id(own)] = Backend(_connected(settings, own))
            model = {"embedding_model": table.embedding_model, "embedding_provider": None}
            changed = settings.model_copy(update=model) if table.embedding_model else settings
            self.all.append(Source(table, changed, backend if own is None else backends[id(own)]))
        self._own = list(backends.values())

    def databases(self) -> list[Database]:
        """Return every database once."""
        return [backend.database() for backend in dict.fromkeys(source.backend for source in self.all)]

    def documents(self) -> list[tuple[Database, Retriever]]:
        """Return every table as a retriever of whole documents, with its database."""
        return [(source.backend.database(), source.retriever(documents=True)) for source in self.all]

    def close(self) -> None:
        """Close the connections to the file's own databases."""
        for backend in self._own:
            backend.close()


def _connected(settings: Settings, database: DatabaseTable) -> Settings:
    """Return the settings with the way to another database."""
    update = {
        "demo": False,
        "uri": database.uri,
        "username": database.username,
        "password": database.password(os.environ),
        "database": database.name,
    }
    return settings.model_copy(update=update)


def load(context: Context) -> Sources:
    """Return the file that the settings name.

    Raises:
        SetupError: It has faults: a line for each.
    """
    return Sources(context.settings, context.backend)


def build(context: Context) -> Served:
    """Return the tools that the operator shows.

    Raises:
        SetupError: The file has faults: a line for each. Or the namespace makes names that clients refuse.
    """
    sources = load(context)
    seen = [_Tool(source, context.settings) for source in sources.all if context.sees(source.table.name)]

    def prepare() -> None:
        for each in seen:
            each.prepare()

    def require() -> None:
        for each in seen:
            each.made().prepare()

    return Served([each.build() for each in seen], prepare=prepare, require=require, close=sources.close)


class _Tool:
    """The tool of one table."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._settings = settings
        self._retriever: Declared | None = None

    def made(self) -> Declared:
        """Return the retriever, the same for every call."""
        if self._retriever is None:
            self._retriever = self._source.retriever()
        return self._retriever

    def prepare(self) -> None:
        """See that the table's indexes and its query can be searched with; what is wrong goes to the log."""
        try:
            self.made().prepare()
        except GraphRAGError as error:
            _logger.warning("The retriever '%s' can't be searched: %s", self._source.table.name, error)

    def build(self) -> Tool:
        """Return the tool that FastMCP serves."""
        table, settings = self._source.table, self._settings
        return SearchTool(
            name=tool_name(table.name, settings.namespace),
            title=table.title or title(table.name),
            description=table.description,
            retriever=self.made,
            default_top_k=table.top_k or settings.top_k or DEFAULT_TOP_K,
            arguments=_arguments(table),
            bind=partial(bind, table.parameters),
            result=_result(table),
            response_tokens=settings.response_tokens,
            seconds=settings.read_timeout + CALL_OVERHEAD_SECONDS,
        ).build()


def _arguments(table: RetrieverTable) -> tuple[Argument, ...]:
    by_kind = {"vector": (), "fulltext": (LUCENE,), "hybrid": (ALPHA, RANKER)}
    filters = (filters_argument(_filters(table.filters)),) if table.filters else ()
    return (*map(_parameter, table.parameters.items()), *filters, *by_kind[table.kind])


def _parameter(named: tuple[str, ParameterTable]) -> Argument:
    name, parameter = named
    schema = parameter_schema(parameter)
    default = schema.get("default", inspect.Parameter.empty)
    return Argument(name, Annotated[object, WithJsonSchema(schema)], default, use="parameter")


def _filters(names: Sequence[str]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "description": "Restrict the search; all given filters must hold.",
        "properties": dict.fromkeys(names, _FILTER),
        "additionalProperties": False,
    }


def _result(table: RetrieverTable) -> type[Results[Any]]:
    if table.retrieval_query:
        return SearchResult
    return RankedResult if table.kind == "hybrid" else DocumentResult


def _names(settings: Settings) -> Sequence[str]:
    if not settings.retrievers_file:
        return ()
    return [table.name for table in read_file(Path(settings.retrievers_file), os.environ).retrievers]


def _search_tool(settings: Settings, kind: IndexKind, index_name: str) -> str | None:
    """Return the first table that searches an index of the environment's database."""
    with suppress(SetupError):  # a file that was changed since the start, and is not sound now
        file = read_file(Path(settings.retrievers_file or ""), os.environ)
        for table in file.retrievers:
            searched = table.index if kind == "vector" else table.fulltext_index
            if searched == index_name and file.database_of(table) is None:
                return table.name
    return None


FAMILY = Family(
    "declared",
    tools=_names,
    is_default=lambda settings: bool(settings.retrievers_file),
    build=build,
    missing=lambda settings: "" if settings.retrievers_file else "RETRIEVERS_FILE",
    search_tool=_search_tool,
)
