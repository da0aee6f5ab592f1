"""Logging: to standard error, and never with a secret in it."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)(_ID)?$", re.IGNORECASE)
_USER_INFO = re.compile(r"://[^@\s]{1,512}@")
"""Bounded, so that a long word takes no longer than its length."""
_SHORTEST_SECRET = 4
"""A shorter one is no secret, and blanking it out would make every log line unreadable."""

_secrets: set[str] = set()
"""Those of this process beside the environment's."""


def add_secrets(secrets: Iterable[str]) -> None:
    """Have secret values blanked out from now on, wherever they came from."""
    _secrets.update(secrets)


def blank_out(text: str, secrets: Iterable[str]) -> str:
    """Return a text without the secrets in it, bare of the blanks around them too, the longest first."""
    forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST_SECRET}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, "***")
    return text


def _forms(secret: str) -> Iterable[str]:
    """Return a secret as it may stand in a text: as it is, bare of blanks, and as Python, JSON and a URL write it."""
    return (secret, secret.strip(), repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe=""))


def without_secrets(text: str) -> str:
    """Return a text without user names and passwords in URLs, and without this process's secrets.

    Those are what `add_secrets` was told, and those in the environment, which the names of their variables tell.
    """
    named = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return blank_out(_USER_INFO.sub("://***@", text), named | _secrets)


class Redacting(logging.Formatter):
    """Formats records with every secret of this process blanked out, in their tracebacks as well."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text, its traceback included, without secrets."""
        return without_secrets(super().format(record))


def configure(level: str, secrets: frozenset[str] = frozenset()) -> None:
    """Send every logger's records to standard error; stdout belongs to the protocol.

    Args:
        level: The least that is logged.
        secrets: Are blanked out from now on.
    """
    add_secrets(secrets)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Redacting())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("httpx", "httpx2", "httpcore", "neo4j", "openai", "filelock"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLevelName(level)))
    logging.getLogger("neo4j.notifications").setLevel(
        logging.ERROR
    )  # with the whole query; what matters is ours to tell
