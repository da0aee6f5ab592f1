"""What is shipped: the wheel, the command through `uvx`, and files that fit any machine."""

from __future__ import annotations

import re
import subprocess
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from jgo.constants import MAVEN_CENTRAL_URL
from packaging.requirements import Requirement

from clients import COMMAND, environment

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "servers" / "mcp-neo4j-vector-graphrag"
SOURCE = SERVER / "src"
NAME = "mcp-neo4j-vector-graphrag"

PROJECT = tomllib.loads((SERVER / "pyproject.toml").read_text("utf-8"))["project"]
REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
]

DATA_FILES = {
    "declared/retrievers.schema.json",
    "local/graph/movies.toml",
    "local/graph/ratings.csv",
    "local/neo4j/neo4j-2026.09.0.classes.gz",
    "local/neo4j/neo4j-2026.09.0.jars",
    "local/neo4j/neo4j.conf",
    "py.typed",
}

REGISTRIES = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|repo1?\.maven\.(?:apache\.)?org|central\.sonatype\.com)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.>})])(?:/(?:home|Users)/\w|/roo[t]/|[A-Z]:\\Users\\)")


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(**variables),
        check=False,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def project_files() -> dict[str, str]:
    """Return the text of each file that a commit holds or would hold, by its path."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8", "replace") for path in paths if path.is_file()}


def registry_hosts() -> set[str]:
    """Return the hosts that packages and artifacts come from on this machine."""
    lock = ROOT / "uv.lock"
    addresses = re.findall(r'(?:registry|url) = "([^"]+)"', lock.read_text("utf-8")) if lock.is_file() else []
    return {host for address in (*addresses, MAVEN_CENTRAL_URL) if (host := urlsplit(address).hostname)}


@pytest.mark.timeout(60)
def test_uvx_runs_the_command_from_the_folder_of_the_server(tmp_path: Path):
    done = run(["uvx", "--refresh-package", NAME, "--from", str(SERVER), NAME, "--version"], tmp_path)
    assert done.stdout == f"{PROJECT['version']}\n", done.stderr


@pytest.mark.timeout(120)
def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path):
    done = run(["uv", "build", "--wheel", "--out-dir", str(tmp_path), str(SERVER)], tmp_path)
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = SOURCE / NAME.replace("-", "_")
    assert {f"{package.name}/{name}" for name in DATA_FILES} <= packed
    assert {str(path.relative_to(ROOT)) for path in map(SOURCE.joinpath, packed)} == {
        name for name in project_files() if (ROOT / name).is_relative_to(package)
    }


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_each_dependency_has_an_upper_bound(requirement: str):
    operators = {specifier.operator for specifier in Requirement(requirement).specifier}
    assert operators & {"<", "<=", "==", "~="}


def test_no_file_names_the_host_of_a_registry():
    hosts = registry_hosts()
    found = {
        path: named
        for path, text in project_files().items()
        if (named := REGISTRIES.findall(text) + [host for host in hosts if host in text])
    }
    assert found == {}


def test_no_file_names_a_path_of_a_machine():
    here = "|".join(re.escape(f"{folder}/") for folder in (ROOT, Path.home()) if len(folder.parts) > 1)
    patterns = [MACHINE_PATHS, *([re.compile(rf"(?<![\w.>}})])(?:{here})")] if here else [])]
    found = {
        path: named
        for path, text in project_files().items()
        if (named := [path for pattern in patterns for path in pattern.findall(text)])
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("cd /home" + "/zoe/repo", True),
        ("C:" + r"\Users\Zoe", True),
        ("<repo>/servers", False),
        ('tmp_path / "home"', False),
        ("${HOME}/home/x", False),
    ],
)
def test_a_path_of_a_machine_is_told_from_others(text: str, is_one: bool):  # noqa: FBT001 - a table's column
    assert bool(MACHINE_PATHS.search(text)) is is_one


def test_the_demo_and_a_database_of_the_users_own_are_refused_together(tmp_path: Path):
    done = run([COMMAND, "--demo"], tmp_path, NEO4J_URI="bolt://127.0.0.1:1")
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert "NEO4J_MCP_DEMO (--demo)" in line
    assert "NEO4J_URI" in line
