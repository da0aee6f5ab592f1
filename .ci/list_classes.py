"""Renew the list of the classes that the demo's Neo4j loads: to be run when its release or its Java runtime changes."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import neo4j

from mcp_neo4j_vector_graphrag.backend import with_demo_defaults
from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder
from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings
from mcp_neo4j_vector_graphrag.local.artifacts import fetch_jars
from mcp_neo4j_vector_graphrag.local.demo_graph import load_graph
from mcp_neo4j_vector_graphrag.local.neo4j_process import DEMO_RELEASE, USERNAME, Neo4jProcess
from mcp_neo4j_vector_graphrag.local.supervisor import DATABASE
from mcp_neo4j_vector_graphrag.retrieval.configured import configured_retriever
from mcp_neo4j_vector_graphrag.retrieval.items import search
from mcp_neo4j_vector_graphrag.settings import Settings


class ListingProcess(Neo4jProcess):
    """A Neo4j whose JVM writes down what classes it loads."""

    def _command(self) -> list[str]:
        java, *arguments = super()._command()
        return [java, "-Xshare:off", f"-XX:DumpLoadedClassList={self.home / 'classes'}", *arguments]


def main() -> None:
    """Let a new Neo4j do what the demo does, and keep the names of the classes that this took."""
    with tempfile.TemporaryDirectory() as folder:
        process = ListingProcess(DEMO_RELEASE, Path(folder), fetch_jars(DEMO_RELEASE.jar_list), database=DATABASE)
        with process:
            run_demo(process)
        listed = (process.home / "classes").read_text("utf-8").splitlines()
    # A line is "name id: 1 super: 2", a comment, or the making of a lambda, which Java can do without.
    names = sorted({line.split()[0] for line in listed if line and line[0] not in "#@"})
    DEMO_RELEASE.class_list.write_bytes(gzip.compress("".join(f"{name}\n" for name in names).encode(), mtime=0))


def run_demo(process: Neo4jProcess) -> None:
    """Load the graph and search it."""
    settings = with_demo_defaults(Settings.model_construct(demo=True))
    with neo4j.GraphDatabase.driver(process.uri, auth=(USERNAME, process.password)) as driver:
        load_graph(driver, DATABASE, LocalEmbeddings(), lambda _, __: None)
        retriever = configured_retriever(settings, Database(driver, DATABASE), configured_embedder(settings))
        search(retriever, "dreams inside dreams", {"top_k": 5})


if __name__ == "__main__":
    main()
