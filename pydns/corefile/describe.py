"""Options declared once, as the rows of the table on a plugin's page.

Duty: names, words, defaults and help of a declaration in words.  It parses nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from pydns.corefile.options import Declared, Options, declarations


class Row(NamedTuple):
    """One line of the options table of a plugin's page."""

    name: str
    arguments: str
    default: str
    help: str


def rows(options: type[Options]) -> list[Row]:
    """Arguments and properties with their defaults and help, in the order declared."""
    return [_row(declared) for declared in declarations(options).values()]


def _row(declared: Declared) -> Row:
    name = declared.metavar if declared.role == "argument" else declared.name
    words = "" if declared.role == "argument" else declared.words
    help = f"{declared.help} (ignored)".lstrip() if declared.role == "ignored" else declared.help
    return Row(name, words, _shown_default(declared), help)


def _shown_default(declared: Declared) -> str:
    default = declared.default
    if declared.required:
        return "required"
    if default is None or default is False or default == ():
        return ""
    if isinstance(default, Options):
        return _default_words(default)
    if isinstance(default, tuple) and not hasattr(default, "_fields"):
        return " ".join(map(str, default))
    return _written(declared, default)


def _default_words(options: Options) -> str:
    """The words that ``options`` would be written with, for the default column."""
    values = [(d, getattr(options, key)) for key, d in declarations(type(options)).items() if d.role == "argument"]
    return " ".join(_written(declared, value) for declared, value in values if value not in (None, ()))


def _written(declared: Declared, value: object) -> str:
    """A value as a word of a Corefile."""
    is_duration = "DURATION" in (declared.metavar, getattr(declared.convert, "metavar", ""))
    return f"{value:g}s" if is_duration else str(value)
