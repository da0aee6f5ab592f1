"""The pages: their generated parts are what would be generated now, and their commands do what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clients import StdioServer, client, environment, items_of, text_of, until
from docs.generate import PAGES, ROOT, SERVER, commands, first_results, outputs, render
from mcp_neo4j_vector_graphrag.local.demo_graph import read_graph
from mcp_neo4j_vector_graphrag.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_types import CallToolResult

    from clients import McpClient

DEMO = 'uv run mcp-neo4j-vector-graphrag demo "dreams inside dreams"'
PUBLISHED_DEMO = DEMO.replace("uv run", 'uvx --from "mcp-neo4j-vector-graphrag[demo]"')
TESTS = "uv run pytest"

START_SECONDS = 120.0
"""A first start with its graph, on a busy machine."""


@dataclass(frozen=True)
class DemoHome:
    """A user whose data folder is empty at first; what was downloaded is shared with the real user."""

    data: Path

    @property
    def variables(self) -> dict[str, str]:
        """An environment in which the demo keeps its data there, and uv leaves the tests' packages alone."""
        return environment(XDG_DATA_HOME=str(self.data), UV_NO_SYNC="1")

    def run(self, command: str, folder: Path = ROOT) -> str:
        """Run a command as in a shell, and return what it prints."""
        done = subprocess.run(
            shlex.split(command),
            cwd=folder,
            env=self.variables,
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def files(self, name: str) -> list[Path]:
        """Return the files of a name in the data folder."""
        return list(self.data.rglob(name))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> DemoHome:
    return DemoHome(tmp_path_factory.mktemp("data"))


@dataclass(frozen=True)
class DemoServer:
    """The server that the entry of the demo starts, and what it said while its database was still starting."""

    client: McpClient
    tools_at_once: list[str]
    had_graph_then: bool
    close: Callable[[], None]


@pytest.fixture(scope="module")
def served(home: DemoHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    """Start what `demo --config` prints as a desktop client does: with a short PATH, in any folder.

    As long as it runs, the other demos share its database.
    """
    entry = json.loads(home.run("uv run mcp-neo4j-vector-graphrag demo --config"))["mcpServers"]["neo4j-demo"]
    command = [entry["command"], *entry["args"]]
    assert Path(command[0]).is_absolute()
    assert Path(command[command.index("--directory") + 1]).is_absolute()
    variables = {**home.variables, "PATH": os.defpath}
    with ExitStack() as stack:
        server = stack.enter_context(StdioServer(variables, command=command, cwd=tmp_path_factory.mktemp("folder")))
        connected = stack.enter_context(client(server))
        names = [tool.name for tool in connected.tools()]
        yield DemoServer(connected, names, bool(home.files("graph.digest")), stack.close)


@pytest.fixture(scope="module")
def page() -> str:
    return PAGES[0].read_text("utf-8")


def comparable(output: str) -> str:
    """Return a search's output without its scores, whose last digits vary by platform."""
    return re.sub(r"score: [\d.]+", "score", output)


def titles(output: str) -> list[str]:
    """Return the films of a demo's output in their order."""
    return re.findall(r"^(.+ \(\d{4}\)): ", output, re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name)
def test_the_generated_parts_are_up_to_date(path: Path):
    page = path.read_text("utf-8")
    assert render(page) == page


def test_a_stale_part_is_renewed():
    stale = "a\n<!-- options -->\nold\n<!-- end -->\nb\n<!-- output of: say hello -->\nold\n<!-- end -->\n"
    renewed = render(stale, {"say hello": "hello\n"}.__getitem__)
    assert "old" not in renewed
    assert "| `NEO4J_URI`, `NEO4J_URL` | `--db-url` |" in renewed
    assert outputs(renewed) == {"say hello": "hello"}
    assert renewed.startswith("a\n<!-- options -->\n| Variable |")


def test_each_command_of_the_pages_is_run_here():
    root, server = (commands(path.read_text("utf-8")) for path in PAGES)
    assert root == [DEMO, TESTS]
    assert server == [PUBLISHED_DEMO]


def test_the_test_command_is_what_ci_runs():
    assert TESTS in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


def test_the_page_tells_how_many_films_there_are(page: str):
    assert f"a graph of {len(read_graph().movies)} films" in page


def test_the_entry_of_the_demo_lists_its_tool_before_the_database_is_there(served: DemoServer):
    assert served.tools_at_once == ["demo-neo4j_vector"]
    assert not served.had_graph_then


def test_the_entry_of_the_demo_answers_once_the_graph_is_there(served: DemoServer):
    answers: list[CallToolResult] = []

    def answered() -> bool:
        answers.append(served.client.call("demo-neo4j_vector", query="dreams inside dreams"))
        assert not answers[-1].is_error or "still starting" in text_of(answers[-1])
        return not answers[-1].is_error

    until(answered, "the demo answers", START_SECONDS)
    assert titles(text_of(answers[-1]))[0] == "Inception (2010)"


@pytest.mark.usefixtures("served")
def test_the_demo_prints_what_the_page_shows(home: DemoHome, page: str):
    printed = home.run(DEMO)
    assert len(titles(printed)) == 5
    assert comparable(first_results(printed)) == comparable(outputs(page)[DEMO])


@pytest.mark.usefixtures("served")
def test_the_filters_that_the_page_shows_work_on_the_demo(home: DemoHome, page: str):
    [snippet] = re.findall(r'^```json\n(\{"query": .*\})\n```$', page, re.MULTILINE)
    variables = {**home.variables, "NEO4J_MCP_TOOLS": "discovered", "NEO4J_MCP_DEMO": "true"}
    with StdioServer(variables) as server, client(server) as mcp:
        until(mcp.tools, "the index is found", START_SECONDS)
        results = items_of(mcp.call("search_moviePlotsEmbedding", **json.loads(snippet)))
    found = [(item["doc"]["title"], item["doc"]["year"], item["doc"]["imdbRating"]) for item in results]
    assert found[0][0] == "Inception"
    assert all(1990 <= year <= 2010 and rating >= 8 for _, year, rating in found)


def test_the_variables_of_a_hosted_server_are_complete(page: str, monkeypatch: pytest.MonkeyPatch):
    [snippet] = re.findall(r"^```ini\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for line in snippet.splitlines():
        monkeypatch.setenv(*line.split("=", 1))
    assert load({"uri": "bolt://127.0.0.1:1"}).embedding_provider == "openai"


@pytest.mark.usefixtures("served")
def test_the_published_demo_answers_from_the_folder_of_the_server(home: DemoHome, page: str, tmp_path: Path):
    command = PUBLISHED_DEMO.replace("uvx", "uvx --refresh-package mcp-neo4j-vector-graphrag")
    printed = home.run(command.replace('"mcp-neo4j-vector-graphrag[demo]"', f'"{SERVER}[demo]"'), tmp_path)
    assert titles(first_results(printed)) == titles(outputs(page)[DEMO])


def test_reset_deletes_the_database(served: DemoServer, home: DemoHome):
    served.close()
    assert home.files("neo4j.conf")
    home.run("uv run mcp-neo4j-vector-graphrag demo --reset")
    assert not home.files("neo4j.conf")
