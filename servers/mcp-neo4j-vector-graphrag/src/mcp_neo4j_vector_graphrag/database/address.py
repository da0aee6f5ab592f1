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
    if "${" in uri or any(character.isspace() for character in uri):
        raise ValueError(f"{setting} holds a blank or a placeholder: {_WRITTEN}")
    try:
        parts = urlsplit(uri)
        host = (parts.hostname or "").encode("idna")
    except ValueError:  # of names that no host can have, too
        raise ValueError(f"{setting} names a host that can be none: {_WRITTEN}") from None
    if not host:
        raise ValueError(f"{setting} names no host: {_WRITTEN}")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError(f"{setting} has a port that is no port: {_WRITTEN}")
    if parts.path.strip("/") or parts.fragment or (parts.query and scheme.startswith("bolt")):
        raise ValueError(f"{setting} has more than a host and a port: {_WRITTEN}")
