"""Faults as people read them: what follows from another fault left out, and many that are alike said once. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from conformance.plan import STARTED
from conformance.results import Verdict

WIDTH = 160
"""The most characters of a fault that has one line."""

SILENT = re.compile(r"(.*)rcode: wanted (\S+), got TIMEOUT")
"""The fault of a reply that did not come."""

ABSENT = re.compile(r".*: wanted .*, got -", re.DOTALL)
"""The fault of a part that is not there."""


def called(server: str) -> str:
    """A server as people call it: a program without its folder, unless it then had the name of one of ours."""
    name = PurePath(server).name
    return name if "/" in server and name not in STARTED else server


def told(faults: Sequence[str]) -> list[str]:
    """The faults of one server in one check; a reply that did not come is one fault, not one for each of its parts."""
    silent = next(filter(None, map(SILENT.fullmatch, faults)), None)
    if not silent:
        return list(faults)
    others = [fault for fault in faults if fault != silent[0] and not ABSENT.fullmatch(fault)]
    return [f"{silent[1]}no reply, wanted {silent[2]}", *others]


def lines(verdict: Verdict) -> list[str]:
    """All faults of a check, each with its server in front."""
    return [f"{called(server)}: {fault}" for server, faults in verdict.faults.items() for fault in told(faults)]


def alike(verdicts: Iterable[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """Verdicts by their first fault in one line, the most frequent fault first."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(_shortened(lines(verdict)[0]), []).append(verdict)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _shortened(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
