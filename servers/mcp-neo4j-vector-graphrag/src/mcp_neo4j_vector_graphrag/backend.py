"""Where the configured retriever comes from: the operator's database, or the demo's that must be started first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.deadline import Background
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.local.demo_search import DEFAULTS

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.local.demo import Demo
    from mcp_neo4j_vector_graphrag.local.progress import Progress
    from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
    from mcp_neo4j_vector_graphrag.settings import Settings

CONFIGURED_TOOL = "neo4j_vector"
"""The configured tool's name before the namespace."""

_PATIENCE_SECONDS = 25.0
"""A call waits this long for what is still starting, then says what is being done."""


class Backend:
    """The configured retriever and what it stands on.

    Args:
        settings: With `demo`, what is not set is the demo's.
        progress: Is told the steps of the demo's start; `None` writes them to the log.

    Raises:
        SetupError: A setting is missing without which there is no tool.
    """

    def __init__(self, settings: Settings, progress: Progress | None = None) -> None:
        self._settings = with_demo_defaults(settings) if settings.demo else settings
        if not self._settings.index_name:
            raise SetupError("INDEX_NAME is not set: set it to the vector index to search.")
        self.index_name = self._settings.index_name
        self.about = self._settings.tool_description
        self._progress = progress
        self._demo: Demo | None = None
        self._made = Background(self._make)

    def start(self) -> None:
        """Begin to make the retriever, so that the first call need not wait for imports or the demo's database."""
        self._made.start()

    def retriever(self, seconds: float | None = _PATIENCE_SECONDS) -> VectorGraphRetriever:
        """Return the retriever, once it is there.

        Args:
            seconds: How long to wait for it; `None` waits until it is there.

        Raises:
            SetupError: It can't be made with these settings, or not on this machine.
            UnavailableError: It is still being made.
        """
        try:
            return self._made.get(seconds)
        except TimeoutError:
            doing = getattr(self._progress, "current", "") or "loading"
            raise UnavailableError(f"The server is still starting ({doing}): ask again in a moment.") from None

    def close(self) -> None:
        """Close the connections; the demo's database stops when no other demo uses it."""
        if made := self._made.peek():
            made.database.close()
        if self._demo:
            self._demo.close()

    def _make(self) -> VectorGraphRetriever:
        # The library takes 0.8 s to import; `tools/list` need not wait for it.
        from mcp_neo4j_vector_graphrag.retrieval.configured import configured_retriever  # noqa: PLC0415

        settings = self._started(self._settings) if self._settings.demo else self._settings
        return configured_retriever(settings)

    def _started(self, settings: Settings) -> Settings:
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
    """Return the settings with the demo graph's own where none are set."""
    return settings.model_copy(
        update={name: value for name, value in DEFAULTS.items() if getattr(settings, name) is None}
    )
