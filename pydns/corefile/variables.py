"""Environment variables in the words of a Corefile: ``{$NAME}`` and ``{%NAME%}``.

Duty: replace references in one word.  The value never becomes several words; an unset variable is empty; what is not
closed stays as it is.  A value may hold references again.  Where values come from is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable

_MARKS = (("{%", "%}"), ("{$", "}"))
_MAX_ROUNDS = 100
_MAX_LENGTH = 1 << 20


def expand(word: str, value_of: Callable[[str], str]) -> str:
    """``word`` with its references replaced; raises ValueError when a value leads back to itself."""
    for opening, closing in _MARKS:
        word = _expand(word, opening, closing, value_of)
    return word


def _expand(word: str, opening: str, closing: str, value_of: Callable[[str], str]) -> str:
    for _ in range(_MAX_ROUNDS):
        reference = _reference(word, opening, closing)
        if not reference:
            return word
        name = reference[len(opening) : -len(closing)]
        word = word.replace(reference, value_of(name))
        if len(word) > _MAX_LENGTH:
            break
    raise ValueError(f"environment variables refer to one another without end in '{word[:40]}'")


def _reference(word: str, opening: str, closing: str) -> str:
    """The first reference of ``word``; empty when there is none, when it has no end or no name."""
    start = word.find(opening)
    end = word.find(closing, start) if start >= 0 else -1
    return word[start : end + len(closing)] if end > start + len(opening) else ""
