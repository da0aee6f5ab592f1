"""Makes an archive of Neo4j's classes as the JVM holds them in memory: with one, Neo4j starts in half the time.

The JVM makes it of a list of classes (class data sharing, `java -Xshare:dump`). That takes 15 s, so a process of its
own does it beside the first start. An archive of another JVM or of other jars is refused by Java itself, without harm.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from mcp_neo4j_vector_graphrag.local.java import class_archive, java_command
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE, child_environment

_DEADLINE = 300.0
"""Seconds after which an attempt is given up."""
_PATIENCE = 10.0
"""Seconds to wait for an archive that is nearly made: a start without it would take longer by about as much."""


def begin_archive(jars: Path) -> None:
    """Make the archive of the demo's Neo4j in the background unless it is there. One that is being made is waited for.

    Args:
        jars: Folder with the jars.

    Raises:
        LocalDatabaseError: There is no Java runtime.
    """
    if class_archive(jars).exists():
        return
    with suppress(OSError), _lock(jars, _PATIENCE):
        pass
    if class_archive(jars).exists():
        return
    subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", __name__, str(jars)], stdin=subprocess.DEVNULL, env=child_environment(os.environ)
    )


def make_archive(jars: Path) -> None:
    """Make the archive of the demo's Neo4j unless it is there, or being made.

    Args:
        jars: Folder with the jars. The archive is put beside it, earlier ones are deleted.

    Raises:
        OSError, subprocess.SubprocessError: It can't be made here. Neo4j starts without it.
    """
    with suppress(Timeout), _lock(jars, 0):
        if class_archive(jars).exists():
            return
        for earlier in jars.parent.glob(f"{jars.name}-*.jsa"):
            earlier.unlink()
        with tempfile.TemporaryDirectory(dir=jars.parent) as folder:
            _dump(jars, Path(folder)).replace(class_archive(jars))


def _dump(jars: Path, folder: Path) -> Path:
    """Let a JVM load the listed classes and write them to a file in the folder."""
    made, classes = folder / "classes.jsa", folder / "classes.txt"
    classes.write_bytes(gzip.decompress(DEMO_RELEASE.class_list.read_bytes()))
    options = ("-Xshare:dump", "-Xmixed", f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={made}")
    subprocess.run(  # noqa: S603 - the Java runtime of a pinned package
        java_command(jars, *options, "-Xlog:disable"), stdin=subprocess.DEVNULL, timeout=_DEADLINE, check=True
    )
    return made


def _lock(jars: Path, seconds: float) -> FileLock:
    return FileLock(f"{jars}.jsa.lock", timeout=seconds)


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]))
