"""What counts as not set among an operator's values. No framework in here."""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


def is_blank(value: object) -> bool:
    """Whether a value says nothing: none, a blank text, or a placeholder that a client hands over unexpanded."""
    if not isinstance(value, str):
        return value is None
    return not value.strip() or bool(_PLACEHOLDER.fullmatch(value.strip()))
