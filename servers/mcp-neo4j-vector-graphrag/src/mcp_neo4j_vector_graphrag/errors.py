"""The faults that a caller can be told of, sorted by who must act. No framework in here.

Every text is one line that says the next step and holds no secret, so a model or an operator may read it as it is.
Whatever else is raised is a fault of this server's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_LISTED_NAMES = 20


class GraphRAGError(Exception):
    """Base of all faults with a text for the caller."""


class QuestionError(GraphRAGError):
    """The caller can do better: another question, another argument."""


class SetupError(GraphRAGError):
    """The operator must change a setting, the database or the installation."""


class MissingIndexError(SetupError):
    """The index that was asked for is not there, or is no vector index."""


class OwnRetrieverError(SetupError):
    """A retriever that is not this project's failed in a way of its own."""


class UnavailableError(GraphRAGError):
    """Something can't be reached, is still starting or took too long: the same call may work later."""


def sendable(text: str) -> str:
    """Return a text as it can be sent: half a character, which JSON can hold, becomes a question mark."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(text: str, limit: int = 300) -> str:
    """Return the text on one line, cut to `limit` characters."""
    line = " ".join(sendable(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def listed(names: Collection[str], limit: int | None = None) -> str:
    """Return the first names in quotes and how many more there are.

    Args:
        names: In the order in which they are told.
        limit: Puts each on one line of so many characters; without it they stay as they are.
    """
    shown = [name if limit is None else one_line(name, limit) for name in list(names)[:_LISTED_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(f"'{name}'" for name in shown) + (f" and {more} more" if more else "")
