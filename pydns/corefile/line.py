"""Lines of a Corefile and the errors that name them.

Duty: one line as a plugin's options see it (name, arguments, sub-lines between braces) and the wording of
every located error.  It does not know tokens, snippets or plugins.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PARSING = "Error during parsing: "
SYNTAX = "Syntax error: "
INSPECTING = "error inspecting server blocks: "
WRONG_ARGS = "Wrong argument count or unexpected line ending after '{}'"


class CorefileError(ValueError):
    """A Corefile that cannot be used, told in one line as CoreDNS tells it.

    ``hint`` says what would be right (or a near name); it is shown in parentheses at the end.
    ``plugin`` is the plugin whose options are wrong, empty for errors of the grammar itself.  ``line`` is 0 when the
    whole file is meant.  ``further`` are the other errors of the same plugin, behind the first.
    """

    def __init__(
        self, message: str, file: str, line: int, *, hint: str = "", plugin: str = "", kind: str = PARSING
    ) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.hint = hint
        self.plugin = plugin
        self.kind = kind
        self.further: tuple[CorefileError, ...] = ()
        super().__init__(str(self))

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return _located(f"{self.kind}{self.message}{hint}", self.file, self.line, self.plugin)


class Findings:
    """Errors of several parts: all are looked at, then the first error is raised with the others in its ``further``."""

    def __init__(self) -> None:
        self.errors: list[CorefileError] = []

    @contextmanager
    def part(self) -> Iterator[None]:
        """Note an error that is raised inside, and go on behind."""
        try:
            yield
        except CorefileError as error:
            self.errors += [error, *error.further]

    def close(self) -> None:
        """Raise what was found, if anything was."""
        if self.errors:
            first = self.errors[0]
            first.further = tuple(self.errors[1:])
            raise first


@dataclass(frozen=True)
class Line:
    """One line: ``name``, the words after it, and the lines of its braces.

    ``block`` is None without braces and empty for ``{ }``.  ``plugin`` is the plugin the line belongs to (its own
    name for a plugin's first line).  ``hint`` goes into errors without a hint of their own.  ``warnings`` is shared by
    all lines of one Corefile.
    """

    name: str
    args: tuple[str, ...]
    file: str
    line: int
    block: tuple[Line, ...] | None = None
    plugin: str = ""
    hint: str = field(default="", compare=False, repr=False)
    warnings: list[str] = field(default_factory=list, compare=False, repr=False)

    def error(self, message: str, hint: str = "") -> CorefileError:
        """The error to raise for this line: ``plugin/NAME: FILE:LINE - Error during parsing: MESSAGE (HINT)``."""
        return CorefileError(message, self.file, self.line, hint=hint or self.hint, plugin=self.plugin)

    def wrong_args(self, hint: str = "") -> CorefileError:
        """CoreDNS's error for too few or too many words."""
        return self.error(WRONG_ARGS.format(self.args[-1] if self.args else self.name), hint)

    def only_once(self) -> CorefileError:
        """CoreDNS's error for a plugin that stands twice in one server block."""
        return self.error("this plugin can only be used once per Server Block")

    def warn(self, message: str) -> None:
        """Note something that CoreDNS swallows silently; `Corefile.warnings` shows it once."""
        warning = located_warning(message, self.file, self.line, self.plugin)
        if warning not in self.warnings:
            self.warnings.append(warning)


def located_warning(message: str, file: str, line: int, plugin: str = "") -> str:
    """A warning in one line, worded like an error."""
    return _located(f"Warning: {message}", file, line, plugin)


def _located(text: str, file: str, line: int, plugin: str) -> str:
    prefix = f"plugin/{plugin}: " if plugin else ""
    where = f"{file}:{line} - " if line else ""
    return one_line(f"{prefix}{where}{text}")


def one_line(text: str) -> str:
    """``text`` with line ends and other control characters shown as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def near_name(word: str, names: Iterable[str]) -> str:
    """The hint "did you mean 'x'?", or an empty string when no name is near."""
    near = difflib.get_close_matches(word.lower(), list(names), n=1)
    return f"did you mean '{near[0]}'?" if near else ""
