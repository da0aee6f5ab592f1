"""A process that owns the local Neo4j, so that it ends with its last user, however that user ends.

Each user holds a connection to the supervisor's loopback port. A process that is killed loses its connections as well,
so the supervisor needs no other sign of life. Over the connection it tells its state in lines of JSON:
`{"home": ..., "state": "starting"}`, `{"state": "ready", "uri": ...}`, `{"state": "failed", "reason": ...}`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from filelock import FileLock

from mcp_neo4j_vector_graphrag.local.artifacts import write_atomically
from mcp_neo4j_vector_graphrag.local.class_archive import begin_archive
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE, Neo4jProcess, stop_orphan

DATABASE = "recommendations"
"""Name of the demo's database."""

_PATIENCE = 15.0
"""Seconds that the supervisor waits for its first user."""


class DatabaseProcess(Protocol):
    """What the supervisor needs of a database."""

    @property
    def uri(self) -> str:
        """Where it answers, once it has started."""

    def start(self) -> None:
        """Start it and wait until it answers; raise LocalDatabaseError when it doesn't."""

    def wait(self) -> None:
        """Wait until it has ended, whoever ended it."""

    def stop(self) -> None:
        """End it, also while it starts."""

    def failure(self) -> LocalDatabaseError:
        """Say why it ended by itself."""


class DemoProcess(Neo4jProcess):
    """The demo's Neo4j: it starts faster from the second time on."""

    def __init__(self, home: Path, jars: Path) -> None:
        super().__init__(DEMO_RELEASE, home, jars, database=DATABASE)

    def start(self) -> None:
        """Start the JVM and wait until the database answers."""
        begin_archive(self._jars)
        super().start()


class Supervisor:
    """Runs one database for as long as it has users.

    Args:
        home: The database's home folder, as an absolute path. It holds the supervisor's files too.
        process: The database.
        patience: Seconds to wait for the first user.
    """

    def __init__(self, home: Path, process: DatabaseProcess, patience: float = _PATIENCE) -> None:
        self._home = home
        self._process = process
        self._patience = patience
        self._users: set[asyncio.StreamWriter] = set()
        self._state = {"home": str(home), "state": "starting"}
        self._over = asyncio.Event()

    def run(self) -> None:
        """Run the database until its last user is gone, it ends by itself, or a signal comes.

        A supervisor of the same home that is still stopping is waited for.
        """
        with FileLock(supervisor_lock(self._home)):
            stop_orphan(self._home)
            asyncio.run(self._supervise())

    async def _supervise(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(self._over.set))
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        write_atomically(supervisor_file(self._home), json.dumps({"port": port, "pid": os.getpid()}))
        loop.call_later(self._patience, self._end_without_users)
        database = asyncio.create_task(self._run_database())
        await self._over.wait()
        server.close()
        with suppress(OSError):  # Windows refuses while somebody reads it
            supervisor_file(self._home).unlink()
        await asyncio.to_thread(self._process.stop)
        await database

    async def _run_database(self) -> None:
        """Start the database and wait for its end. After a failed start, the users are told and leave by themselves."""
        try:
            await asyncio.to_thread(self._process.start)
            self._tell({"state": "ready", "uri": self._process.uri})
            await asyncio.to_thread(self._process.wait)
        except LocalDatabaseError as error:
            self._tell({"state": "failed", "reason": str(error)})
        except BaseException:
            self._over.set()
            raise
        else:
            self._tell({"state": "failed", "reason": str(self._process.failure())})
            self._over.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Tell a user the state, and count it as long as its connection stands."""
        if self._over.is_set():
            writer.close()
            return
        self._users.add(writer)
        writer.write(_line(self._state))
        with suppress(ConnectionError):
            while await reader.read(1024):
                pass
        self._users.discard(writer)
        writer.close()
        self._end_without_users()

    def _end_without_users(self) -> None:
        if not self._users:
            self._over.set()

    def _tell(self, change: dict[str, str]) -> None:
        self._state |= change
        for user in self._users:
            user.write(_line(self._state))


def supervisor_file(home: Path) -> Path:
    """Return where a living supervisor notes its port and process id."""
    return home / "supervisor.json"


def supervisor_lock(home: Path) -> Path:
    """Return the file that is locked as long as a home has a supervisor."""
    return home / "supervisor.lock"


def _line(state: dict[str, str]) -> bytes:
    return json.dumps(state).encode() + b"\n"


def main() -> None:
    """Supervise the demo's Neo4j. The command line names its home folder and its folder of jars."""
    home, jars = (Path(argument) for argument in sys.argv[1:])
    Supervisor(home, DemoProcess(home, jars)).run()


if __name__ == "__main__":
    main()
