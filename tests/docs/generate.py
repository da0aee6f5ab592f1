"""Renew what is generated: parts of the READMEs, and the schema of the file of retrievers.

    <!-- file: examples/python_api.py -->                  the file, as a code block
    <!-- options -->                                       the table of options
    <!-- output of: uv run mcp-neo4j-vector-graphrag … --> the command with its output, as a console block

Each part ends at `<!-- end -->`. `uv run python tests/docs/generate.py` writes them, and runs the commands for it; the
schema alone is written by `uv run python -m mcp_neo4j_vector_graphrag.declared.schema`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.declared.schema import SCHEMA_FILE, schema_text
from mcp_neo4j_vector_graphrag.settings import options

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_neo4j_vector_graphrag.settings import Option

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "servers" / "mcp-neo4j-vector-graphrag"
PAGES = (ROOT / "README.md", SERVER / "README.md")

SHOWN_RESULTS = 2
"""How many results of a command stand on the page."""

_PART = re.compile(
    r"^<!-- (?P<kind>file|options|output of)(?:: (?P<subject>[^\n]+))? -->\n(?P<body>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)
_LANGUAGES = {".cypher": "cypher", ".json": "json", ".py": "python", ".toml": "toml"}


def render(page: str, output_of: Callable[[str], str] | None = None) -> str:
    """Return a page with its generated parts renewed.

    Args:
        page: Its present text.
        output_of: Runs a command and returns its output; without it, the outputs stay as they are.
    """

    def part(found: re.Match[str]) -> str:
        kind, subject, body = found["kind"], found["subject"], found["body"]
        if kind == "file":
            body = code_block(ROOT / subject)
        elif kind == "options":
            body = options_table(options())
        elif output_of:
            body = console_block(subject, output_of(subject))
        mark = f"{kind}: {subject}" if subject else kind
        return f"<!-- {mark} -->\n{body}<!-- end -->"

    return _PART.sub(part, page)


def code_block(file: Path) -> str:
    """Return a file as a code block in its language."""
    return f"```{_LANGUAGES[file.suffix]}\n{file.read_text('utf-8').rstrip()}\n```\n"


def options_table(all_options: list[Option]) -> str:
    """Return the table of options in Markdown."""
    rows = [("Variable", "Flag", "Default", "What it does"), ("---", "---", "---", "---")]
    for option in all_options:
        variables = ", ".join(f"`{name}`" for name in option.variables)
        default = f"`{option.default}`" if option.default else ""
        rows.append((variables, f"`{option.flag}`", default, option.description.replace("|", "\\|")))
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


def console_block(command: str, output: str) -> str:
    """Return a command with the first results of its output as a console block."""
    return f"```console\n$ {command}\n{first_results(output)}\n```\n"


def first_results(output: str) -> str:
    """Return the first results of a search's output, and `…` for the rest."""
    results = output.strip().split("\n\n")
    return "\n\n".join([*results[:SHOWN_RESULTS], *(["…"] if len(results) > SHOWN_RESULTS else [])])


def outputs(page: str) -> dict[str, str]:
    """Return what a page says that its commands print, by command."""
    return {
        found["subject"]: found["body"].removeprefix(f"```console\n$ {found['subject']}\n").removesuffix("\n```\n")
        for found in _PART.finditer(page)
        if found["kind"] == "output of"
    }


def commands(page: str) -> list[str]:
    """Return the commands of a page's console blocks."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def main() -> None:
    """Write the schema and the pages anew."""
    SCHEMA_FILE.write_text(schema_text(), "utf-8")
    for path in PAGES:
        path.write_text(render(path.read_text("utf-8"), _output_of), "utf-8")


def _output_of(command: str) -> str:
    done = subprocess.run(shlex.split(command), cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return done.stdout


if __name__ == "__main__":
    main()
