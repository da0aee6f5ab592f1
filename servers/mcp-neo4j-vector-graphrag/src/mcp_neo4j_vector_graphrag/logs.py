"""Logging: to standard error, and never with a secret in it."""

from __future__ import annotations

import logging
import os
import re
import sys

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)(_ID)?$", re.IGNORECASE)
_USER_INFO = re.compile(r"(\w+://)[^@\s]+@")
_SHORTEST_SECRET = 4
"""A shorter one is no secret, and blanking it out would make every log line unreadable."""


class Redacting(logging.Formatter):
    """Formats records with every secret of this process blanked out, in their tracebacks as well.

    Args:
        secrets: Secret values; those in the environment are known by the names of their variables.
    """

    def __init__(self, secrets: frozenset[str] = frozenset()) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        named = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
        self._secrets = sorted(
            (secret for secret in named | secrets if len(secret) >= _SHORTEST_SECRET), key=len, reverse=True
        )

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text, its traceback included, without secrets."""
        text = _USER_INFO.sub(r"\1***@", super().format(record))
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def configure(level: str, secrets: frozenset[str] = frozenset()) -> None:
    """Send every logger's records to standard error; stdout belongs to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Redacting(secrets))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("httpx", "httpx2", "httpcore", "neo4j", "openai", "filelock"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLevelName(level)))
