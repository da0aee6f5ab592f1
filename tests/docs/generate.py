"""Renew what is generated: parts of the READMEs, and the schema of the file of retrievers.

    <!-- file: examples/python_api.py -->                  the file, as a code block
    <!-- options -->                                       the table of options
    <!-- tools -->                                         the table of tools
    <!-- output of: uv run mcp-neo4j-vector-graphrag … --> the command with its output, as a console block

Each part ends at `<!-- end -->`. `uv run python tests/docs/generate.py` writes them, and runs the commands for it; the
schema alone is written by `uv run python -m mcp_neo4j_vector_graphrag.declared.schema`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.declared.schema import SCHEMA_FILE, schema_text
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.settings import Settings, options
from mcp_neo4j_vector_graphrag.tools.registry import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcp_neo4j_vector_graphrag.settings import Option
    from mcp_neo4j_vector_graphrag.tools.family import Family

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "servers" / "mcp-neo4j-vector-graphrag"
PAGES = (ROOT / "README.md", SERVER / "README.md", ROOT / "examples" / "README.md")

SHOWN_RESULTS = 2
"""How many results of a command stand on the page."""


@dataclass(frozen=True)
class Use:
    """What a tool is good for."""

    text: str
    question: str
    """One that it answers on the demo graph, or for `expand` and `fetch` one that goes on from an answer."""


USES = {
    "neo4j_vector": Use(
        "one index by meaning, and what your query tells of each hit", "Which films are about dreams inside dreams?"
    ),
    "neo4j_hybrid": Use("the same, where questions hold names and rare words too", "Who opens the tiffin?"),
    "declared": Use("searches with queries, filters and arguments of their own", "A film about a shark at a beach?"),
    "own": Use("what only your code can find", "Who played together with Leonardo DiCaprio?"),
    "search_*": Use(
        "a database you barely know: a tool for each vector and full-text index, with its filters",
        "Which films between 1990 and 2010 are about dreams inside dreams?",
    ),
    "vector-search": Use("any vector index, by meaning", "Who is stranded on Mars?"),
    "fulltext-search": Use("any full-text index: names, codes, rare words", "Gotham"),
    "hybrid-search": Use("any vector index with the full-text index on the same label", "The one with Alzheimer's?"),
    "get-schema": Use("what there is, and which tool searches it", "What is in this database?"),
    "expand": Use("going on from the ids of results, without Cypher", "What else did its director make?"),
    "search": Use("clients that demand this pair, under exactly these names", "Which film has a monolith?"),
    "fetch": Use("the whole document of an id", "What is its whole plot?"),
}
"""By tool, or by the family of tools whose names the operator chooses."""

_SITUATIONS = (
    ("index_name",),
    ("index_name", "fulltext_index_name"),
    ("retrievers_file",),
    ("retriever",),
    (),
    ("embedding_provider",),
)
"""What may be set, by the names of the settings."""

_PART = re.compile(
    r"^<!-- (?P<kind>file|options|tools|output of)(?:: (?P<subject>[^\n]+))? -->\n(?P<body>.*?)^<!-- end -->$",
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
        elif kind == "tools":
            body = tools_table(FAMILIES)
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
    rows = [("Variable", "Flag", "Default", "What it does")]
    for option in all_options:
        variables = ", ".join(f"`{name}`" for name in option.variables)
        default = f"`{option.default}`" if option.default else ""
        rows.append((variables, f"`{option.flag}`", default, option.description.replace("|", "\\|")))
    return _table(rows)


def tools_table(families: Iterable[Family]) -> str:
    """Return the table of tools in Markdown: each with its family, when it is seen and what it is good for."""
    rows = [("Tool", "Family", "Seen with", "Good for", "Ask")]
    nothing = Settings.model_construct()
    for family in families:
        for name in family.tools(Sources(nothing, Backend(nothing))) or (f"<name in {family.name}>",):
            use = USES[name] if name in USES else USES[family.name]
            shown = name.replace("*", "<index>").replace(f" in {family.name}", "")
            rows.append((f"`{shown}`", f"`{family.name}`", seen_with(family), use.text, f"*{use.question}*"))
    return _table(rows)


def seen_with(family: Family) -> str:
    """Return the settings with which a model sees a family by itself: those that suffice."""
    variables = {option.field: f"`{option.variables[0]}`" for option in options()}

    def is_seen(*fields: str) -> bool:
        return family.is_default(Settings.model_construct(**dict.fromkeys(fields, "set")))

    seen = [fields for fields in _SITUATIONS if is_seen(*fields)]
    fewest = [fields for fields in seen if not any(set(other) < set(fields) for other in seen)]
    texts = [
        ", ".join(variables[field] for field in fields) + ("" if is_seen(*fields, "index_name") else " alone")
        if fields
        else "none of these"
        for fields in fewest
    ]
    return " or ".join(texts) or f"`NEO4J_MCP_TOOLS={family.name}`"


def _table(rows: list[tuple[str, ...]]) -> str:
    lines = [rows[0], ("---",) * len(rows[0]), *rows[1:]]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


def console_block(command: str, output: str) -> str:
    """Return a command with what is shown of its output as a console block."""
    return f"```console\n$ {command}\n{excerpt(command, output)}\n```\n"


def excerpt(command: str, output: str) -> str:
    """Return what is shown of a command's output."""
    return without_arguments(output) if "mcp-neo4j-vector-graphrag tools" in command else first_results(output)


def without_arguments(output: str) -> str:
    """Return the output of the `tools` command with `…` for the arguments of each tool."""
    return re.sub(r"(?:^  [\w-]+: \{.*\n)+", "  …\n", output, flags=re.MULTILINE).strip()


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
