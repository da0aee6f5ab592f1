"""The demo: a Neo4j of our own with the demo graph in it, and the model that its vectors are made with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import neo4j
from filelock import FileLock
from neo4j.exceptions import DriverError, Neo4jError

from mcp_neo4j_vector_graphrag.embedding.choice import LOCAL_MODEL
from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings
from mcp_neo4j_vector_graphrag.local.artifacts import write_atomically
from mcp_neo4j_vector_graphrag.local.database import LocalDatabase
from mcp_neo4j_vector_graphrag.local.demo_graph import graph_digest, has_indexes, load_graph, read_graph
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_neo4j_vector_graphrag.local.database import Connection
    from mcp_neo4j_vector_graphrag.local.progress import Progress


class Demo:
    """The demo database with its graph. Several demos, of several processes, share one database.

    A context manager that closes. `close` may be called from another thread while `start` runs, which then fails.

    Args:
        home: Folder of the database. Default: in the user's data folder.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.embeddings = LocalEmbeddings()
        self._database = LocalDatabase(home)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def home(self) -> Path:
        """Folder of the database, with its password and its logs."""
        return self._database.home

    @property
    def is_running(self) -> bool:
        """Whether its database was started and has not ended since."""
        return self._database.is_running

    def start(self, progress: Progress) -> Connection:
        """Start the database and the model, and load the graph unless it is there.

        Args:
            progress: Is told the steps.

        Returns:
            What to connect with.

        Raises:
            LocalDatabaseError: There is no demo on this machine, or not now.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="model") as thread:
            model = thread.submit(self.embeddings.embed_query, "a film")
            connection = self._database.start(progress)
            with progress.step("loading the model"):
                model.result()
        self._load_graph(connection, progress)
        return connection

    def close(self) -> None:
        """Say that the demo is over. Returns at once; the database stops when no other demo uses it."""
        self._database.close()

    def _load_graph(self, connection: Connection, progress: Progress) -> None:
        """Load the graph unless it is there. Who has dropped an index by hand gets it back."""
        noted = self.home / "graph.digest"
        digest = graph_digest(LOCAL_MODEL)
        auth = (connection.username, connection.password.get_secret_value())
        with FileLock(self.home / "graph.lock"):
            try:
                with neo4j.GraphDatabase.driver(connection.uri, auth=auth) as driver:
                    is_loaded = noted.exists() and noted.read_text("utf-8") == digest
                    if is_loaded and has_indexes(driver, connection.database):
                        return
                    with progress.step("loading the demo graph", len(read_graph().movies)) as advance:
                        advance(0)
                        load_graph(driver, connection.database, self.embeddings, lambda done, _: advance(done))
            except (DriverError, Neo4jError) as error:
                raise LocalDatabaseError(f"The demo graph could not be loaded ({error}): try again.") from error
            write_atomically(noted, digest)
