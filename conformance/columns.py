"""A table's columns, one below the other, for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table with a rule below its head: the first column to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
    return [lines[0], "─" * len(lines[0]), *lines[1:]]
