"""A Neo4j of our own: a JVM as a child process, with its home folder, its port and its password."""

from __future__ import annotations

import importlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil

from mcp_neo4j_vector_graphrag.local.artifacts import write_atomically
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError
from mcp_neo4j_vector_graphrag.local.java import class_archive, java_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

USERNAME = "neo4j"
_DATA = Path(__file__).parent / "neo4j"
_PORTS_TRIED = 5
_START_DEADLINE = 180.0
"""Seconds until Bolt must answer: 5 on free cores, up to 40 on busy ones."""
_QUERY_DEADLINE = 10.0
"""Seconds in which a database whose Bolt answers must answer a query."""
_STOP_DEADLINE = 20.0
"""Seconds after which a JVM that was asked to stop is killed."""
_BOLT_PORT = re.compile(r"^server\.bolt\.listen_address=127\.0\.0\.1:(\d+)$", re.MULTILINE)
_POLL = 0.05
"""Seconds between two looks at something that has no event."""
_ENVIRONMENT = {
    *("PATH", "HOME", "USERPROFILE", "TMPDIR", "TMP", "TEMP", "LANG", "LC_ALL", "LC_CTYPE", "TZ"),
    *("SYSTEMROOT", "WINDIR", "COMSPEC", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8"),
}
"""What a child inherits. No key and no password of the user's is among it, and no JVM option."""


@dataclass(frozen=True)
class Neo4jRelease:
    """What differs from one release of Neo4j to the next."""

    version: str
    jar_list: Path
    main_class: str = "org.neo4j.server.Neo4jCommunity"
    fleet_settings: bool = True
    """It knows the settings that turn the fleet manager and its broadcasts on the local network off: 2026.x."""

    @property
    def class_list(self) -> Path:
        """The file that lists, beside the jars, the classes that the release loads until it has answered a search."""
        return self.jar_list.with_suffix(".classes.gz")


DEMO_RELEASE = Neo4jRelease("2026.09.0", _DATA / "neo4j-2026.09.0.jars")


class Neo4jProcess:
    """One Neo4j Community server on a loopback port.

    Use it as a context manager, or call `start` and `stop`, each once. `stop` may come from another thread, during the
    start too.

    Args:
        release: The release to run.
        home: Folder of the store, the configuration, the logs and the password. Made when it is missing.
        jars: Folder with the release's jars.
        database: Name of the one database, at the first start.
        plugins: Jars to put into the home's plugins folder.
    """

    def __init__(
        self, release: Neo4jRelease, home: Path, jars: Path, *, database: str = "neo4j", plugins: Iterable[Path] = ()
    ) -> None:
        self.release = release
        self.home = home
        self.database = database
        self._jars = jars
        self._plugins = tuple(plugins)
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._stopping = threading.Event()
        self._spawning = threading.Lock()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def uri(self) -> str:
        """Where Bolt answers."""
        return f"bolt://127.0.0.1:{self._port}"

    @property
    def password(self) -> str:
        """The password of the user `neo4j`. There is one after the start."""
        return read_password(self.home)

    @property
    def pid(self) -> int | None:
        """The JVM's process id, None while there is none."""
        return self._process.pid if self._process else None

    @property
    def returncode(self) -> int | None:
        """What the JVM exited with, None while it runs or before it has started."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Start the JVM and wait until the database answers.

        Raises:
            LocalDatabaseError: There is no Java runtime, the JVM exits, or it doesn't answer in time.
        """
        command = self._command()
        try:
            self._prepare_home()
            self._run(command)
        except OSError as error:
            raise LocalDatabaseError(
                f"Neo4j can't run in {self.home} ({error.strerror or error}): make room there or make it writable."
            ) from error
        self._take_over()

    def stop(self) -> None:
        """Ask the JVM to stop, kill it when it doesn't, and return when it is gone. Does nothing when there is none."""
        self._stopping.set()
        with self._spawning:
            process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def wait(self) -> None:
        """Wait until the JVM has exited, whoever ended it."""
        if self._process:
            self._process.wait()

    def failure(self) -> LocalDatabaseError:
        """Describe why the JVM exited, from what it printed last."""
        return LocalDatabaseError(
            f"Neo4j {self.release.version} stopped by itself ({last_words(self._console)}): see {self._console}."
        )

    @property
    def _console(self) -> Path:
        return self.home / "logs" / "console.log"

    def _command(self) -> list[str]:
        """Return the command line of the JVM. It names the home, by which an orphan is recognised."""
        archive = class_archive(self._jars)
        return [
            *java_command(self._jars, *([f"-XX:SharedArchiveFile={archive}"] if archive.exists() else [])),
            self.release.main_class,
            f"--home-dir={self.home}",
            f"--config-dir={self.home / 'conf'}",
            "--console-mode",
        ]

    def _prepare_home(self) -> None:
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in ("conf", "logs", "plugins"):
            (self.home / folder).mkdir(exist_ok=True)
        for plugin in self._plugins:
            shutil.copy(plugin, self.home / "plugins")
        if not password_file(self.home).exists():
            write_atomically(password_file(self.home), secrets.token_urlsafe(24))

    def _last_port(self) -> int:
        """Return the port of the last start, so that who knows the address finds the database again, or a free one."""
        with suppress(OSError):
            noted = _BOLT_PORT.findall((self.home / "conf" / "neo4j.conf").read_text("utf-8"))
            if noted and _is_free(int(noted[-1])):
                return int(noted[-1])
        return _free_port()

    def _write_configuration(self) -> None:
        settings = {
            "initial.dbms.default_database": self.database,
            "server.bolt.listen_address": f"127.0.0.1:{self._port}",
        }
        if self.release.fleet_settings:
            settings |= {"dbms.fleet_manager.enabled": "false", "server.fleet_discovery.enabled": "false"}
        lines = [f"{name}={value}\n" for name, value in settings.items()]
        configuration = (_DATA / "neo4j.conf").read_text("utf-8") + "".join(lines)
        write_atomically(self.home / "conf" / "neo4j.conf", configuration)

    def _run(self, command: list[str]) -> None:
        """Start the JVM on a free port and wait until Bolt answers."""
        for attempt in range(_PORTS_TRIED):
            self._port = self._last_port() if attempt == 0 else _free_port()

            self._write_configuration()
            self._spawn(command)
            importlib.import_module("neo4j")  # which takes a while as well
            if self._answers():
                return
        raise LocalDatabaseError("No free port was found for Neo4j on this machine: try again.")

    def _spawn(self, command: list[str]) -> None:
        """Start the JVM and note its process id in the home, for whoever comes after a killed parent."""
        with self._spawning, self._console.open("wb") as console:
            if self._stopping.is_set():
                raise LocalDatabaseError("Neo4j was stopped while it started.")
            self._process = subprocess.Popen(  # noqa: S603 - the Java runtime of a pinned package
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=child_environment(os.environ)
            )
            write_atomically(pid_file(self.home), str(self._process.pid))

    def _answers(self) -> bool:
        """Wait until Bolt answers on the port. Return False when another process has taken the port meanwhile."""
        deadline = time.monotonic() + _START_DEADLINE
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                if "Address already in use" in self._console.read_text("utf-8", "replace"):
                    return False
                raise self.failure()
            if _speaks_bolt(self._port):
                return True
            time.sleep(_POLL)
        raise LocalDatabaseError(
            f"Neo4j {self.release.version} did not answer within {_START_DEADLINE:.0f} s "
            f"({last_words(self._console)}): try again when the machine is less busy."
        )

    def _take_over(self) -> None:
        """Set the password at the first start, then see that the database answers to it."""
        from neo4j.exceptions import AuthError, DriverError, Neo4jError  # noqa: PLC0415 - while the JVM starts

        try:
            try:
                self._query("RETURN 1", self.password, self.database)
            except AuthError:
                change = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"
                self._query(change, "neo4j", "system", {"password": self.password})
                self._query("RETURN 1", self.password, self.database)
        except (DriverError, Neo4jError) as error:
            raise LocalDatabaseError(
                f"Neo4j {self.release.version} started, but its database does not answer "
                f"({getattr(error, 'message', None) or error}): see {self._console}."
            ) from error

    def _query(self, query: str, password: str, database: str, parameters: Mapping[str, str] | None = None) -> None:
        import neo4j  # noqa: PLC0415 - as above

        auth = (USERNAME, password)
        with neo4j.GraphDatabase.driver(self.uri, auth=auth, max_transaction_retry_time=_QUERY_DEADLINE) as driver:
            driver.execute_query(query, dict(parameters or {}), database_=database)


def read_password(home: Path) -> str:
    """Return the password of the Neo4j in a home folder.

    Raises:
        LocalDatabaseError: There is none: no Neo4j has been started there.
    """
    try:
        return password_file(home).read_text("utf-8")
    except OSError as error:
        raise LocalDatabaseError(f"No Neo4j has been started in {home} yet.") from error


def password_file(home: Path) -> Path:
    """Return where the password of a home's Neo4j is kept, readable by its owner only."""
    return home / "password"


def pid_file(home: Path) -> Path:
    """Return where the process id of a home's JVM is noted."""
    return home / "neo4j.pid"


def stop_orphan(home: Path) -> None:
    """Stop the JVM of a home whose parent was killed. Does nothing when there is none."""
    with suppress(OSError, ValueError, psutil.Error):
        process = psutil.Process(int(pid_file(home).read_text("utf-8")))
        if f"--home-dir={home}" not in process.cmdline():
            return  # the process id is another program's by now
        process.terminate()
        deadline = time.monotonic() + _STOP_DEADLINE
        # A container without an init process keeps the ended process as a zombie.
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(_POLL)


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that a child process of ours needs: no key, no password, no JVM option."""
    return {name: value for name, value in environment.items() if name.upper() in _ENVIRONMENT}


def last_words(log: Path) -> str:
    """Return the line of a log that says best why its process exited: the last cause, else the last line."""
    with suppress(OSError):
        lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
        lines = [line for line in lines if line and not line.startswith(("at ", "... "))]
        causes = [line for line in lines if line.startswith("Caused by:")]
        if telling := causes[-1:] or lines[-1:]:
            return re.sub(r"^Caused by: ([\w.$]+: )?", "", telling[0])[:300]
    return "it printed nothing"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was closed just now is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _speaks_bolt(port: int) -> bool:
    """Offer Bolt 5.0 to a port and see whether the answer is a version, which means that the server is up."""
    offer = b"\x60\x60\xb0\x17" + b"\x00\x00\x00\x05" + bytes(12)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(offer)
            return connection.recv(4) == offer[4:8]
    except OSError:
        return False
