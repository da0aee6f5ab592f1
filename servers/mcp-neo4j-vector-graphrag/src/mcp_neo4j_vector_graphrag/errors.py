"""The faults that a caller can be told of, sorted by who must act. No framework in here.

Every text is one line that says the next step and holds no secret, so a model or an operator may read it as it is.
Whatever else is raised is a fault of this server's own.
"""

from __future__ import annotations


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
