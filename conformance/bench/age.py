"""What has changed in the table of lines since a run, so that its figures are not read by other bounds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.bench.document import Document, named
from conformance.bench.lines import Line

Bounds = set[tuple[str, str, float, bool, bool]]


def since(found: Document, lines: Sequence[Line]) -> list[str]:
    """What says which lines are new, gone, or have other bounds than they had in the run."""
    ran = {line["line"]: line for line in found["lines"]}
    now = {line.name: line for line in lines}
    new, gone = [name for name in now if name not in ran], [name for name in ran if name not in now]
    told = {"not in this run yet": new, "measured no longer": gone}
    listed = [f"{what}: {'; '.join(names)}" for what, names in told.items() if names]
    return [*listed, *_changed(found["subject"], ran, now)]


def _changed(subject: str, ran: Mapping[str, Any], now: Mapping[str, Line]) -> Iterator[str]:
    for name in (name for name in now if name in ran):
        before, after = _before(ran[name]), _after(now[name], subject)
        if ran[name]["figures"] and before != after:
            whats = sorted({what for what, *_ in before ^ after})
            yield f"{name}: has other bounds since this run, for {'; '.join(whats)}"


def _before(line: Mapping[str, Any]) -> Bounds:
    return {
        (figure["what"], figure["beside"], bound["limit"], bound["at_most"], bound["absolute"])
        for figure in line["figures"]
        for bound in figure["bounds"]
    }


def _after(line: Line, subject: str) -> Bounds:
    return {(one.what, named(one.beside, subject), one.limit, one.at_most, one.absolute) for one in line.bounds}
