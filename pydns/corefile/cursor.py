"""A position in a list of tokens.

Duty: step through tokens by word and by line, and name the place in an error.  It does not know the grammar.
"""

from __future__ import annotations

from pydns.corefile.lexer import Token
from pydns.corefile.line import PARSING, SYNTAX, CorefileError


class Cursor:
    """Starts before the first token.  Behind the last one `current` is an empty word without a line."""

    def __init__(self, tokens: list[Token], file: str) -> None:
        self.tokens = tokens
        self.file = file
        self.at = -1

    @property
    def current(self) -> Token:
        return self.tokens[self.at] if 0 <= self.at < len(self.tokens) else Token("", self.file, 0)

    def advance(self) -> bool:
        """Go to the next token; False, and no move, at the last one."""
        if self.at >= len(self.tokens) - 1:
            return False
        self.at += 1
        return True

    def advance_on_line(self) -> bool:
        """Go to the next token if it stands on the line of the current one."""
        return self.at < len(self.tokens) - 1 and self.tokens[self.at + 1].follows(self.current) and self.advance()

    def on_new_line(self) -> bool:
        """Whether the current token is the first of its line."""
        if self.at < 1:
            return True
        return self.at < len(self.tokens) and self.current.opens_line(self.tokens[self.at - 1])

    def splice(self, tokens: list[Token]) -> None:
        """Put ``tokens`` in the place of the current token and the one before it, and go to the first of them."""
        self.tokens[self.at - 1 : self.at + 1] = tokens
        self.at -= 1

    def error(self, message: str, hint: str = "", kind: str = PARSING) -> CorefileError:
        """An error at the current token."""
        return CorefileError(message, self.current.file, self.current.line, hint=hint, kind=kind)

    def unexpected(self, expected: str) -> CorefileError:
        """The error for another token than ``expected``."""
        return self.error(f"Unexpected token '{self.current.text}', expecting '{expected}'", kind=SYNTAX)
