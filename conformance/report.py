"""Prints progress and the summary of a run. Judges nothing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from conformance.differences import DIFFERENCES
from conformance.runner import Outcome, Verdict


def progress(outcome: Outcome) -> None:
    """One line for a finished case, and all its problems."""
    failed = outcome.problems
    mark = f"{len(failed)} PROBLEMS" if failed else "ok"
    api = f" on a {outcome.api} API" if outcome.api else ""
    print(f"{outcome.case.name}: {len(outcome.verdicts)} checks{api}, {mark}", flush=True)
    for verdict in failed:
        print(render(verdict), flush=True)


def render(verdict: Verdict) -> str:
    """A verdict with problems as text."""
    lines = [f"  {verdict.place}: {verdict.text}", *(f"      {problem}" for problem in verdict.problems)]
    return "\n".join(lines)


def summary(outcomes: Sequence[Outcome], whole_table: bool) -> int:
    """Counts by area, differences by name; the exit status: 1 when anything is unexplained or a name is never seen."""
    verdicts = [verdict for outcome in outcomes for verdict in outcome.verdicts]
    areas = Counter(verdict.case.partition("/")[0] for verdict in verdicts)
    shown = Counter(name for verdict in verdicts for name in verdict.differences)
    problems = sum(len(outcome.problems) for outcome in outcomes)
    print()
    for area, count in sorted(areas.items()):
        print(f"{area:16} {count:5} checks")
    for name, count in sorted(shown.items()):
        print(f"difference {name}: {count}")
    unseen = sorted(set(DIFFERENCES) - set(shown)) if whole_table else []
    for name in unseen:
        print(f"difference {name} is listed and never shown", file=sys.stderr)
    print(
        f"{len(outcomes)} cases, {len(verdicts)} checks, {sum(shown.values())} named differences, {problems} problems"
    )
    return 1 if problems or unseen else 0
