"""One Neo4j database: every query goes through here, reads only, and ends in time."""

from __future__ import annotations

import time
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import neo4j
from neo4j import NotificationDisabledClassification
from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.database.capabilities import probe
from mcp_neo4j_vector_graphrag.database.faults import translate
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, UnavailableError

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator, Mapping

    from mcp_neo4j_vector_graphrag.database.capabilities import Capabilities

DEFAULT_READ_TIMEOUT = 30.0
"""Seconds that the database gives a query."""

_CONNECT_SECONDS = 3.0
_RETRY_SECONDS = 3.0
_REFUSED_SECONDS = 5.0
"""A refused login is not tried again for so long: after three, Neo4j locks the account, for its other users too."""
_OTHER_NOTIFICATIONS = set(NotificationDisabledClassification) - {NotificationDisabledClassification.UNRECOGNIZED}
"""All but those of names that the database lacks."""
_GRACE_SECONDS = 5.0
"""A query that pays no heed to the database's timeout is given up this much later."""


class Database:
    """Reads from one database with one round trip a query.

    Args:
        driver: A synchronous driver; it connects at the first query.
        name: The database's name; `None` means the user's default database and costs a round trip more.
        read_timeout: Seconds that the database gives a query.
        settings_of: Where its settings stand, such as `[database.movies] in RETRIEVERS_FILE`, for the text of an error;
            `None` means the environment.
    """

    def __init__(
        self,
        driver: neo4j.Driver,
        name: str | None = None,
        read_timeout: float = DEFAULT_READ_TIMEOUT,
        *,
        settings_of: str | None = None,
    ) -> None:
        self.driver = driver
        self.name = name
        self.read_timeout = read_timeout
        self.settings_of = settings_of
        self.epoch = 0
        """Counts lost connections: what was learnt of the server before may no longer hold."""
        self._told: set[str] = set()
        self._capabilities: tuple[int, Capabilities] | None = None
        self._refused: tuple[float, AuthError] | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What the server can do: asked once, and again after the connection was lost, since it may be another server.

        Raises:
            Neo4jError: Neo4j refused to be asked.
            DriverError: The connection failed, after retries.
            UnavailableError: Neither answer nor error came in time.
        """
        if self._capabilities is None or self._capabilities[0] != self.epoch:
            self._capabilities = (self.epoch, probe(self))
        return self._capabilities[1]

    def read(
        self, statement: str, parameters: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> list[neo4j.Record]:
        """Return the rows of a reading statement.

        Args:
            statement: It may only read.
            parameters: Its parameters.
            seconds: The time that the database gives it, if less than usual.

        Returns:
            All rows; a statement that finds nothing has none.

        Raises:
            Neo4jError: Neo4j refused the statement; `fault` turns it into a text for the caller.
            DriverError: The connection failed, after retries.
            UnavailableError: Neither answer nor error came in time.
        """
        return self._run(statement, parameters or {}, min(seconds or self.read_timeout, self.read_timeout))[0]

    def explain(self, statement: str, *, unknown_names: bool = False) -> neo4j.ResultSummary:
        """Return the summary, with the plan, of a statement that is not run.

        Args:
            statement: Any.
            unknown_names: Have the summary tell of labels, types and properties that the database lacks.

        Raises:
            Neo4jError: The statement does not parse, or names what does not exist.
            DriverError: The connection failed, after retries.
            UnavailableError: Neither answer nor error came in time.
        """
        return self._run(f"EXPLAIN {statement}", {}, self.read_timeout, unknown_names=unknown_names)[1]

    def warn_once(self, logger: logging.Logger, warning: str) -> None:
        """Log what is found at each look at this database, and is news at the first one alone."""
        if warning not in self._told:
            self._told.add(warning)
            logger.warning("%s", warning)

    def fault(self, error: Exception) -> GraphRAGError:
        """Return what a caller is told in place of an error of the driver."""
        return translate(error, database=self.name, timeout=self.read_timeout, settings_of=self.settings_of)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise what a caller is told, in place of the driver's errors that come out of the block.

        Raises:
            SetupError: Neo4j refused something before an operator has changed something.
            UnavailableError: Neo4j can't be reached or took too long.
        """
        try:
            yield
        except (Neo4jError, DriverError) as error:
            raise self.fault(error) from error

    def close(self) -> None:
        """Close the driver and its connections, as far as no other thread is using them: those end with the process."""
        with suppress(Exception):  # such as the driver's BufferError over a connection that is just being written to
            self.driver.close()

    def _run(
        self, statement: str, parameters: Mapping[str, Any], seconds: float, *, unknown_names: bool = False
    ) -> tuple[list[neo4j.Record], neo4j.ResultSummary]:
        if self._refused and time.monotonic() - self._refused[0] < _REFUSED_SECONDS:
            raise self._refused[1]
        end = time.monotonic() + seconds + _GRACE_SECONDS
        retrying = Retrying(
            retry=retry_if_exception(_is_passing),
            stop=stop_after_delay(_RETRY_SECONDS),
            wait=wait_random_exponential(multiplier=0.05, max=1),
            reraise=True,
        )
        query = neo4j.Query(statement, timeout=seconds)
        return retrying(self._run_until, end, seconds, query, parameters, unknown_names)

    def _run_until(
        self,
        end: float,
        seconds: float,
        query: neo4j.Query,
        parameters: Mapping[str, Any],
        unknown_names: bool,  # noqa: FBT001 - `Retrying` and threads pass it on
    ) -> tuple[list[neo4j.Record], neo4j.ResultSummary]:
        running = deadline.start(self._run_once, query, parameters, unknown_names)
        try:
            return running.result(timeout=max(end - time.monotonic(), 0))
        except FutureTimeoutError:
            raise UnavailableError(
                f"Neo4j gave no answer within {seconds + _GRACE_SECONDS:.3g} s, its own time limit of "
                f"{seconds:.3g} s included (NEO4J_READ_TIMEOUT): ask again later."
            ) from None

    def _run_once(
        self,
        query: neo4j.Query,
        parameters: Mapping[str, Any],
        unknown_names: bool,  # noqa: FBT001 - the same
    ) -> tuple[list[neo4j.Record], neo4j.ResultSummary]:
        try:
            with self.driver.session(
                database=self.name,
                default_access_mode=neo4j.READ_ACCESS,
                # Whoever made the driver: that a search looks at what isn't there is no news.
                notifications_min_severity="WARNING" if unknown_names else "OFF",
                notifications_disabled_classifications=_OTHER_NOTIFICATIONS,
            ) as session:
                result = session.run(query, dict(parameters))
                return list(result), result.consume()
        except (ServiceUnavailable, SessionExpired):
            self.epoch += 1
            raise
        except AuthError as error:
            self._refused = (time.monotonic(), error)
            raise


def open_driver(uri: str, username: str, password: str | None) -> neo4j.Driver:
    """Return a driver with this project's limits; it connects at the first query, without a password as nobody.

    Raises:
        ConfigurationError: The URI has no scheme that the driver knows.
    """
    return neo4j.GraphDatabase.driver(
        uri,
        auth=(username, password) if password else None,
        connection_timeout=_CONNECT_SECONDS,
        connection_acquisition_timeout=_CONNECT_SECONDS + 1,
        notifications_min_severity="OFF",
    )


def _is_passing(error: BaseException) -> bool:
    return isinstance(error, (Neo4jError, DriverError)) and error.is_retryable()
