"""The `demo` command: a question answered on a Neo4j that this command starts. Needs the `demo` extra."""

from __future__ import annotations

import json
import shutil
import signal
import threading
from importlib.metadata import distribution
from pathlib import Path

from mcp_neo4j_vector_graphrag.backend import Backend, with_demo_defaults
from mcp_neo4j_vector_graphrag.local.database import reset as reset_database
from mcp_neo4j_vector_graphrag.local.demo_search import MODEL, SEARCH
from mcp_neo4j_vector_graphrag.local.neo4j_process import password_file
from mcp_neo4j_vector_graphrag.local.progress import RichProgress
from mcp_neo4j_vector_graphrag.settings import Settings

_RESULTS = 5

PROGRAM = "mcp-neo4j-vector-graphrag"


def run(question: str | None, *, config: bool, reset: bool) -> int:
    """Run the command and return its exit status.

    Args:
        question: What to search for; without one, the database runs until a signal and its address is printed.
        config: Print the entry for an MCP client instead.
        reset: Delete the demo's database first.

    Raises:
        SetupError: There is no demo on this machine, or it is in use and can't be reset.
    """
    if config:
        _print(json.dumps(client_entry(), indent=2))
        return 0
    if reset:
        with RichProgress() as progress, progress.step("deleting the demo's database"):
            reset_database()
        if question is None:
            return 0
    return _keep_running() if question is None else _answer(question)


def client_entry() -> dict[str, object]:
    """Return the entry that makes the demo a server of Claude Desktop and its like, with absolute paths.

    From a checkout it runs through the workspace's root, which has the demo's packages; else through `uvx`, from where
    this package was installed from.
    """
    root = _workspace()
    how = ["--directory", str(root), "run", PROGRAM] if root else ["tool", "run", "--from", _source(), PROGRAM]
    arguments = [*how, "--demo", "--namespace", "demo"]
    return {"mcpServers": {"neo4j-demo": {"command": shutil.which("uv") or "uv", "args": arguments}}}


def _answer(question: str) -> int:
    # The demo's own settings: what a user has set for another database is not meant for this one.
    settings = with_demo_defaults(Settings.model_construct(demo=True))
    with RichProgress() as progress:
        backend = Backend(settings, progress)
        try:
            answer = _searched(backend, settings, question, progress)
        finally:
            backend.close()
    _print(answer)
    return 0


def _searched(backend: Backend, settings: Settings, question: str, progress: RichProgress) -> str:
    backend.start()
    # Two seconds of imports, while the database starts.
    from mcp_neo4j_vector_graphrag.embedding.configured import configured_embedder  # noqa: PLC0415
    from mcp_neo4j_vector_graphrag.retrieval.configured import configured_retriever  # noqa: PLC0415
    from mcp_neo4j_vector_graphrag.retrieval.items import search  # noqa: PLC0415
    from mcp_neo4j_vector_graphrag.retrieval.result import SearchResult, as_text  # noqa: PLC0415

    database = backend.database(seconds=None)
    with progress.step("searching"):
        found = search(
            configured_retriever(settings, database, configured_embedder(settings)), question, {"top_k": _RESULTS}
        )
    return as_text(SearchResult.collect(found.items))


def _keep_running() -> int:
    from mcp_neo4j_vector_graphrag.local.demo import Demo  # noqa: PLC0415 - 1 s, which the other commands need not wait for

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with Demo() as demo:
        with RichProgress() as progress:
            connection = demo.start(progress)
        _print(
            f"NEO4J_URI={connection.uri}\nNEO4J_USERNAME={connection.username}\n"
            f'NEO4J_PASSWORD="$(cat {password_file(demo.home)})"\nNEO4J_DATABASE={connection.database}\n'
            f"INDEX_NAME={SEARCH['index_name']}\nEMBEDDING_MODEL={MODEL['embedding_model']}\n"
            "The demo database runs until Ctrl-C."
        )
        ended.wait()
    return 0


def _workspace() -> Path | None:
    """Return the root of the checkout that this package runs from, if it does."""
    root = Path(__file__).resolve().parents[4]
    return root if (root / "servers" / PROGRAM / "pyproject.toml").is_file() else None


def _source() -> str:
    """Return where `uvx` finds this package, with its extra: the folder or address it was installed from, or the index.

    A direct URL is noted in the package's metadata (PEP 610).
    """
    noted = json.loads(distribution(PROGRAM).read_text("direct_url.json") or "{}")
    if "url" not in noted:
        return f"{PROGRAM}[demo]"
    scheme = f"{noted['vcs_info']['vcs']}+" if "vcs_info" in noted else ""
    folder = f"#subdirectory={noted['subdirectory']}" if "subdirectory" in noted else ""
    return f"{PROGRAM}[demo] @ {scheme}{noted['url']}{folder}"


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the command's output
