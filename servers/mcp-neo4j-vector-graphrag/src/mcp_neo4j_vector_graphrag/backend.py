"""The database behind the tools: the operator's, or the demo's that must be started first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neo4j.exceptions import ConfigurationError

from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.database.faults import setting_names
from mcp_neo4j_vector_graphrag.deadline import Background
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.local.demo_search import CONFIGURED, MODEL, SEARCH

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.local.demo import Demo
    from mcp_neo4j_vector_graphrag.local.progress import Progress
    from mcp_neo4j_vector_graphrag.settings import Settings

_PATIENCE_SECONDS = 25.0
"""A call waits this long for what is still starting, then says what is being done."""


class Backend:
    """The database that the settings name; it is started, if it is the demo's, but not connected to.

    Args:
        settings: Where the database is, or that it is the demo's.
        progress: Is told the steps of the demo's start; `None` writes them to the log.
        settings_of: Where the way to the database stands, such as `[database.movies] in RETRIEVERS_FILE`, for the text
            of an error; `None` means the environment.
    """

    def __init__(self, settings: Settings, progress: Progress | None = None, *, settings_of: str | None = None) -> None:
        self._settings = settings
        self._progress = progress
        self._settings_of = settings_of
        self._demo: Demo | None = None
        self._made = Background(self._make)

    def start(self) -> None:
        """Begin to start the demo's database, so that the first call need not wait for all of it."""
        self._made.start()

    def database(self, seconds: float | None = _PATIENCE_SECONDS) -> Database:
        """Return the database, once it is there.

        Args:
            seconds: How long to wait for it; `None` waits until it is there.

        Raises:
            SetupError: It can't be had with these settings, or not on this machine.
            UnavailableError: It is still starting.
        """
        ended = self._made.peek()
        if ended and self._demo and not self._demo.is_running:
            self._made.forget(ended)
            ended.close()

        try:
            return self._made.get(seconds)
        except TimeoutError:
            doing = getattr(self._progress, "current", "") or "loading"
            raise UnavailableError(f"The server is still starting ({doing}): ask again in a moment.") from None

    def close(self) -> None:
        """Close the connections; the demo's database stops when no other demo uses it."""
        if made := self._made.peek():
            made.close()
        if self._demo:
            self._demo.close()

    def _make(self) -> Database:
        settings = self._with_demo(self._settings) if self._settings.demo else self._settings
        uri = setting_names(self._settings_of)["uri"]
        if not settings.uri:
            raise SetupError(f"{uri} is not set: set it to where Neo4j is, such as bolt://localhost:7687.")
        password = settings.password.get_secret_value() if settings.password else None
        try:
            driver = open_driver(settings.uri, settings.username, password)
        except (ConfigurationError, ValueError) as error:
            raise SetupError(f"{uri} is refused by the driver ({type(error).__name__}): check it.") from None
        return Database(driver, settings.database, settings.read_timeout, settings_of=self._settings_of)

    def _with_demo(self, settings: Settings) -> Settings:
        """Start the demo's database, and return the settings with the way to it."""
        try:
            from mcp_neo4j_vector_graphrag.local.demo import Demo  # noqa: PLC0415 - needs the extra
            from mcp_neo4j_vector_graphrag.local.progress import LogProgress  # noqa: PLC0415
        except ImportError as error:
            raise SetupError(
                f"The demo needs the package {error.name}: install mcp-neo4j-vector-graphrag[demo]."
            ) from error
        self._progress = self._progress or LogProgress()
        self._demo = self._demo or Demo()
        connection = self._demo.start(self._progress)
        return settings.model_copy(
            update={
                "uri": connection.uri,
                "username": connection.username,
                "password": connection.password,
                "database": connection.database,
            }
        )


def with_demo_defaults(settings: Settings) -> Settings:
    """Return the settings with the demo graph's own where none are set.

    What only the tools of the configured index need is left out where the operator chose others: these have an index,
    a description and results of their own.
    """
    chosen = {entry for entry in settings.tools if not entry.startswith("-")}
    is_searched = bool(chosen & CONFIGURED) or not (chosen or settings.retrievers_file or settings.retriever)
    defaults = {**MODEL, **SEARCH} if is_searched else MODEL
    return settings.model_copy(
        update={name: value for name, value in defaults.items() if getattr(settings, name) is None}
    )
