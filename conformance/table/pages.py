"""Lines of HTTP pages, compared as what they mean: metrics have labels in any order and numbers in any spelling.

Knows the text format of Prometheus; no servers, no cases.
"""

from __future__ import annotations

import re

ANYTHING = "..."

_SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_WHOLE = re.compile(r"(\d+)\.0")


def line_matches(wanted: str, line: str) -> bool:
    """Whether a page's line is the wanted one, in which `...` stands for anything."""
    return matches(canonical(wanted), canonical(line))


def matches(wanted: str, text: str) -> bool:
    """Whether the whole text is as wanted; `...` stands for anything."""
    return re.fullmatch(pattern(wanted), text) is not None


def pattern(wanted: str) -> str:
    """A text of a case as a regular expression."""
    return ".*".join(map(re.escape, wanted.split(ANYTHING)))


def canonical(line: str) -> str:
    """A sample with its labels sorted and whole numbers without a fraction; any other line as it is."""
    sample = _SAMPLE.fullmatch(line)
    if sample is None:
        return line
    name, labels, value = sample.groups(default="")
    ordered = (f'{label}="{_number(text)}"' for label, text in sorted(_LABEL.findall(labels)))
    return f"{name}{{{','.join(ordered)}}} {_number(value)}"


def _number(text: str) -> str:
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text
