"""The pages: their generated parts are what would be generated now, and their commands do what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clients import StdioServer, client, environment, items_of, text_of, until
from docs.generate import FAMILIES, PAGES, ROOT, SERVER, USES, commands, excerpt, outputs, render, seen_with
from mcp_neo4j_vector_graphrag.local.demo_graph import read_graph
from mcp_neo4j_vector_graphrag.settings import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_types import CallToolResult

    from clients import McpClient

DEMO = 'uv run mcp-neo4j-vector-graphrag demo "dreams inside dreams"'
PUBLISHED_DEMO = DEMO.replace("uv run", 'uvx --from "mcp-neo4j-vector-graphrag[demo]"')
DISCOVERED = "uv run mcp-neo4j-vector-graphrag tools --demo --tools discovered,schema"
DECLARED = "uv run mcp-neo4j-vector-graphrag tools --demo --tools declared --retrievers-file examples/retrievers.toml"
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
    opened: ExitStack
    """Holds all that is open on the demo's database."""


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
        yield DemoServer(connected, names, bool(home.files("graph.digest")), stack)


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


def test_each_family_is_told_with_the_settings_that_suffice():
    seen: dict[str, list[str]] = {}
    for family in FAMILIES:
        seen.setdefault(family.name, []).append(seen_with(family))
    assert seen == {
        "configured": ["`INDEX_NAME`", "`INDEX_NAME`, `FULLTEXT_INDEX_NAME`"],
        "declared": ["`RETRIEVERS_FILE`"],
        "own": ["`NEO4J_MCP_RETRIEVER`"],
        "discovered": ["none of these"],
        "generic": ["`NEO4J_EMBEDDING_PROVIDER` alone"],
        "schema": ["none of these"],
        "walking": ["`NEO4J_MCP_TOOLS=walking`"],
        "connectors": ["`NEO4J_MCP_TOOLS=connectors`"],
    }


def test_arguments_are_left_out_of_what_tools_prints():
    printed = 'a (about 27 tokens)\n  Finds.\n  query: {"type":"string"}\n  top_k: {}\n\n1 tools\n'
    assert excerpt("mcp-neo4j-vector-graphrag tools", printed) == "a (about 27 tokens)\n  Finds.\n  …\n\n1 tools"


def test_each_command_of_the_pages_is_run_here():
    root, server, examples = (commands(path.read_text("utf-8")) for path in PAGES)
    assert root == [DEMO, DISCOVERED, TESTS]
    assert server == [PUBLISHED_DEMO, DEMO]
    assert examples == [DECLARED]


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
    assert comparable(excerpt(DEMO, printed)) == comparable(outputs(page)[DEMO])


@pytest.mark.usefixtures("served")
def test_the_tools_of_the_demo_are_those_that_the_page_shows(home: DemoHome, page: str):
    assert excerpt(DISCOVERED, home.run(DISCOVERED)) == outputs(page)[DISCOVERED]


@pytest.mark.usefixtures("served")
def test_the_tools_of_the_file_of_retrievers_are_those_that_its_page_shows(home: DemoHome):
    assert excerpt(DECLARED, home.run(DECLARED)) == outputs(PAGES[2].read_text("utf-8"))[DECLARED]


@pytest.fixture(scope="module")
def toolbox(home: DemoHome, served: DemoServer, tmp_path_factory: pytest.TempPathFactory) -> McpClient:
    """Serve the demo with every family but the operator's own code."""
    folder = shutil.copytree(ROOT / "examples", tmp_path_factory.mktemp("toolbox") / "examples")
    file = folder / "retrievers.toml"
    lines = file.read_text("utf-8").splitlines()  # fixed filters are not shown beside what goes by ids
    file.write_text("\n".join(line for line in lines if not line.startswith("fixed_filters")), "utf-8")
    variables = {
        **home.variables,
        "NEO4J_MCP_DEMO": "true",
        "INDEX_NAME": "moviePlotsEmbedding",
        "FULLTEXT_INDEX_NAME": "movieFulltext",
        "RETRIEVERS_FILE": str(file),
        "NEO4J_MCP_TOOLS": ",".join(dict.fromkeys(family.name for family in FAMILIES if family.name != "own")),
    }
    server = served.opened.enter_context(StdioServer(variables))
    connected = served.opened.enter_context(client(server))
    until(lambda: any(tool.name.startswith("search_") for tool in connected.tools()), "found", START_SECONDS)
    return connected


def test_the_filters_that_the_page_shows_work_on_the_demo(toolbox: McpClient, page: str):
    [snippet] = re.findall(r'^```json\n(\{"query": .*\})\n```$', page, re.MULTILINE)
    results = items_of(toolbox.call("search_moviePlotsEmbedding", **json.loads(snippet)))
    films = {f"{movie.title} ({movie.year})": movie for movie in read_graph().movies}
    found = [films[item["doc"]["text"].partition(": ")[0]] for item in results]
    assert found[0].title == "Inception"
    assert all(1990 <= film.year <= 2010 and film.imdb_rating >= 8 for film in found)


@pytest.mark.parametrize(
    ("use", "tool", "film"),
    [
        ("neo4j_vector", "neo4j_vector", "Inception"),
        ("neo4j_hybrid", "neo4j_hybrid", "The Lunchbox"),
        ("declared", "films_by_plot", "Jaws"),
        ("search_*", "search_moviePlotsEmbedding", "Inception"),
        ("vector-search", "vector-search", "The Martian"),
        ("fulltext-search", "fulltext-search", "The Dark Knight"),
        ("hybrid-search", "hybrid-search", "A Separation"),
        ("search", "search", "2001: A Space Odyssey"),
    ],
)
def test_each_search_answers_its_question_first(toolbox: McpClient, use: str, tool: str, film: str):
    first = items_of(toolbox.call(tool, query=USES[use].question))[0]
    assert film in json.dumps(first)


def test_the_schema_tells_what_is_in_the_database_and_what_searches_it(toolbox: McpClient):
    schema = text_of(toolbox.call("get-schema"))
    assert "Movie" in schema
    assert "neo4j_vector" in schema


def test_a_result_is_walked_on_from_and_fetched(toolbox: McpClient):
    found = items_of(toolbox.call("search", query="dreams inside dreams"))[0]
    around = toolbox.call("expand", ids=[found["id"]], relationship_types=["DIRECTED"], depth=2)
    others = {each["properties"].get("title") for each in around.structured_content["neighbours"] if each["hop"] == 2}
    assert others == {movie.title for movie in read_graph().movies if "Christopher Nolan" in movie.directors} - {
        "Inception"
    }
    assert "A thief who steals secrets" in toolbox.call("fetch", id=found["id"]).structured_content["text"]


def test_what_a_discovered_tool_of_the_demo_finds_has_its_properties_and_can_be_walked_on_from(
    home: DemoHome, served: DemoServer
):
    server = StdioServer({**home.variables, "NEO4J_MCP_DEMO": "true", "NEO4J_MCP_TOOLS": "discovered,walking"})
    connected = served.opened.enter_context(client(served.opened.enter_context(server)))
    until(lambda: len(connected.tools()) > 1, "the indexes are found", START_SECONDS)
    for tool in ("search_moviePlotsEmbedding", "search_movieFulltext"):
        found = items_of(connected.call(tool, query="a thief steals secrets through dreams"))[0]
        assert found["doc"]["title"] == "Inception"
        around = connected.call("expand", ids=[found["id"]], relationship_types=["DIRECTED"])
        names = [each["properties"]["name"] for each in around.structured_content["neighbours"]]
        assert names == ["Christopher Nolan"]


def test_the_variables_of_a_hosted_server_are_complete(page: str, monkeypatch: pytest.MonkeyPatch):
    [snippet] = re.findall(r"^```ini\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for line in snippet.splitlines():
        monkeypatch.setenv(*line.split("=", 1))
    assert load({"uri": "bolt://127.0.0.1:1"}).embedding_provider == "openai"


@pytest.mark.usefixtures("served")
def test_the_published_demo_answers_from_the_folder_of_the_server(home: DemoHome, page: str, tmp_path: Path):
    command = PUBLISHED_DEMO.replace("uvx", "uvx --refresh-package mcp-neo4j-vector-graphrag")
    printed = home.run(command.replace('"mcp-neo4j-vector-graphrag[demo]"', f'"{SERVER}[demo]"'), tmp_path)
    assert titles(excerpt(DEMO, printed)) == titles(outputs(page)[DEMO])


def test_reset_deletes_the_database(served: DemoServer, home: DemoHome):
    served.opened.close()
    assert home.files("neo4j.conf")
    home.run("uv run mcp-neo4j-vector-graphrag demo --reset")
    assert not home.files("neo4j.conf")
