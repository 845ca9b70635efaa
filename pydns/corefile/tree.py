"""The tokens of one plugin to a `Line` with its sub-lines.

Duty: which words belong to a line and which lines to a pair of braces.  Rules:

* ``{`` ends the words of its line.
* ``}`` closes braces at the start of a line and, as the last of its plugin, at the end of one: CoreDNS takes
  ``forward . 1.1.1.1 { max_fails 3 }``, though other plugins refuse the same.  Anywhere else it is a word.
* What stands behind the closing brace, or below a plugin without braces, is taken as the plugin's name once more, line
  by line (``for c.Next()`` in CoreDNS's setup functions): most plugins refuse it, to some it means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydns.corefile.lexer import Token
from pydns.corefile.line import CorefileError, Line, located_warning

MAX_DEPTH = 50
"""CoreDNS has no plugin with more than two levels of braces."""
_BRACE_HINT = "an opening brace stands on the line of its plugin"


def build_lines(tokens: Sequence[Token], plugin: str, warnings: list[str]) -> list[Line]:
    """The line that ``tokens`` (at least one) make, and the lines that surplus tokens are taken for."""
    tree = _Tree(tokens, plugin, warnings)
    lines = [tree.line(0)]
    if tree.at < len(tokens):
        surplus = tokens[tree.at]
        hint = _BRACE_HINT if surplus.text == "{" else ""
        message = f"'{surplus.text}' is taken as another '{plugin}'" + (f" ({hint})" if hint else "")
        warnings.append(located_warning(message, surplus.file, surplus.line, plugin))
        while tree.at < len(tokens):
            lines.append(replace(tree.line(0), name=plugin, hint=hint))
    return lines


class _Tree:
    def __init__(self, tokens: Sequence[Token], plugin: str, warnings: list[str]) -> None:
        self.tokens = tokens
        self.plugin = plugin
        self.warnings = warnings
        self.at = 0
        self.closing = len(tokens)  # where only closing braces follow
        while self.closing and tokens[self.closing - 1].text == "}":
            self.closing -= 1

    def line(self, depth: int) -> Line:
        first = self._take()
        args: list[str] = []
        while self._word_follows() and self.tokens[self.at].text != "{" and not (depth and self.at >= self.closing):
            args.append(self._take().text)
        block = None
        if depth and first.text == "{":  # a brace on a line of its own: a property of that name, which nobody knows
            block = self._block(depth, first)
        elif self._word_follows() and self.tokens[self.at].text == "{":
            block = self._block(depth, self._take())
        return Line(first.text, tuple(args), first.file, first.line, block, self.plugin, warnings=self.warnings)

    def _block(self, depth: int, brace: Token) -> tuple[Line, ...]:
        if depth >= MAX_DEPTH:
            raise CorefileError(f"more than {MAX_DEPTH} levels of braces", brace.file, brace.line, plugin=self.plugin)
        lines: list[Line] = []
        while self.at < len(self.tokens):
            if self.tokens[self.at].text == "}":
                self._close(bool(lines))
                break
            lines.append(self.line(depth + 1))
        return tuple(lines)

    def _close(self, after_words: bool) -> None:
        brace = self._take()
        if after_words and brace.follows(self.tokens[self.at - 2]):
            text = "a '}' at the end of a line: many plugins of CoreDNS want it on a line of its own"
            self.warnings.append(located_warning(text, brace.file, brace.line, self.plugin))

    def _take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def _word_follows(self) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].follows(self.tokens[self.at - 1])
