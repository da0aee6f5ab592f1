"""The command line: parse, build, run."""

from __future__ import annotations

import argparse
import os
import sys
from difflib import get_close_matches
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from mcp_neo4j_vector_graphrag import logs
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, SetupError
from mcp_neo4j_vector_graphrag.settings import load, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_neo4j_vector_graphrag.settings import Settings

PROGRAM = "mcp-neo4j-vector-graphrag"

_FRAMEWORK = {
    "FASTMCP_ENV_FILE": os.devnull,  # it would read a stray .env, and a bad value there ends it
    "FASTMCP_LOG_ENABLED": "false",  # our handler takes its records, without secrets
    "FASTMCP_CHECK_FOR_UPDATES": "off",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    That is 0; 2 when something must be put right or is not there: a setting, the demo, or, with `--require-index` and
    the command `tools`, the database; 130 after Ctrl-C; 141 when nobody reads the output any more.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        match given[:1]:
            case ["demo"]:
                return _demo(_demo_parser().parse_args(given[1:]))
            case ["tools"]:
                return _tools(given[1:])
        return _serve(given)
    except GraphRAGError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)  # noqa: T201 - the one line that a client's log shows
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # who reads the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _serve(arguments: list[str]) -> int:
    settings = _settings(arguments, PROGRAM)
    from mcp_neo4j_vector_graphrag import server  # noqa: PLC0415 - 1 s, which --help and a bad setting need not wait for

    server.run(settings)
    return 0


def _tools(arguments: list[str]) -> int:
    settings = _settings(arguments, f"{PROGRAM} tools")
    from mcp_neo4j_vector_graphrag import tools_command  # noqa: PLC0415 - as above

    return tools_command.run(settings)


def _settings(arguments: list[str], program: str) -> Settings:
    settings = load(vars(_server_parser(program).parse_args(_with_hidden_tools(arguments))))
    logs.configure(settings.log_level, settings.secrets)
    os.environ.update(_FRAMEWORK)
    return settings


def _demo(chosen: argparse.Namespace) -> int:
    logs.configure("WARNING")
    try:
        from mcp_neo4j_vector_graphrag import demo_command  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        raise SetupError(f"The demo needs the package {error.name}: install {PROGRAM}[demo].") from error

    return demo_command.run(chosen.question, config=chosen.config, reset=chosen.reset)


def _with_hidden_tools(arguments: list[str]) -> list[str]:
    """Return the arguments with `--tools -name` in one, which argparse would take for two flags."""
    for place, (flag, value) in enumerate(pairwise(arguments)):
        if flag == "--tools" and value.startswith("-") and not value.startswith("--"):
            return [*arguments[:place], f"{flag}={value}", *arguments[place + 2 :]]
    return arguments


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint about an unknown flag names the known ones, and quotes no value: it may be a secret."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override] # noqa: ANN401
        """Return the flags' values by name, or complain and exit with 2."""
        chosen, rest = self.parse_known_args(args, namespace)
        if rest:
            unknown = [argument.partition("=")[0] for argument in rest if argument.startswith("-")]
            flags = [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]
            near = [match for flag in unknown for match in get_close_matches(flag, flags, 1)]
            meant = f" (did you mean {', '.join(near)}?)" if near else ""
            what = f"unknown: {', '.join(unknown)}{meant}" if unknown else f"'{PROGRAM} {rest[0]}' is no command"
            self.error(f"{what}; the commands are demo and tools, the flags are {', '.join(flags)}")
        return chosen

    def error(self, message: str) -> NoReturn:
        """Print the complaint on one line and exit with 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def _server_parser(program: str = PROGRAM) -> _Parser:
    parser = _Parser(
        prog=program,
        usage="%(prog)s [--flag VALUE …]",
        allow_abbrev=False,
        description="Serve GraphRAG search over a Neo4j graph as MCP tools. Each flag has an environment variable.",
        epilog=(
            f"{PROGRAM} demo --help: search a demo graph on a Neo4j of its own. "
            f"{PROGRAM} tools [--flag VALUE …]: print what a model would see with these settings."
        ),
    )
    parser.add_argument("--version", action="version", version=version(PROGRAM))
    for option in options():
        text = f"{option.description} [{', '.join(option.variables)}]"
        if option.is_switch:
            parser.add_argument(option.flag, dest=option.field, action="store_const", const=True, help=text)
        else:
            parser.add_argument(option.flag, dest=option.field, metavar="VALUE", help=text)
    return parser


def _demo_parser() -> _Parser:
    parser = _Parser(
        prog=f"{PROGRAM} demo", allow_abbrev=False, description="Search a demo graph on a Neo4j of its own."
    )
    parser.add_argument("question", nargs="?", help="what to search for; without one, the database runs until Ctrl-C")
    parser.add_argument("--config", action="store_true", help="print the entry for an MCP client")
    parser.add_argument("--reset", action="store_true", help="delete the demo's database and start over")
    return parser
