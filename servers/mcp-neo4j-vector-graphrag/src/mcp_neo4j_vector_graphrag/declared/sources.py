"""What a server searches: the environment's database, and the tables of the file of retrievers, which is read once."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag import logs
from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.file import read_file
from mcp_neo4j_vector_graphrag.embedding.configured import Embedders
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.retrieval.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neo4j_graphrag.embeddings.base import Embedder

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.declared.tables import DatabaseTable, RetrieversFile, RetrieverTable
    from mcp_neo4j_vector_graphrag.retrieval.configured import AnyRetriever
    from mcp_neo4j_vector_graphrag.settings import Settings


class Source:
    """One table of the file with the database that it searches.

    Args:
        table: The table.
        settings: The operator's, with the table's own model.
        backend: The table's database.
        embedder: Of the table's model.
    """

    def __init__(self, table: RetrieverTable, settings: Settings, backend: Backend, embedder: Embedder) -> None:
        self.table = table
        self.settings = settings
        self.backend = backend
        self.embedder = embedder
        self._kept: Kept[AnyRetriever] = Kept(backend)

    def retriever(self, *, documents: bool = False) -> AnyRetriever:
        """Return the table's retriever, the same for every call; nothing is asked of the database yet.

        Args:
            documents: Without its retrieval query, so that each result is a document with its id.

        Raises:
            SetupError: The database can't be had with these settings.
            UnavailableError: It is still starting.
        """
        query = None if documents else self.table.retrieval_query
        return self._kept.get(query, lambda database: self._made(database, query))

    def _made(self, database: Database, query: str | None) -> AnyRetriever:
        from mcp_neo4j_vector_graphrag.retrieval.configured import index_retriever  # noqa: PLC0415 - 0.8 s

        table, setting = self.table, f"of '{self.table.name}' in RETRIEVERS_FILE"
        made = index_retriever(
            self.settings.model_copy(update={"retrieval_query": query}),
            database,
            self.embedder,
            table.index,
            table.fulltext_index,
            documents=not query,
            filterable=table.filters,
            fixed_filters=table.fixed_filters,
            index_setting=setting,
            fulltext_index_setting=setting,
        )
        made.query_name = f"retrieval_query {setting}"
        return made


class Sources:
    """The databases of one server, its embedders and the tables of its file; whatever uses them shares them.

    The file is read when it is first asked for, and then every attribute raises SetupError, a line for each fault, if
    it is not sound.

    Args:
        settings: The operator's.
        backend: The environment's database.
    """

    def __init__(self, settings: Settings, backend: Backend) -> None:
        self.settings = settings
        self.backend = backend
        self._embedders = Embedders()

    @cached_property
    def file(self) -> RetrieversFile | None:
        """The file of retrievers, if there is one."""
        return read_file(Path(self.settings.retrievers_file), os.environ) if self.settings.retrievers_file else None

    @property
    def tables(self) -> list[RetrieverTable]:
        """The file's tables of retrievers."""
        return self.file.retrievers if self.file else []

    @cached_property
    def backends(self) -> Mapping[str | None, Backend]:
        """The environment's database, if one is set, as `None`, then the file's by the names of their tables.

        Raises:
            SetupError: There is none.
        """
        own = self.file.databases if self.file else {}
        if not own and not self._is_environment_set:
            raise SetupError(
                "There is no database: set NEO4J_URI, or add a [database.<name>] table to RETRIEVERS_FILE."
            )
        return {
            **({None: self.backend} if self._is_environment_set else {}),
            **{
                name: Backend(_connected(self.settings, table), settings_of=f"[database.{name}] in RETRIEVERS_FILE")
                for name, table in own.items()
            },
        }

    @property
    def _is_environment_set(self) -> bool:
        return bool(self.settings.uri or self.settings.demo)

    @cached_property
    def declared(self) -> list[Source]:
        """The file's tables, each with its database.

        Raises:
            SetupError: One needs the environment's database, which is not set.
        """
        return [self._source(self.file, table) for table in self.tables if self.file]

    def _source(self, file: RetrieversFile, table: RetrieverTable) -> Source:
        name = file.database_name(table)
        if name is None and not self._is_environment_set:
            raise SetupError(f"The retriever '{table.name}' searches the environment's database: set NEO4J_URI.")
        model = {"embedding_model": table.embedding_model, "embedding_provider": None}
        settings = self.settings.model_copy(update=model) if table.embedding_model else self.settings
        return Source(table, settings, self.backends[name], self._embedders.of(settings))

    @property
    def embedder(self) -> Embedder:
        """The embedder of the operator's own model."""
        return self._embedders.of(self.settings)

    def prepare(self) -> None:
        """Begin with each database what its first call would wait for, without waiting here."""
        for backend in self.backends.values():
            backend.start()

    def close(self) -> None:
        """Close the connections to the file's own databases."""
        if "backends" in vars(self):
            for name, backend in self.backends.items():
                if name is not None:
                    backend.close()


def _connected(settings: Settings, database: DatabaseTable) -> Settings:
    """Return the settings with the way to another database, whose password no log will hold."""
    password = database.password(os.environ)
    if password:
        logs.add_secrets([password.get_secret_value()])
    update = {
        "demo": False,
        "uri": database.uri,
        "username": database.username,
        "password": password,
        "database": database.name,
    }
    return settings.model_copy(update=update)
