"""Renew the tested versions in the workspace's `pyproject.toml`: resolve anew, then write down what came out."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "pyproject.toml"
SECTION = re.compile(r"(?<=^constraint-dependencies = \[\n).*?(?=^\]$)", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Resolve without the present versions, and write the new ones."""
    project = PROJECT.read_text("utf-8")
    try:
        PROJECT.write_text(SECTION.sub("", project, count=1), "utf-8")
        subprocess.run(["uv", "lock", "--upgrade", "--quiet"], cwd=ROOT, check=True)  # noqa: S607 - uv is on the path
    except BaseException:
        PROJECT.write_text(project, "utf-8")
        raise
    pins = "".join(f'    "{name}=={version}",\n' for name, version in sorted(resolved().items()))
    PROJECT.write_text(SECTION.sub(lambda _: pins, project, count=1), "utf-8")


def resolved() -> dict[str, str]:
    """Return the version of each package that has only one on all platforms."""
    versions: dict[str, set[str]] = defaultdict(set)
    for package in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]:
        if "registry" in package["source"]:
            versions[package["name"]].add(package["version"])
    return {name: found.pop() for name, found in versions.items() if len(found) == 1}


if __name__ == "__main__":
    main()
