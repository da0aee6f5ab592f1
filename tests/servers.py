"""The Neo4j servers that the integration tests run against: real ones, started when a test first asks for them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import neo4j

from mcp_neo4j_vector_graphrag.local.artifacts import fetch_jars
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE, USERNAME, Neo4jProcess, Neo4jRelease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ARTIFACTS = Path(__file__).parent / "artifacts"

RELEASES = {
    release.version: release
    for release in (
        DEMO_RELEASE,
        Neo4jRelease("2025.10.1", ARTIFACTS / "neo4j-2025.10.1.jars", fleet_settings=False),
        Neo4jRelease(
            "5.26.14",
            ARTIFACTS / "neo4j-5.26.14.jars",
            main_class="org.neo4j.server.CommunityEntryPoint",
            fleet_settings=False,
        ),
    )
}


def quoted(name: object) -> str:
    """Return a name as Cypher takes it; the product's own function is not used to test it."""
    return "`" + str(name).replace("\\", r"\u005C").replace("`", "``") + "`"


@dataclass(frozen=True)
class Neo4jServer:
    """A running Neo4j. All tests of a run share it: each removes what it made, or calls `clear` first."""

    version: str
    uri: str
    username: str
    password: str = field(repr=False)
    database: str
    driver: neo4j.Driver
    home: Path

    def query(self, query: str, **parameters: object) -> list[dict[str, object]]:
        """Run a query in a transaction of its own and return its rows."""
        return [record.data() for record in self.driver.execute_query(query, parameters, database_=self.database)[0]]

    def clear(self) -> None:
        """Remove every node, relationship, constraint and index."""
        self.query("MATCH (n) DETACH DELETE n")
        for row in self.query("SHOW CONSTRAINTS YIELD name"):
            self.query(f"DROP CONSTRAINT {quoted(row['name'])}")
        for row in self.query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"):
            self.query(f"DROP INDEX {quoted(row['name'])}")


class Neo4jServers:
    """At most one server of each version, started at the first `get`, stopped on leaving.

    Args:
        new_folder: Makes an empty folder for a name.
        plugins: Called with a release and its jars, returns the jars for the plugins folder.
    """

    def __init__(
        self,
        new_folder: Callable[[str], Path],
        plugins: Callable[[Neo4jRelease, Path], Iterable[Path]] = lambda _release, _jars: (),
    ) -> None:
        self._new_folder = new_folder
        self._plugins = plugins
        self._running: dict[str, Neo4jServer] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Neo4jServers:  # noqa: PYI034 - not subclassed
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def get(self, version: str) -> Neo4jServer:
        """Return the server of a version, starting it when it isn't running."""
        if version not in self._running:
            self._running[version] = self._start(RELEASES[version])
        return self._running[version]

    def _start(self, release: Neo4jRelease) -> Neo4jServer:
        home = self._new_folder(f"neo4j-{release.version}") / "home"
        jars = fetch_jars(release.jar_list)
        process = self._stack.enter_context(Neo4jProcess(release, home, jars, plugins=self._plugins(release, jars)))
        driver = neo4j.GraphDatabase.driver(process.uri, auth=(USERNAME, process.password))
        self._stack.enter_context(driver)
        return Neo4jServer(release.version, process.uri, USERNAME, process.password, process.database, driver, home)
