"""Retrievers from `package.module:factory`, with modules written for each test."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

import neo4j
import pytest

from graphs import unique
from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.own import SINGLE_NAME, load_retrievers
from mcp_neo4j_vector_graphrag.tools.configured import VECTOR_NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Write = Callable[[str], str]

SECRET = "sk-0wn-s3cr3t-4711"

RETRIEVER = """
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult

class Own(Retriever):
    VERIFY_NEO4J_VERSION = False
    def __init__(self, driver=None, database=None):
        self.driver, self.database = driver, database
    def get_search_results(self, query_text):
        return RawSearchResult(records=[])
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return what writes a module into the current folder, and returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    before = set(sys.modules)

    def written(source: str) -> str:
        name = unique("own_module_")
        (tmp_path / f"{name}.py").write_text(RETRIEVER + textwrap.dedent(source), "utf-8")
        return name

    yield written
    for name in set(sys.modules) - before:
        if name.startswith("own_module_"):
            del sys.modules[name]


@pytest.fixture
def database():
    opened = Database(neo4j.GraphDatabase.driver("bolt://127.0.0.1:1"), "graph")
    yield opened
    opened.close()


def test_a_factory_without_parameters_makes_one_retriever(write: Write):
    module = write("def make(): return Own()")
    retrievers = load_retrievers(f"{module}:make")
    assert list(retrievers) == [VECTOR_NAME] == [SINGLE_NAME]
    assert type(retrievers[VECTOR_NAME]).__name__ == "Own"


def test_a_factory_makes_several_by_name(write: Write):
    module = write("def make(): return {'plots': Own(), 'people': Own()}")
    assert list(load_retrievers(f"{module}:make")) == ["plots", "people"]


def test_a_package_beside_the_server_is_found(write: Write, tmp_path: Path):
    module = write("class Makers:\n    @staticmethod\n    def make(): return Own()")
    package = unique("own_module_")
    (tmp_path / package).mkdir()
    (tmp_path / f"{module}.py").rename(tmp_path / package / "inner.py")
    assert list(load_retrievers(f"{package}.inner:Makers.make")) == [SINGLE_NAME]


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("def make(driver, database): return Own(driver, database)", (True, "graph")),
        ("def make(*, driver): return Own(driver)", (True, None)),
        ("def make(database='x', size=3): return Own(None, database)", (False, "graph")),
        ("def make(*args, **kwargs): return Own(None, str(args) + str(kwargs))", (False, "(){}")),
        ("make = Own", (True, "graph")),
    ],
)
def test_a_factory_is_given_as_much_of_the_connection_as_it_asks_for(
    write: Write, database: Database, source: str, given: tuple[bool, str | None]
):
    [own] = load_retrievers(f"{write(source)}:make", lambda: database).values()
    assert (own.driver is database.driver, own.database) == given


def test_a_factory_that_does_not_ask_for_the_connection_makes_none(write: Write):
    def none() -> Database:
        raise AssertionError("A connection was made.")

    assert load_retrievers(f"{write('def make(): return Own()')}:make", none)


@pytest.mark.parametrize("target", ["", "module", "module:", ":make", "a/b.py:make", "a.b", "a:b:c", "a..b:c", "1:b"])
def test_a_malformed_target_is_one_line(target: str):
    with pytest.raises(SetupError) as caught:
        load_retrievers(target)
    assert str(caught.value) == (
        f"--retriever '{target}' has not the form package.module:factory, such as my_retrievers:make."
    )


@pytest.mark.usefixtures("write")
def test_a_module_that_is_not_there_is_told():
    for target in ("no_such_module_4711:make", "json.no_such:make"):
        module = target.partition(":")[0]
        with pytest.raises(SetupError, match=f"'{target}': there is no module {module} in the current folder"):
            load_retrievers(target)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import no_such_module_4711", "the module can't be imported: ModuleNotFoundError: No module named 'no_such"),
        ("1 / 0", "the module can't be imported: ZeroDivisionError: division by zero"),
        ("def make(:", "the module can't be imported: SyntaxError"),
        ("import sys; sys.exit(3)", "the module can't be imported: SystemExit: 3"),
        ("", "has no attribute make."),
        ("make = 7", "make is a int, not a function to call."),
        ("def make(): raise ValueError('line one\\nline two')", "the factory failed: ValueError: line one"),
        ("def make(): raise KeyError", "the factory failed: KeyError."),
        ("def make(): raise SystemExit(2)", "the factory failed: SystemExit: 2"),
        ("def make(): return None", "the factory returned NoneType for 'neo4j_vector': return a retriever"),
        ("def make(): return {'a': Own(), 'b': 'shark'}", "the factory returned str for 'b': return a retriever"),
        ("def make(): return {7: Own()}", "the factory returned Own for '7': return a retriever"),
        ("def make(): return Own", "the factory returned the class Own for"),
        ("def make(): return {}", "the factory returned no retriever: the mapping is empty."),
        ("async def make(): return Own()", "the factory is a coroutine function: write it without async."),
        ("def make(model, driver=None): return Own()", "the factory asks for model: it can be given driver and"),
        ("def make(driver): return Own()", "the factory asks for driver: set NEO4J_URI."),
        (
            f"def make(): raise ValueError('bolt://neo4j:{SECRET}@db refused {SECRET}')",
            "the factory failed: ValueError: bolt://***@db refused ***",
        ),
        (
            "import neo4j\ndef make(): raise neo4j.exceptions.ServiceUnavailable('bolt://neo4j:hunter2@db')",
            "the factory failed: Neo4j can't be reached",
        ),
    ],
)
def test_whatever_fails_is_one_line_that_names_the_target(
    write: Write, monkeypatch: pytest.MonkeyPatch, source: str, told: str
):
    monkeypatch.setenv("OWN_API_KEY", SECRET)
    module = write(source)
    with pytest.raises((SetupError, UnavailableError)) as caught:
        load_retrievers(f"{module}:make")
    assert isinstance(caught.value, UnavailableError) == ("reached" in told)
    text = str(caught.value)
    assert text.startswith(f"--retriever '{module}:make': ")
    assert told in text
    assert "\n" not in text
    assert "line two" not in text
    assert SECRET not in text
    assert "hunter2" not in text


def test_a_stray_file_hides_no_installed_package(write: Write, tmp_path: Path):
    (tmp_path / "neo4j_graphrag").mkdir()
    (tmp_path / "neo4j_graphrag" / "__init__.py").write_text("raise AssertionError")
    (tmp_path / "colorsys.py").write_text("raise AssertionError")
    sys.modules.pop("colorsys", None)
    assert load_retrievers(
        f"{write('import colorsys, neo4j_graphrag' + chr(10) + 'make = Own')}:make", lambda: Database(None)
    )  # type: ignore[arg-type] # unused
