"""Where a Neo4j is: which addresses are taken, from a variable and from a file alike. No framework in here."""

from __future__ import annotations

from urllib.parse import urlsplit

_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
_WRITTEN = "write it as in bolt://localhost:7687"


def check_address(uri: str, setting: str, login: str) -> None:
    """Refuse an address that can't be one of Neo4j's, or that says who logs in.

    Args:
        uri: The address; it is never quoted, since it may hold a password.
        setting: What the operator knows it by, such as `NEO4J_URI`.
        login: The other settings, for a user and a password that stand in the address.

    Raises:
        ValueError: It says what to write instead.
    """
    scheme, separator, _ = uri.partition("://")
    if not separator or scheme not in _SCHEMES:
        raise ValueError(f"{setting} has no scheme that Neo4j knows: begin it with one of {', '.join(_SCHEMES)}")
    if "@" in uri:
        raise ValueError(f"{setting} holds a user or a password: write them in {login}")
    try:
        host, _ = urlsplit(uri).hostname, urlsplit(uri).port
    except ValueError:
        raise ValueError(f"{setting} has a port that is no port: {_WRITTEN}") from None
    if not host:
        raise ValueError(f"{setting} names no host: {_WRITTEN}")
