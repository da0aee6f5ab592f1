"""How a tool's work is done: in a thread of its own, in time, and with its errors translated."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from fastmcp.tools import Tool
from mcp_types import ToolAnnotations

from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.errors import UnavailableError
from mcp_neo4j_vector_graphrag.tools.faults import to_tool_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fastmcp.tools import ToolResult
    from pydantic import BaseModel

P = ParamSpec("P")
T = TypeVar("T")

READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True)
"""Of the tools whose queries are checked, and run in READ sessions."""

UNCHECKED = ToolAnnotations(open_world_hint=True)
"""Of the tools whose queries nobody checks: what they do is not known, and clients think the worst of it."""


def plain_tool(
    handler: Callable[..., Awaitable[ToolResult]], name: str, title: str, description: str, result: type[BaseModel]
) -> Tool:
    """Return a read-only tool.

    Args:
        handler: Answers a call; its signature says what it takes.
        name: The tool's.
        title: What people see.
        description: For a model that chooses between tools.
        result: Its structured content.
    """
    return Tool.from_function(
        handler,
        name=name,
        title=title,
        description=description,
        annotations=READ_ONLY,
        output_schema=result.model_json_schema(),
    )


async def answered(seconds: float, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function returns that may wait for a database or an embedder.

    It runs in a thread of its own: a slow one holds up no other call, nor the end of the process.

    Args:
        seconds: A call is answered within this time, whatever it waits for.
        work: The function.
        *args: Its arguments.
        **kwargs: The same by name.

    Raises:
        FaultError: It failed, or did not end in time; the text is for the caller.
    """
    running = asyncio.wrap_future(deadline.start(work, *args, **kwargs))
    try:
        return await asyncio.wait_for(running, seconds)
    except TimeoutError:
        fault: Exception = UnavailableError(
            f"The call gave no answer within {seconds:g} s: ask again later, or for less."
        )
    except Exception as error:  # noqa: BLE001 - all of them are told apart there
        fault = error
    raise to_tool_error(fault) from None
