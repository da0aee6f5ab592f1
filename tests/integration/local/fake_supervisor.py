"""A supervisor whose database is a small process that sleeps: `fake_supervisor.py HOME [BEHAVIOUR [PATIENCE]]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mcp_neo4j_vector_graphrag.local.artifacts import write_atomically
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError
from mcp_neo4j_vector_graphrag.local.neo4j_process import pid_file
from mcp_neo4j_vector_graphrag.local.supervisor import Supervisor


class SleepingDatabase:
    """Stands in for the JVM. It "fails" at the start, is "slow" for ever, or just "runs"."""

    uri = "bolt://127.0.0.1:1"

    def __init__(self, home: Path, behaviour: str) -> None:
        self._home = home
        self._behaviour = behaviour
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the sleeper."""
        if self._behaviour == "fails":
            raise LocalDatabaseError("There is no Java runtime.")
        command = [sys.executable, "-c", "import time; time.sleep(600)", f"--home-dir={self._home}"]
        self._process = subprocess.Popen(command)
        write_atomically(pid_file(self._home), str(self._process.pid))
        write_atomically(self._home / "password", "made-up")
        if self._behaviour == "slow":
            self._process.wait()

    def wait(self) -> None:
        """Wait for the sleeper's end."""
        if self._process:
            self._process.wait()

    def stop(self) -> None:
        """End the sleeper."""
        if self._process:
            self._process.kill()
            self._process.wait()

    def failure(self) -> LocalDatabaseError:
        """Say that it is dead."""
        return LocalDatabaseError("It died.")


def main(home: str, behaviour: str = "runs", patience: str = "15") -> None:
    """Supervise the sleeper."""
    Supervisor(Path(home), SleepingDatabase(Path(home), behaviour), float(patience)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
