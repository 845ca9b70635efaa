"""Files and globs that a Corefile imports.

Duty: the tokens of all files that a pattern names, with CoreDNS's rules: relative to the importing file, at most one
``*`` and one ``?``, no ``[``; hidden files match.  It knows neither snippets nor where the tokens go.
"""

from __future__ import annotations

import glob
import os

from pydns.corefile.lexer import Token, tokenize


class NoMatch(ValueError):
    """A glob that matches no file."""


def import_files(pattern: str, importer: str) -> list[Token]:
    """Tokens of the files that ``pattern`` names for the file ``importer``; raises `NoMatch` or ValueError."""
    full = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(importer)), pattern))
    if full.count("*") > 1 or full.count("?") > 1 or ("[" in full and "]" in full):
        raise ValueError(f"Glob pattern may only contain one wildcard (*), but has others: {full}")
    if "[" in full:
        raise ValueError(f"Failed to use import pattern {pattern}: syntax error in pattern")
    found = sorted(glob.glob(full, include_hidden=True))
    if not found and any(char in full for char in "*?[]"):
        raise NoMatch(f"No files matching import glob pattern: {pattern}")
    if not found:
        raise ValueError(f"File to import not found: {pattern}")
    return [token for path in found for token in _file_tokens(path)]


def _file_tokens(path: str) -> list[Token]:
    if os.path.isdir(path):
        raise ValueError(f"Could not import {path}: is a directory")
    try:
        return tokenize(read_text(path), path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ValueError(f"Could not import {path}: open {path}: {reason}") from None


def read_text(path: str) -> str:
    """The file as text; bytes that are not UTF-8 become U+FFFD, line ends stay; raises OSError."""
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        return file.read()
