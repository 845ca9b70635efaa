"""The outer shape of case and recording files: directives at the margin, their bodies indented below them.

Knows nothing of what the directives mean.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class CaseError(ValueError):
    """A case file that does not read; the message starts with `FILE:LINE:`. Or a case that is not there."""


@dataclass(frozen=True)
class Block:
    """One directive: the words on its line, and the indented lines below it, dedented."""

    source: str
    line: int
    head: str
    body: tuple[str, ...] = ()

    @property
    def directive(self) -> str:
        """The first word."""
        return self.head.split(maxsplit=1)[0]

    @property
    def rest(self) -> str:
        """What follows the first word."""
        return self.head[len(self.directive) :].strip()

    @property
    def text(self) -> str:
        """The body as one text with a final newline."""
        return "".join(line + "\n" for line in self.body)

    def blocks(self) -> Iterator[Block]:
        """The body read as directives itself."""
        return split_blocks(self.source, self.body, self.line + 1)

    def error(self, message: object) -> CaseError:
        """An error that names this directive's place."""
        return CaseError(f"{self.source}:{self.line}: {message}")


def split_blocks(source: str, lines: Iterable[str], first: int = 1) -> Iterator[Block]:
    """The directives of a text; `#` at the margin starts a comment line."""
    head, number, body = "", 0, list[str]()
    for line, text in enumerate(lines, first):
        if text[:1].isspace() or not text:
            if head:
                body.append(text)
            elif text.strip():
                raise CaseError(f"{source}:{line}: an indented line without a directive above it")
        elif not text.startswith("#"):
            if head:
                yield _block(source, number, head, body)
            head, number, body = text.rstrip(), line, []
    if head:
        yield _block(source, number, head, body)


def _block(source: str, line: int, head: str, body: list[str]) -> Block:
    lines = textwrap.dedent("\n".join(body)).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return Block(source, line, head, tuple(lines))
