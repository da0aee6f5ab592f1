"""The local Neo4j as its users see it: started when it is needed, shared by all who use it, gone with the last."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout
from platformdirs import user_data_path
from pydantic import SecretStr

from mcp_neo4j_vector_graphrag.local.artifacts import fetch_jars, read_jar_list
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError
from mcp_neo4j_vector_graphrag.local.neo4j_process import (
    DEMO_RELEASE,
    USERNAME,
    child_environment,
    last_words,
    read_password,
    stop_orphan,
)
from mcp_neo4j_vector_graphrag.local.supervisor import DATABASE, supervisor_file, supervisor_lock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_neo4j_vector_graphrag.local.progress import Progress

_SPAWN_DEADLINE = 60.0
"""Seconds until a new supervisor must answer. It may have to wait for an earlier one that is still stopping."""
_READY_DEADLINE = 300.0
"""Seconds without a word of the supervisor after which the start is given up."""
_STOPPED_DEADLINE = 30.0
"""Seconds until a supervisor that takes no more connections has stopped its database."""
_GREETING_DEADLINE = 5.0
"""Seconds in which a living supervisor tells its state."""
_POLL = 0.02
"""Seconds between two looks at something that has no event."""


@dataclass(frozen=True)
class Connection:
    """What a driver needs to connect to the database."""

    uri: str
    username: str
    password: SecretStr
    database: str


class LocalDatabase:
    """The demo's Neo4j. It runs while at least one `LocalDatabase`, of any process, is started and not closed.

    A context manager that closes. `close` may be called from another thread while `start` runs, which then fails.

    Args:
        home: Folder of the database. Default: in the user's data folder.
        command: What starts a supervisor of the home, instead of ours.
    """

    def __init__(self, home: Path | None = None, command: Sequence[str] | None = None) -> None:
        self.home = (home or default_home()).absolute()
        self._command = command
        self._link: _Link | None = None
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, progress: Progress) -> Connection:
        """Download Neo4j, start it and wait until it answers; whatever of this is already done is not done again.

        May be called again: after a failure, or when the database may have ended meanwhile.

        Args:
            progress: Is told the steps.

        Returns:
            What to connect with.

        Raises:
            LocalDatabaseError: It can't be had on this machine, or not now.
        """
        command = self._command or self._supervisor_command(progress)
        with progress.step("starting Neo4j"):
            self._check_open()
            previous, self._link = self._link, self._join(command)
            if previous:
                previous.close()
            if self._closed.is_set():
                self._link.close()
            uri = self._link.wait_until_ready()
            self._check_open()
        return Connection(uri, USERNAME, SecretStr(read_password(self.home)), DATABASE)

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended since."""
        return self._link is not None and self._link.is_open

    def close(self) -> None:
        """Say that the database is no longer used. Returns at once; the database stops when nobody else uses it."""
        self._closed.set()
        if self._link:
            self._link.close()

    def _supervisor_command(self, progress: Progress) -> list[str]:
        jar_list = DEMO_RELEASE.jar_list
        with progress.step("downloading Neo4j", len(read_jar_list(jar_list))) as advance:

            def proceed(done: int, _: int) -> None:
                self._check_open()
                advance(done)

            jars = fetch_jars(jar_list, proceed)
        module = "mcp_neo4j_vector_graphrag.local.supervisor"
        return [sys.executable, "-m", module, str(self.home), str(jars)]

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise LocalDatabaseError("The demo database was closed while it started.")

    def _join(self, command: Sequence[str]) -> _Link:
        """Connect to the living supervisor or, when there is none, to a new one."""
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.home / "start.lock"):
                return _Link.find(self.home) or self._spawn(command)
        except OSError as error:
            raise LocalDatabaseError(
                f"The demo database can't be kept in {self.home} ({error.strerror or error}): make the folder writable."
            ) from error

    def _spawn(self, command: Sequence[str]) -> _Link:
        """Start a supervisor that outlives this process, and connect to it."""
        log = self.home / "logs" / "supervisor.log"
        log.parent.mkdir(exist_ok=True)
        supervisor_file(self.home).unlink(missing_ok=True)  # a killed supervisor's
        with log.open("wb") as output:
            process = _detached(command, output)
        threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie, whenever it ends
        deadline = time.monotonic() + _SPAWN_DEADLINE
        while process.poll() is None and time.monotonic() < deadline:
            if link := _Link.find(self.home):
                return link
            time.sleep(_POLL)
        raise LocalDatabaseError(f"The demo database could not be started ({last_words(log)}): see {log}.")


class _Link:
    """A connection to the supervisor of a home. The database runs as long as it stands."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")
        self._state: dict[str, Any] = {}

    @classmethod
    def find(cls, home: Path) -> _Link | None:
        """Connect to the supervisor that lives in a home. None: there is none, or it is stopping."""
        try:
            port = json.loads(supervisor_file(home).read_text("utf-8"))["port"]
            link = cls(socket.create_connection(("127.0.0.1", port), _GREETING_DEADLINE))
        except (OSError, ValueError, KeyError, TypeError, OverflowError):  # its file may hold anything
            return None
        # The file of a killed supervisor may name a port that is another program's by now.
        if link._receive() and link._state.get("home") == str(home):
            return link
        link.close()
        return None

    def wait_until_ready(self) -> str:
        """Wait until the database answers and return its URI.

        Raises:
            LocalDatabaseError: It failed, or its supervisor ended.
        """
        with suppress(OSError):  # closed meanwhile, which the next line tells
            self._connection.settimeout(_READY_DEADLINE)
        while self._state["state"] == "starting":
            if not self._receive():
                self.close()
                raise LocalDatabaseError("The demo database was stopped while it started: try again.")
        if self._state["state"] == "failed":
            self.close()
            raise LocalDatabaseError(self._state["reason"])
        return str(self._state["uri"])

    @property
    def is_open(self) -> bool:
        """Whether the supervisor still holds its end: it ends with the database."""
        readable, _, _ = select.select([self._connection], [], [], 0)
        return not readable

    def close(self) -> None:
        """End the connection, and a wait on it in another thread."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._connection.close()

    def _receive(self) -> bool:
        """Read the next state. Return False when there will be none."""
        try:
            state = json.loads(self._lines.readline())
        except (OSError, ValueError):
            return False
        self._state = state if isinstance(state, dict) else {}
        return bool(self._state)


def default_home() -> Path:
    """Return the folder of the demo's database: in the user's data folder."""
    return user_data_path("mcp-neo4j-vector-graphrag") / "demo"


def reset(home: Path | None = None) -> None:
    """Delete the demo's database, so that the next start makes a new one. The downloaded jars stay.

    Raises:
        LocalDatabaseError: It is in use.
    """
    folder = (home or default_home()).absolute()
    if not folder.exists():
        return
    in_use = LocalDatabaseError("The demo database is in use: quit the programs that use it, then reset it again.")
    with FileLock(folder / "start.lock"):
        if link := _Link.find(folder):
            link.close()
            raise in_use
        try:
            with FileLock(supervisor_lock(folder), timeout=_STOPPED_DEADLINE):
                stop_orphan(folder)
                _empty(folder)
        except Timeout:
            raise in_use from None


def _empty(home: Path) -> None:
    """Delete what is in a home, except the files by whose locks others wait."""
    for path in home.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".lock":
            path.unlink()


def _detached(command: Sequence[str], output: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - any open file
    """Start a process that belongs to no terminal, and that no signal to our process group reaches."""
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return subprocess.Popen(  # noqa: S603 - our own module, or what the caller chose
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=child_environment(os.environ),
        **options,
    )
