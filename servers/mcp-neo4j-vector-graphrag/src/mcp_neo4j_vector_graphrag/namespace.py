"""Names of tools: prefixed by the namespace, legal in every client, never twice the same."""

from __future__ import annotations

import hashlib
import re

from mcp_neo4j_vector_graphrag.errors import SetupError, one_line

MAX_LENGTH = 64
"""Claude Desktop refuses longer names."""

_LEGAL = re.compile(r"[A-Za-z0-9_-]+")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
_GOOD_LENGTH = 40
"""Clients put names of their own before a tool's, so a discovered tool's name aims at no more."""
_LEAST = 12
"""Characters that are left for an index's name, however long the namespace is."""
_DIGEST = 6


def tool_name(name: str, namespace: str | None = None) -> str:
    """Return the name that clients see: `<namespace>-<name>`.

    Raises:
        SetupError: The whole has a character or a length that a client refuses.
    """
    prefix = f"{namespace.removesuffix('-')}-" if namespace else ""
    full = prefix + name
    told = one_line(full, 2 * MAX_LENGTH)
    if not _LEGAL.fullmatch(full):
        raise SetupError(
            f"The tool name '{told}' has characters that clients refuse: use letters, digits, '_' and '-' "
            "in NEO4J_NAMESPACE and in the names of retrievers."
        )
    if len(full) > MAX_LENGTH:
        raise SetupError(
            f"The tool name '{told}' has {len(full)} characters and clients take {MAX_LENGTH}: "
            "shorten NEO4J_NAMESPACE or the retriever's name."
        )
    return full


def search_tool_name(index_name: str, namespace: str | None = None) -> str:
    """Return the name of the tool of a discovered index: `<namespace>-search_<index>`, the same in every run."""
    return tool_name(index_search_name(index_name, namespace), namespace)


def index_search_name(index_name: str, namespace: str | None = None) -> str:
    """Return the same without the namespace, which still leaves more or less room for the index's name.

    An index whose name has characters that a tool's name can't have, or too many, gets a few characters of a digest of
    its name, so that no two indexes have one tool.
    """
    prefix = len(tool_name("search_", namespace))
    room = min(max(_GOOD_LENGTH, prefix + _LEAST), MAX_LENGTH) - prefix
    folded = _ILLEGAL.sub("_", index_name)
    if folded != index_name or len(folded) > room:
        digest = hashlib.sha256(index_name.encode()).hexdigest()[:_DIGEST]
        folded = f"{folded.strip('_')[: room - _DIGEST - 1]}_{digest}"
    return f"search_{folded}"


def title(name: str) -> str:
    """Return a tool's title for people: `neo4j_vector` becomes `Neo4j vector`."""
    words = re.sub(r"[_-]+", " ", name).strip()
    return words[:1].upper() + words[1:]
