"""Corefile text to tokens.

Duty: words, quotes, comments and line numbers exactly as CoreDNS's Caddyfile lexer sees them, oddities included:
a quote opens only at the start of a token; ``\\"`` is the only escape; a comment that begins inside a token ends at the
next blank; a carriage return outside quotes vanishes.  It knows neither braces nor imports nor variables.
"""

from __future__ import annotations

from typing import NamedTuple

BYTE_ORDER_MARK = "\ufeff"
_BLANKS = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | set(map(chr, range(0x2000, 0x200B)))
"""Unicode White_Space, as in Go's unicode.IsSpace; Python's str.isspace also takes U+001C to U+001F."""


class Token(NamedTuple):
    """A word with the file and line (from 1) it starts on."""

    text: str
    file: str
    line: int

    @property
    def last_line(self) -> int:
        """A quoted token may go over several lines."""
        return self.line + self.text.count("\n")

    def follows(self, before: Token) -> bool:
        """Whether it stands on the line on which ``before`` ends."""
        return self.file == before.file and self.line == before.last_line

    def opens_line(self, before: Token) -> bool:
        """Whether it stands on a later line than ``before`` or in another file.

        Neither this nor `follows` holds for a token of a snippet that stands higher up in the file.
        """
        return self.file != before.file or self.line > before.last_line


def tokenize(text: str, file: str) -> list[Token]:
    """All tokens of ``text``; there is no malformed text."""
    lexer = _Lexer(text.removeprefix(BYTE_ORDER_MARK), file)
    tokens = []
    while token := lexer.next():
        tokens.append(token)
    return tokens


class _Lexer:
    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.at = 0
        self.line = 1

    def next(self) -> Token | None:
        self._skip_blanks_and_comments()
        if self.at >= len(self.text):
            return None
        line = self.line
        if self.text[self.at] == '"':
            word = self._quoted()
            return None if word is None else Token(word, self.file, line)
        return Token(self._plain(), self.file, line)

    def _skip_blanks_and_comments(self) -> None:
        comment = False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\n":
                self.line += 1
                comment = False
            elif char == "#":
                comment = True
            elif not comment and char not in _BLANKS:
                return
            self.at += 1

    def _plain(self) -> str:
        """The word up to a blank, less what follows a ``#`` in it."""
        start = self.at
        while self.at < len(self.text) and (self.text[self.at] not in _BLANKS or self.text[self.at] == "\r"):
            self.at += 1
        return self.text[start : self.at].replace("\r", "").partition("#")[0]

    def _quoted(self) -> str | None:
        """The text between quotes; without a closing one what there is, and None for nothing at all."""
        word: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return "".join(word)
            if char == "\\":
                char = self._escape()
            self.line += char.count("\n")
            word.append(char)
        return "".join(word) or None

    def _escape(self) -> str:
        following = self.text[self.at : self.at + 1]
        self.at += 1
        if following == '"':
            return '"'
        return "\\" + following if following else ""
