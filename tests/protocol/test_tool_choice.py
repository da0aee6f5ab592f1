"""Which tools a client is shown, by the settings and by NEO4J_MCP_TOOLS, and what stops the start with one line."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clients import COMMAND, Process, client, environment
from mcp_neo4j_vector_graphrag import cli
from mcp_neo4j_vector_graphrag.server import build
from mcp_neo4j_vector_graphrag.settings import load

if TYPE_CHECKING:
    from notes import Notes

SNAPSHOT = Path(__file__).with_name("tools.json")
PROGRAM = "mcp-neo4j-vector-graphrag"
NOBODY = {"NEO4J_URI": "bolt://127.0.0.1:1"}
"""Nothing listens there: what stops the start is found without a database."""


def run(variables: dict[str, str], *flags: str, cwd: Path | None = None) -> tuple[int, str, str]:
    """Run the program to its end and return its exit status, its output and its log."""
    with Process([COMMAND, *flags], variables, cwd) as process:
        return process.wait(60), b"".join(process.stdout).decode(), process.log


def set_environment(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """Let this process's environment be as a server's own."""
    for name in set(os.environ) - set(environment()):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def shown(notes: Notes, monkeypatch: pytest.MonkeyPatch):
    """Return what tells the tools that a client sees, and which of them it is told at the first list."""

    def listed(**variables: str) -> set[str]:
        set_environment(monkeypatch, **variables)
        monkeypatch.syspath_prepend(notes.folder)
        with client(build(load({}))) as mcp:
            return {tool.name for tool in mcp.tools()}

    return listed


FOUND = {"search_notes", "search_note_texts", "search_sayings", "search_saying_texts"}
GENERIC = {"vector-search", "fulltext-search", "hybrid-search"}


@pytest.mark.parametrize(
    ("without", "changes", "expected"),
    [
        ("NEO4J_EMBEDDING_", {}, FOUND | {"get-schema"}),
        ("NEO4J_EMBEDDING_", {"NEO4J_MCP_TOOLS": "-search_notes,-schema"}, FOUND - {"search_notes"}),
        ("NEO4J_EMBEDDING_", {"NEO4J_MCP_TOOLS": "search_note_texts,expand"}, {"search_note_texts", "expand"}),
        ("nothing", {}, GENERIC | {"get-schema"}),
        ("nothing", {"NEO4J_MCP_TOOLS": "discovered,fetch"}, FOUND | {"fetch"}),
        ("nothing", {"INDEX_NAME": "notes"}, {"neo4j_vector"}),
        ("nothing", {"INDEX_NAME": "notes", "FULLTEXT_INDEX_NAME": "note_texts"}, {"neo4j_vector", "neo4j_hybrid"}),
        ("nothing", {"INDEX_NAME": "notes", "NEO4J_MCP_RETRIEVER": "own_notes:make"}, {"neo4j_vector", "by_language"}),
    ],
)
def test_the_settings_and_the_choice_say_what_is_seen(
    notes: Notes, shown: Any, without: str, changes: dict[str, str], expected: set[str]
):
    connection = {name: value for name, value in notes.connection().items() if not name.startswith(without)}
    assert shown(**connection, **changes) == expected


def test_the_tools_of_a_file_need_no_other_database(notes: Notes, shown: Any):
    file = {"RETRIEVERS_FILE": str(notes.folder / "retrievers.toml"), **notes.passwords}

    assert shown(**file) == {"calm_notes", "english_notes", "typed", "elsewhere"}


def test_the_tools_command_prints_what_a_model_sees_and_what_it_costs(notes: Notes):
    status, output, log = run(notes.variables(), "tools", cwd=notes.folder)

    agreed = json.loads(SNAPSHOT.read_text("utf-8"))
    costs = {}
    for tool in agreed:
        seen = {name: tool[name] for name in ("name", "description", "inputSchema")}
        text = json.dumps(seen, ensure_ascii=False, separators=(",", ":"))
        costs[tool["name"]] = -(-len(text.encode()) // 4)
    assert status == 0, log
    assert "Traceback" not in log
    assert len(output.split(" tokens)\n")) == len(agreed) + 1
    for tool in agreed:
        assert f"{tool['name']} (about {costs[tool['name']]} tokens)\n  {tool['description']}\n  " in output
    assert output.endswith(
        f"\n\n{len(agreed)} tools, about {sum(costs.values())} tokens without their output schemas\n"
    )


def test_the_tools_command_tells_which_retrievers_can_not_be_searched(notes: Notes, tmp_path: Path):
    text = (notes.folder / "retrievers.toml").read_text("utf-8")
    (tmp_path / "typed.cypher").write_text((notes.folder / "typed.cypher").read_text("utf-8"), "utf-8")
    (tmp_path / "broken.toml").write_text(text.replace("WITH node, score WHERE", "WITH node, score WERE"), "utf-8")
    variables = notes.variables(
        RETRIEVERS_FILE=str(tmp_path / "broken.toml"), NEO4J_MCP_TOOLS="declared", NEO4J_MCP_RETRIEVER=""
    )
    status, output, log = run(variables, "tools")

    assert status == 0, log
    assert "calm_notes (about " in output
    assert "The retriever 'calm_notes' can't be searched: " in log
    assert log.count("can't be searched") == 1


OWN = """
from neo4j_graphrag.retrievers.base import Retriever


class Mine(Retriever):
    VERIFY_NEO4J_VERSION = False

    def __init__(self):
        pass

    def get_search_results(self, query_text):
        raise NotImplementedError


def make():
    return {"neo4j_vector": Mine()}


def fails():
    raise RuntimeError("the model is missing")


def text():
    return "a text"
"""

TABLE = '[[retriever]]\nname = "{name}"\ndescription = "Notes."\nindex = "notes"\n'

BROKEN_FILE = """\
[database.far]
uri = "bolt://127.0.0.1:1"
password_env = "NO_SUCH_PASSWORD"

[[retriever]]
name = "notes"
description = "Notes."
indx = "notes"
fulltext_index = 7

[[retriever]]
name = "notes"
description = "Notes."
index = "notes"
retrieval_query = "RETURN $least AS text, score"

[retriever.parameters.most]
type = "integer"
"""

FACTORY = "--retriever 'stop_notes:"

SAME_NAME = "Two tools are named 'neo4j_vector': rename one, or hide it with NEO4J_MCP_TOOLS."

STOPPED = {
    "unknown-tool": (
        {"INDEX_NAME": "notes", "NEO4J_MCP_TOOLS": "configured,neo4j_vektor"},
        "NEO4J_MCP_TOOLS names 'neo4j_vektor', which is none of configured, neo4j_vector, ",
    ),
    "unknown-tool-hidden": ({"NEO4J_MCP_TOOLS": "-nope"}, "NEO4J_MCP_TOOLS names 'nope', which is none of "),
    "family-without-its-setting": (
        {"NEO4J_MCP_TOOLS": "declared"},
        "NEO4J_MCP_TOOLS chooses 'declared', which needs RETRIEVERS_FILE.",
    ),
    "tool-without-its-setting": (
        {"INDEX_NAME": "notes", "NEO4J_MCP_TOOLS": "neo4j_hybrid"},
        "NEO4J_MCP_TOOLS chooses 'neo4j_hybrid', which needs INDEX_NAME and FULLTEXT_INDEX_NAME.",
    ),
    "fulltext-alone": (
        {"FULLTEXT_INDEX_NAME": "note_texts"},
        "FULLTEXT_INDEX_NAME is set and INDEX_NAME is not: set both.",
    ),
    "names-twice": ({"INDEX_NAME": "notes", "RETRIEVERS_FILE": "twice.toml"}, SAME_NAME),
    "factory-names-twice": ({"INDEX_NAME": "notes", "NEO4J_MCP_RETRIEVER": "stop_notes:make"}, SAME_NAME),
    "factory-raises": (
        {"NEO4J_MCP_RETRIEVER": "stop_notes:fails"},
        f"{FACTORY}fails': the factory failed: RuntimeError: the model is missing",
    ),
    "factory-returns-a-text": (
        {"NEO4J_MCP_RETRIEVER": "stop_notes:text"},
        f"{FACTORY}text': the factory returned str for 'neo4j_vector': return a retriever of neo4j-graphrag, or ",
    ),
    "file-is-not-there": (
        {"RETRIEVERS_FILE": "nope.toml"},
        "FOLDER/nope.toml: there is no such file: set RETRIEVERS_FILE to the full path of one that is there.",
    ),
}
"""For each start that can't be: the settings, and how the one line begins that it says; `FOLDER` is the current one."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with files of retrievers and a module in it."""
    (tmp_path / "stop_notes.py").write_text(OWN, "utf-8")
    (tmp_path / "broken.toml").write_text(BROKEN_FILE, "utf-8")
    (tmp_path / "twice.toml").write_text(TABLE.format(name="neo4j_vector"), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", STOPPED)
def test_what_can_not_be_served_stops_the_start_with_one_line(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    given, begins = STOPPED[name]
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [*root.handlers])  # the program's own write to a stream that is closed later
    monkeypatch.setattr(root, "level", root.level)
    set_environment(monkeypatch, **NOBODY, **given)
    monkeypatch.delitem(sys.modules, "stop_notes", raising=False)

    assert cli.main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith(f"{PROGRAM}: {begins.replace('FOLDER', str(folder))}")


def test_every_fault_of_a_file_is_told_at_once_with_its_line(folder: Path):
    status, output, log = run(environment(**NOBODY, RETRIEVERS_FILE="broken.toml"), cwd=folder)

    assert (status, output) == (2, "")
    assert [line.partition(": ")[0] for line in log.removeprefix(f"{PROGRAM}: ").splitlines()] == [
        f"broken.toml:{number}" for number in (3, 8, 9, 12, 15, 17)
    ]
    for says in (
        "'password_env' names no environment variable that is set",
        "'indx'",
        "'fulltext_index'",
        "two retrievers are named 'notes', the other on line 6: write another name.",
        "the query uses $least, which is no parameter",
        "the query does not use $most",
    ):
        assert says in log
