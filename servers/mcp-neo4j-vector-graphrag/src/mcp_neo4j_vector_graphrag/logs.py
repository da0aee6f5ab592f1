"""Logging: to standard error, and never with a secret in it."""

from __future__ import annotations

import logging
import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)(_ID)?$", re.IGNORECASE)
_USER_INFO = re.compile(r"://[^@\s]{1,512}@")
"""Bounded, so that a long word takes no longer than its length."""
_SHORTEST_SECRET = 4
"""A shorter one is no secret, and blanking it out would make every log line unreadable."""


def blank_out(text: str, secrets: Iterable[str]) -> str:
    """Return a text without the secrets in it, bare of the blanks around them too, the longest first."""
    forms = {form for secret in secrets for form in (secret, secret.strip()) if len(form) >= _SHORTEST_SECRET}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, "***")
    return text


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without user names and passwords in URLs, and without this process's secrets.

    Args:
        text: Any.
        secrets: Secret values; those in the environment are known by the names of their variables.
    """
    named = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return blank_out(_USER_INFO.sub("://***@", text), named.union(secrets))


class Redacting(logging.Formatter):
    """Formats records with every secret of this process blanked out, in their tracebacks as well.

    Args:
        secrets: Secret values; those in the environment are known by the names of their variables.
    """

    def __init__(self, secrets: frozenset[str] = frozenset()) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text, its traceback included, without secrets."""
        return without_secrets(super().format(record), self._secrets)


def configure(level: str, secrets: frozenset[str] = frozenset()) -> None:
    """Send every logger's records to standard error; stdout belongs to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Redacting(secrets))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("httpx", "httpx2", "httpcore", "neo4j", "openai", "filelock"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLevelName(level)))
