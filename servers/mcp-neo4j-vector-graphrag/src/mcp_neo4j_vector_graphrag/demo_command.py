"""The `demo` command: a question answered on a Neo4j that this command starts."""

from __future__ import annotations

import json
import shutil
import signal
import threading
from pathlib import Path

from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import load

PROGRAM = "mcp-neo4j-vector-graphrag"


def run(question: str | None, *, config: bool, reset: bool) -> int:
    """Run the command and return its exit status.

    Args:
        question: What to search for; without one, the database runs until a signal and its address is printed.
        config: Print the entry for an MCP client instead.
        reset: Delete the demo's database first.

    Raises:
        SetupError: The demo's packages are missing, or there is no demo on this machine.
    """
    if config:
        print(json.dumps(client_entry(), indent=2))  # noqa: T201 - the command's output
        return 0
    try:
        from mcp_neo4j_vector_graphrag.local.database import reset as reset_database  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise SetupError(f"The demo needs the package {error.name}: install {PROGRAM}[demo].") from error
    if reset:
        reset_database()
        if question is None:
            return 0
    return _answer(question) if question is not None else _keep_running()


def client_entry() -> dict[str, object]:
    """Return the entry that makes the demo a server of Claude Desktop and its like, with absolute paths.

    From a checkout it runs through the workspace's root, which has the demo's packages; else through `uvx`.
    """
    root = _workspace()
    uv = shutil.which("uv") or "uv"
    run = ["--directory", str(root), "run", PROGRAM] if root else ["tool", "run", "--from", f"{PROGRAM}[demo]", PROGRAM]
    return {"mcpServers": {"neo4j-demo": {"command": uv, "args": [*run, "--demo", "--namespace", "demo"]}}}


def _answer(question: str) -> int:
    from mcp_neo4j_vector_graphrag.backend import Backend, with_demo_defaults  # noqa: PLC0415 - after the extra's check
    from mcp_neo4j_vector_graphrag.local.progress import RichProgress  # noqa: PLC0415
    from mcp_neo4j_vector_graphrag.retrieval.items import search  # noqa: PLC0415
    from mcp_neo4j_vector_graphrag.retrieval.result import as_text, collect  # noqa: PLC0415
    from mcp_neo4j_vector_graphrag.tools.configured import configured_tool  # noqa: PLC0415

    settings = with_demo_defaults(load({"demo": True}))
    with RichProgress() as progress:
        backend = Backend(settings, progress)
        try:
            backend.database(seconds=None)
            tool = configured_tool(settings, backend)
            found = search(tool.retriever(), question, tool.default_top_k)
        finally:
            backend.close()
    print(as_text(collect(found.items, settings.response_limit)))  # noqa: T201 - the command's output
    return 0


def _keep_running() -> int:
    from mcp_neo4j_vector_graphrag.local.demo import Demo  # noqa: PLC0415 - after the check of the extra
    from mcp_neo4j_vector_graphrag.local.neo4j_process import password_file  # noqa: PLC0415
    from mcp_neo4j_vector_graphrag.local.progress import RichProgress  # noqa: PLC0415

    ended = threading.Event()
    for name in ("SIGINT", "SIGTERM"):
        signal.signal(getattr(signal, name), lambda *_: ended.set())
    with Demo() as demo:
        with RichProgress() as progress:
            connection = demo.start(progress)
        print(  # noqa: T201 - the command's output
            f"NEO4J_URI={connection.uri}\nNEO4J_USERNAME={connection.username}\n"
            f'NEO4J_PASSWORD="$(cat {password_file(demo.home)})"\nNEO4J_DATABASE={connection.database}\n'
            "The demo database runs until Ctrl-C.",
            flush=True,
        )
        ended.wait()
    return 0


def _workspace() -> Path | None:
    """Return the root of the checkout that this package runs from, if it does."""
    root = Path(__file__).resolve().parents[4]
    return root if (root / "servers" / PROGRAM / "pyproject.toml").is_file() else None
