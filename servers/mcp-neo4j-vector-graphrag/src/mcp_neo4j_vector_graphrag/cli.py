"""The command line: parse, build, run."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NoReturn

from mcp_neo4j_vector_graphrag import logs
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError
from mcp_neo4j_vector_graphrag.settings import load, options

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "mcp-neo4j-vector-graphrag"

_FRAMEWORK = {
    "FASTMCP_ENV_FILE": os.devnull,  # it would read a stray .env, and a bad value there ends it
    "FASTMCP_LOG_ENABLED": "false",  # our handler takes its records, without secrets
    "FASTMCP_CHECK_FOR_UPDATES": "off",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status: 0, or 2 when the settings or the demo don't work."""
    flags = vars(_parser().parse_args(arguments))
    command = flags.pop("command")
    try:
        return command(flags) if command else _serve(flags)
    except GraphRAGError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)  # noqa: T201 - the one line that a client's log shows
        return 2
    except KeyboardInterrupt:
        return 130


def _serve(flags: dict[str, Any]) -> int:
    settings = load(flags)
    secrets = frozenset({settings.password.get_secret_value()} if settings.password else ())
    logs.configure(settings.log_level, secrets)
    os.environ.update(_FRAMEWORK)
    from mcp_neo4j_vector_graphrag import server  # noqa: PLC0415 - 1 s, which --help and a bad setting need not wait for

    server.run(settings)
    return 0


def _demo(flags: dict[str, Any]) -> int:
    question, config, reset = (flags.pop(name) for name in ("question", "config", "reset"))
    if given := [option.flag for option in options() if flags.get(option.field) is not None]:
        raise SetupError(f"demo takes no flag of the server's: leave {', '.join(given)} out.")
    logs.configure("WARNING")
    try:
        from mcp_neo4j_vector_graphrag import demo_command  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        raise SetupError(f"The demo needs the package {error.name}: install {PROGRAM}[demo].") from error

    return demo_command.run(question, config=config, reset=reset)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint about an unknown flag names the known ones."""

    def error(self, message: str) -> NoReturn:
        """Print the complaint and exit with 2."""
        if "unrecognized arguments" in message:
            flags = ", ".join(option.flag for option in options())
            message = f"{message}; the flags are {flags}"
        self.exit(2, f"{self.prog}: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        allow_abbrev=False,
        description="Serve GraphRAG search over a Neo4j graph as MCP tools. Each flag has an environment variable.",
    )
    parser.add_argument("--version", action="version", version=version(PROGRAM))
    parser.set_defaults(command=None)
    for option in options():
        text = f"{option.description} [{', '.join(option.variables)}]"
        if option.is_switch:
            parser.add_argument(option.flag, dest=option.field, action="store_const", const=True, help=text)
        else:
            parser.add_argument(option.flag, dest=option.field, metavar="VALUE", help=text)
    demo = parser.add_subparsers(title="commands").add_parser(
        "demo", help="search a demo graph on a Neo4j of its own", allow_abbrev=False
    )
    demo.add_argument("question", nargs="?", help="what to search for; without one, the database runs until Ctrl-C")
    demo.add_argument("--config", action="store_true", help="print the entry for an MCP client")
    demo.add_argument("--reset", action="store_true", help="delete the demo's database and start over")
    demo.set_defaults(command=_demo)
    return parser
