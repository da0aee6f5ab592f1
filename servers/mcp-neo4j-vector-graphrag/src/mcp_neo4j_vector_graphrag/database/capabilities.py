"""What a server's Cypher can do, found out by EXPLAIN and not from its version string."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag.database.faults import is_about_statement

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database


EmbedFunction = Literal["ai.text.embed", "genai.vector.encode"]
"""The functions of the GenAI plugin that embed a text: since 2025.11, and before."""

NEW_EMBED: EmbedFunction = "ai.text.embed"
OLD_EMBED: EmbedFunction = "genai.vector.encode"

_NO_INDEX = "Neo.ClientError.Schema.IndexNotFound"
_FUNCTIONS = "SHOW FUNCTIONS YIELD name WHERE name STARTS WITH 'ai.' OR name STARTS WITH 'genai.' RETURN name"
_SEARCH = "CYPHER 25 MATCH (n) SEARCH n IN ({kind} INDEX `no such index` FOR $value {where} LIMIT 1) RETURN n"


@dataclass(frozen=True)
class Capabilities:
    """Each is named after what it allows."""

    search_clause: bool
    """`SEARCH` on vector indexes, with filters on the properties that the index holds: 2026.01."""
    in_list_filter: bool
    """`IN` among those filters: 2026.06."""
    fulltext_search_clause: bool
    """`SEARCH` on full-text indexes: 2026.09."""
    embed_function: EmbedFunction | None
    """The function of the GenAI plugin that embeds a text, the newer one if it has both; `None` without the plugin."""


def probe(database: Database) -> Capabilities:
    """Ask a server what it can do; no index need exist, since its absence is found after the clause is understood."""
    in_list = _understands(database, "VECTOR", "WHERE n.x IN $list")
    return Capabilities(
        search_clause=in_list or _understands(database, "VECTOR", "WHERE n.x = $x"),
        in_list_filter=in_list,
        fulltext_search_clause=in_list and _understands(database, "FULLTEXT", ""),
        embed_function=_embed_function(database),
    )


def _embed_function(database: Database) -> EmbedFunction | None:
    """Return the function that the database has: a version tells nothing, and one needs `CYPHER 25` to be seen."""
    for prefix in ("CYPHER 25 ", ""):
        try:
            names = {row["name"] for row in database.read(prefix + _FUNCTIONS)}
        except Neo4jError as error:
            if not is_about_statement(error):
                raise
        else:
            return next((function for function in (NEW_EMBED, OLD_EMBED) if function in names), None)
    return None


def _understands(database: Database, kind: str, where: str) -> bool:
    try:
        database.explain(_SEARCH.format(kind=kind, where=where))
    except Neo4jError as error:
        if is_about_statement(error):
            return False
        if error.code != _NO_INDEX:
            raise
    return True
