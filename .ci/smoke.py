"""See that the installed wheel works: its command answers, and a client gets the tool without any database."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

COMMAND = str(Path(sys.executable).with_name("mcp-neo4j-vector-graphrag"))
NOT_INSTALLED = 2
SETTINGS = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "none", "INDEX_NAME": "none"}


async def tool_names() -> list[str]:
    """Return the names of the tools that the server lists while its database is away."""
    transport = StdioTransport(COMMAND, ["--namespace", "smoke"], env=SETTINGS, keep_alive=False)
    async with Client(transport) as client:
        return [tool.name for tool in await client.list_tools()]


def main() -> None:
    """Fail unless the wheel works."""
    subprocess.run([COMMAND, "--version"], check=True)  # noqa: S603 - our own command
    without_extra = subprocess.run([COMMAND, "demo", "x"], capture_output=True, text=True, check=False)  # noqa: S603
    if without_extra.returncode != NOT_INSTALLED or "[demo]" not in without_extra.stderr:
        raise SystemExit(f"without its extra the demo says {without_extra.stderr!r}")
    names = asyncio.run(tool_names())
    if names != ["smoke-neo4j_vector"]:
        raise SystemExit(f"the wheel lists {names}")
    print(f"the wheel serves {names[0]}")  # noqa: T201 - what it found


if __name__ == "__main__":
    main()
