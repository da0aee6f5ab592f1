"""Names of tools: prefixed by the namespace, legal in every client, never twice the same."""

from __future__ import annotations

import re

from mcp_neo4j_vector_graphrag.errors import SetupError

MAX_LENGTH = 64
"""Claude Desktop refuses longer names."""

_LEGAL = re.compile(r"[A-Za-z0-9_-]+")


def tool_name(name: str, namespace: str | None = None) -> str:
    """Return the name that clients see: `<namespace>-<name>`.

    Raises:
        SetupError: The whole has a character or a length that a client refuses.
    """
    prefix = f"{namespace.removesuffix('-')}-" if namespace else ""
    full = prefix + name
    if not _LEGAL.fullmatch(full):
        raise SetupError(
            f"The tool name '{full}' has characters that clients refuse: use letters, digits, '_' and '-' "
            "in NEO4J_NAMESPACE and in the names of retrievers."
        )
    if len(full) > MAX_LENGTH:
        raise SetupError(
            f"The tool name '{full}' has {len(full)} characters and clients take {MAX_LENGTH}: "
            "shorten NEO4J_NAMESPACE or the retriever's name."
        )
    return full


def title(name: str) -> str:
    """Return a tool's title for people: `neo4j_vector` becomes `Neo4j vector`."""
    words = re.sub(r"[_-]+", " ", name).strip()
    return words[:1].upper() + words[1:]
