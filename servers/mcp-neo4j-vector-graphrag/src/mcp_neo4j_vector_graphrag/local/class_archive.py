"""Makes an archive of Neo4j's classes as the JVM holds them in memory: with one, Neo4j starts in half the time.

The JVM makes it of a list of classes (class data sharing, `java -Xshare:dump`). That takes 15 s, so a process of its
own does it beside the first start, and goes on when the database is no longer needed: the next start wants it. If it is
killed, the next attempt clears up; if Java can't make the archive, that is noted, and not tried again with the same
runtime and jars. An archive of another JVM or of other jars is refused by Java itself, without harm.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from mcp_neo4j_vector_graphrag.local.java import class_archive, java_command
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE, child_environment

_DEADLINE = 120.0
"""Seconds after which an attempt is given up."""
_PATIENCE = 10.0
"""Seconds to wait for an archive that is nearly made: a start without it would take longer by about as much."""
_KEPT = 2
"""Archives of one folder of jars: two runtimes may share it."""


def begin_archive(jars: Path) -> None:
    """Make the archive of the demo's Neo4j in the background, unless it is there or can't be made.

    One that is being made is waited for. Neo4j starts without it, so what fails here is no fault.

    Args:
        jars: Folder with the jars.

    Raises:
        LocalDatabaseError: There is no Java runtime.
    """
    if _is_settled(jars):
        return
    with suppress(OSError), _lock(jars, _PATIENCE):
        pass
    if _is_settled(jars):
        return
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", __name__, str(jars)], stdin=subprocess.DEVNULL, env=child_environment(os.environ)
        )


def make_archive(jars: Path) -> None:
    """Make the archive of the demo's Neo4j unless it is there, or being made, or could not be made before.

    Args:
        jars: Folder with the jars. The archive is put beside it, those before the last one are deleted.

    Raises:
        OSError, subprocess.SubprocessError: It can't be made here, which is noted. Neo4j starts without it.
    """
    with suppress(Timeout), _lock(jars, 0):
        if _is_settled(jars):
            return
        for left in jars.parent.glob(f"{_folder_prefix(jars)}*"):  # of an attempt that was killed
            shutil.rmtree(left, ignore_errors=True)
        try:
            with tempfile.TemporaryDirectory(dir=jars.parent, prefix=_folder_prefix(jars)) as folder:
                _dump(jars, Path(folder)).replace(class_archive(jars))
        except (OSError, subprocess.SubprocessError):
            failure_note(jars).touch()
            raise
        _delete_old(jars)


def failure_note(jars: Path) -> Path:
    """Return the file that tells that the archive can't be made: it is named as the archive would be."""
    return class_archive(jars).with_suffix(".failed")


def _is_settled(jars: Path) -> bool:
    """Whether the archive is there, or can't be made."""
    return class_archive(jars).exists() or failure_note(jars).exists()


def _folder_prefix(jars: Path) -> str:
    return f"{jars.name}-dump-"


def _delete_old(jars: Path) -> None:
    """Delete the archives of runtimes and jars before the last ones."""
    by_age = sorted(jars.parent.glob(f"{jars.name}-*.jsa"), key=lambda path: path.stat().st_mtime_ns)
    for old in by_age[:-_KEPT]:
        with suppress(OSError):  # Windows refuses while a Neo4j has it in memory
            old.unlink()


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
