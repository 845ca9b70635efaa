"""A run in a few lines: counts by area, requirements, differences, what was not looked at, and one line of conclusion.

Pure: lines with the style they are printed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from conformance.report import changes
from conformance.report.document import area
from conformance.report.problems import called
from conformance.report.requirements import State, in_words, looked_at, states, table
from conformance.report.run import Run
from conformance.spec.requirements import REQUIREMENTS

Line = tuple[str, str]
"""Text, and its style for rich: empty for none."""

NAMED = 4
"""How many of the jobs that were not run for one reason are named."""

JOBS = 10
"""How many jobs are named with their problems; where there are more, areas are."""

NOTED = 10
"""How many checks with notes are shown."""


def summary(run: Run, texts: Mapping[str, str] = REQUIREMENTS) -> Iterator[Line]:
    """All lines, the conclusion last; `texts` are the requirements in words."""
    yield from _areas(run)
    yield from _requirements(run, texts)
    yield from _named("differences", run.differences)
    for server, names in run.departures.items():
        yield from _named(f"departures, {called(server)}", names)
    yield from changes.summary(run.verdicts)
    yield from _aside("waits", {outcome.name: outcome.waits for outcome in run.waiting})
    yield from _aside("skipped", {outcome.name: outcome.skipped for outcome in run.skipped})
    yield from _aside("not covered", {outcome.name: outcome.absent for outcome in run.outcomes if outcome.absent})
    yield from _notes(run)
    yield from _problems(run)
    yield run.conclusion + f", {run.seconds:.0f} s", "bold red" if run.reasons else "bold green"


def _areas(run: Run) -> Iterator[Line]:
    checks = Counter(area(outcome.name) for outcome in run.outcomes for _ in outcome.verdicts)
    yield from _named("checks", checks)


def _requirements(run: Run, texts: Mapping[str, str]) -> Iterator[Line]:
    """Nothing of a server where no job had to do with any."""
    rows = table(run.outcomes, run.servers, texts)
    for server in run.servers:
        found = states(rows, server)
        words = f"{looked_at(found)} of {len(rows)} looked at: {in_words(found)}"
        if set(found) - {State.NONE}:
            yield f"requirements, {called(server)}: {words}", "red" if State.FAILS in found else ""


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
    """Where they are: each was told when its job was done."""
    jobs = Counter(verdict.job for verdict in run.problems)
    for text, _ in _named("problems", jobs if len(jobs) <= JOBS else Counter(area(v.job) for v in run.problems)):
        yield text, "red"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:NAMED])} and {more} more"
