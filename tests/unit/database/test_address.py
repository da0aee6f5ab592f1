"""Which addresses of a Neo4j are taken, wherever they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.database.address import check_address
from mcp_neo4j_vector_graphrag.declared.file import RetrieversFileError, read_file
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.settings import load

if TYPE_CHECKING:
    from pathlib import Path

TAKEN = [
    "neo4j://host",
    "neo4j+s://xxxx.databases.neo4j.io",
    "neo4j+ssc://host",
    "bolt://127.0.0.1:7687",
    "bolt+s://host:1",
    "bolt+ssc://[::1]:7687",
]
REFUSED = {
    "host:7687": "has no scheme that Neo4j knows: begin it with one of neo4j, neo4j+s, neo4j+ssc, bolt, ",
    "http://host:7474": "has no scheme that Neo4j knows: begin it with one of ",
    "BOLT://host": "has no scheme that Neo4j knows: begin it with one of ",
    "bolt:host": "has no scheme that Neo4j knows: begin it with one of ",
    "://host": "has no scheme that Neo4j knows: begin it with one of ",
    "bolt://me@host": "holds a user or a password: write them in ",
    "bolt://me:p-secret@host": "holds a user or a password: write them in ",
    "bolt://host:p-secret": "has a port that is no port: write it as in bolt://localhost:7687",
    "bolt://host:70000": "has a port that is no port: write it as in bolt://localhost:7687",
    "bolt://host:0": "has a port that is no port: write it as in bolt://localhost:7687",
    "bolt://[::1": "names a host that can be none: write it as in bolt://localhost:7687",
    "bolt://h..x:7687": "names a host that can be none: write it as in bolt://localhost:7687",
    "bolt://h h:7687": "holds a blank or a placeholder: write it as in bolt://localhost:7687",
    "bolt://${HOST}:7687": "holds a blank or a placeholder: write it as in bolt://localhost:7687",
    "bolt://host:7687/db": "has more than a host and a port: write it as in bolt://localhost:7687",
    "bolt://host#part": "has more than a host and a port: write it as in bolt://localhost:7687",
    "bolt://host?policy=x": "has more than a host and a port: write it as in bolt://localhost:7687",
    "bolt://": "names no host: write it as in bolt://localhost:7687",
    "bolt://:7687": "names no host: write it as in bolt://localhost:7687",
}
"""For each address, how it begins what is said of it after the setting's name."""


def in_the_environment(uri: str, _: Path) -> str:
    """Return what is said of `NEO4J_URI`."""
    with pytest.raises(SetupError) as raised:
        load({"uri": uri})
    return str(raised.value).removesuffix(".")


def in_a_file(uri: str, folder: Path) -> str:
    """Return what is said of `uri` in a file of retrievers."""
    path = folder / "retrievers.toml"
    path.write_text(f"[[retriever]]\nname = 'n'\ndescription = 'd'\nindex = 'i'\n[database.d]\nuri = '{uri}'", "utf-8")
    with pytest.raises(RetrieversFileError) as raised:
        read_file(path, {})
    [fault] = raised.value.faults
    return fault.removeprefix("retrievers.toml:6: ").removesuffix(".")


@pytest.mark.parametrize("uri", TAKEN)
def test_an_address_of_neo4j_is_taken(uri: str):
    check_address(uri, "NEO4J_URI", "NEO4J_USERNAME and NEO4J_PASSWORD")


@pytest.mark.parametrize(
    ("said", "setting", "login"),
    [
        (in_the_environment, "NEO4J_URI", "NEO4J_USERNAME and NEO4J_PASSWORD"),
        (in_a_file, "'uri'", "'username' and 'password_env'"),
    ],
)
@pytest.mark.parametrize("uri", REFUSED)
def test_the_environment_and_a_file_refuse_the_same_addresses_and_quote_none(
    uri: str, said, setting: str, login: str, tmp_path: Path
):
    text = said(uri, tmp_path)
    assert text.startswith(f"{setting} {REFUSED[uri]}")
    assert "p-secret" not in text
    if "write them" in text:
        assert text.endswith(login)
