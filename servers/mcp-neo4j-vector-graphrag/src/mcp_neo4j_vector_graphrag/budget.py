"""How much of a model's context a text takes, and how to keep one within a limit."""

from __future__ import annotations

BYTES_A_TOKEN = 4
"""Of UTF-8: about what models make of English; of other languages they make more tokens."""

_MARK = " …"


def tokens(text: str) -> int:
    """Return about how many tokens a model reads in a text: one for four bytes of UTF-8."""
    return -(-bytes_of(text) // BYTES_A_TOKEN)


def bytes_of(text: str) -> int:
    """Return the length of a text in bytes of UTF-8."""
    return len(text.encode(errors="replace"))


def cut(text: str, size: int) -> str:
    """Return a text of at most `size` bytes of UTF-8: a longer one ends after a whole word, with a mark."""
    if bytes_of(text) <= size:
        return text
    encoded = text.encode(errors="replace")
    kept = encoded[: max(size - bytes_of(_MARK), 0)].decode(errors="ignore")
    head = encoded.decode()[: len(kept) + 1]  # the character after it tells whether the last word is whole
    whole = head[: max(map(head.rfind, " \n\t"))].rstrip()
    return (whole if len(whole) > len(kept) // 2 else kept) + _MARK
