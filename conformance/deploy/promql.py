"""What a PromQL expression asks for: metrics with the labels they are selected by, and the labels of its groupings.

It reads names; whether an expression makes sense is for promtool to say. Knows no server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

TARGET = frozenset({"job", "instance", "namespace", "pod", "service", "endpoint", "container"})
"""Labels that Prometheus adds to everything it scrapes by a ServiceMonitor."""

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\$?[A-Za-z_:][\w:]*|\d[\w.]*|[=!]~|[=!<>]=|\S')
_NAME = re.compile(r"[A-Za-z_:][\w:]*")
_GROUPINGS = ("by", "without", "on", "ignoring", "group_left", "group_right")
_WORDS = (*_GROUPINGS, "and", "or", "unless", "bool", "offset", "inf", "nan")
_BRACKETS = {"{": "}", "(": ")", "[": "]"}


class Selector(NamedTuple):
    """A metric, and the labels that its matchers look at."""

    metric: str
    labels: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """What an expression asks for; `groupings` are the labels behind `by`, `on` and the like."""

    selectors: tuple[Selector, ...]
    groupings: frozenset[str]


def read(expression: str) -> Asked:
    """Takes an expression apart."""
    tokens = [*_TOKEN.findall(expression), ""]
    selectors, groupings = list[Selector](), set[str]()
    at = 0
    while at < len(tokens) - 1:
        token, after = tokens[at], tokens[at + 1]
        at += 1
        if token == "[":
            at = _end(tokens, at - 1)
        elif token in _GROUPINGS and after == "(":
            end = _end(tokens, at)
            groupings |= {name for name in tokens[at:end] if _NAME.fullmatch(name)}
            at = end
        elif _NAME.fullmatch(token) and token not in _WORDS and after not in ("(", "by", "without"):
            end = _end(tokens, at) if after == "{" else at
            selectors.append(Selector(token, frozenset(_matched(tokens[at:end]))))
            at = end
    return Asked(tuple(selectors), frozenset(groupings))


def _end(tokens: list[str], at: int) -> int:
    """The place behind the bracket that closes the one at `at`; none of ours are nested."""
    return tokens.index(_BRACKETS[tokens[at]], at) + 1


def _matched(tokens: list[str]) -> Iterator[str]:
    """The labels in `{label="value", …}`."""
    return (name for name, sign in pairwise(tokens) if sign in ("=", "!=", "=~", "!~"))


def exposed(text: str) -> dict[str, set[str]]:
    """The samples of a page in Prometheus's text format, each with its labels."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition("{")
            labels = re.findall(r'([A-Za-z_]\w*)="', rest) if rest else []
            found.setdefault(name.split()[0], set()).update(labels)
    return found


def lacking(asked: Asked, known: Mapping[str, Set[str]]) -> Iterable[str]:
    """What of an expression's metrics and labels is not known, in words."""
    for metric, labels in asked.selectors:
        if metric not in known:
            yield f"no metric {metric}"
        yield from (f"no label {label} in {metric}" for label in sorted(labels - known.get(metric, labels) - TARGET))
    everywhere = TARGET.union(*(known.get(one.metric, ()) for one in asked.selectors))
    yield from (f"no label {label} to group by" for label in sorted(asked.groupings - everywhere))
