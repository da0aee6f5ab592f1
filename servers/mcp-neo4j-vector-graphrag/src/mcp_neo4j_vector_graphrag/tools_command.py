"""The `tools` command: what a model sees with these settings, and how many tokens that costs it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastmcp import Client

from mcp_neo4j_vector_graphrag.budget import compact_json, tokens
from mcp_neo4j_vector_graphrag.server import build
from mcp_neo4j_vector_graphrag.tools.changing import DiscoveredTools

if TYPE_CHECKING:
    import mcp_types
    from fastmcp import FastMCP

    from mcp_neo4j_vector_graphrag.settings import Settings

_PATIENCE_SECONDS = 60.0
"""So long a look at the database may take; a server's first list waits for 3 s only, and its start for none."""


def run(settings: Settings) -> int:
    """Print the tools and return the exit status.

    Raises:
        SetupError: The settings can't be served.
    """
    print(describe(asyncio.run(_listed(build(settings, _PATIENCE_SECONDS)))))  # noqa: T201 - the command's output
    return 0


def describe(tools: list[mcp_types.Tool]) -> str:
    """Return tools as text: each with its tokens, its description and its arguments, and the sum at the end."""
    costs = [cost(tool) for tool in tools]
    parts = [_described(tool, about) for tool, about in zip(tools, costs, strict=True)]
    count = "1 tool" if len(tools) == 1 else f"{len(tools)} tools"
    return "\n\n".join([*parts, f"{count}, about {sum(costs)} tokens without their output schemas"])


def cost(tool: mcp_types.Tool) -> int:
    """Return about how many tokens a tool costs a model that has it in its context, without its output schema."""
    seen = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return tokens(compact_json(seen))


def _described(tool: mcp_types.Tool, about: int) -> str:
    arguments = [f"  {name}: {compact_json(schema)}" for name, schema in tool.input_schema["properties"].items()]
    return "\n".join([f"{tool.name} (about {about} tokens)", f"  {tool.description}", *arguments])


async def _listed(server: FastMCP) -> list[mcp_types.Tool]:
    async with Client(server) as client:
        for provider in server.providers:
            if isinstance(provider, DiscoveredTools):
                await provider.refresh(_PATIENCE_SECONDS)
        listed: list[mcp_types.Tool] = await client.list_tools()
        return listed
