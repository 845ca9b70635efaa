"""A run in a few lines: counts by area, requirements, differences, what was not looked at, and one line of conclusion.

Pure: lines with the style they are printed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from conformance.report import changes
from conformance.report.document import area
from conformance.report.requirements import State, states, table
from conformance.report.run import Run

Line = tuple[str, str]
"""Text, and its style for rich: empty for none."""

NAMED = 50
"""How many problems are named at the end of a run."""

NOTED = 10
"""How many checks with notes are shown."""

WORDS = {
    State.FAILS: "fail",
    State.DEPARTS: "depart as CoreDNS",
    State.PASSES: "pass",
    State.WAITS: "wait",
    State.SKIPPED: "skipped",
    State.NONE: "not covered",
}


def summary(run: Run) -> Iterator[Line]:
    """All lines, the conclusion last."""
    yield from _areas(run)
    yield from _requirements(run)
    yield from _named("differences", run.differences)
    for server, names in run.departures.items():
        yield from _named(f"departures, {server}", names)
    yield from changes.summary(run.verdicts)
    yield from _aside("waits", {outcome.name: outcome.waits for outcome in run.waiting})
    yield from _aside("skipped", {outcome.name: outcome.skipped for outcome in run.skipped})
    yield from _notes(run)
    yield from _problems(run)
    yield run.conclusion + f", {run.seconds:.0f} s", "bold red" if run.reasons else "bold green"


def _areas(run: Run) -> Iterator[Line]:
    checks = Counter(area(outcome.name) for outcome in run.outcomes for _ in outcome.verdicts)
    yield from _named("checks", checks)


def _requirements(run: Run) -> Iterator[Line]:
    rows = table(run.outcomes, run.servers, {})
    for server in run.servers if rows else ():
        found = states(rows, server)
        words = [f"{count} {WORDS[state]}" for state, count in found.items()]
        yield (
            f"requirements, {server}: {len(rows)} looked at: {', '.join(words)}",
            "red" if State.FAILS in found else "",
        )


def _named(what: str, counts: Mapping[str, int]) -> Iterator[Line]:
    if counts:
        yield f"{what}: {', '.join(f'{name} {count}' for name, count in sorted(counts.items()))}", ""


def _aside(what: str, reasons: Mapping[str, str]) -> Iterator[Line]:
    """One line for each reason, with all jobs it holds for."""
    for reason in dict.fromkeys(reasons.values()):
        names = [name for name, given in reasons.items() if given == reason]
        yield f"{what}: {_listed(names)}: {reason}", "yellow"


def _notes(run: Run) -> Iterator[Line]:
    """What differs and is no fault."""
    noted = [verdict for verdict in run.verdicts if verdict.notes]
    for verdict in noted[:NOTED]:
        yield f"note: {verdict.text}: {'; '.join(verdict.notes)}", "yellow"
    if len(noted) > NOTED:
        yield f"… and {len(noted) - NOTED} more notes (--json has all)", "yellow"


def _problems(run: Run) -> Iterator[Line]:
    for verdict in run.problems[:NAMED]:
        yield f"problem: {verdict.job}: {verdict.place}: {verdict.text}", "red"
    if len(run.problems) > NAMED:
        yield f"… and {len(run.problems) - NAMED} more", "red"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
