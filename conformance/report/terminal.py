"""Progress and summary of a run in the terminal. Judges nothing but the exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.differences import DIFFERENCES
from conformance.results import Outcome, Verdict, verdicts


class Bar:
    """A line for each job with problems or skipped, above a bar; without a terminal a line for every job."""

    def __init__(self, jobs: int, console: Console | None = None) -> None:
        self._console = console or Console(soft_wrap=True, highlight=False)
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._task = self._progress.add_task("", total=jobs)
        self._verbose = not self._console.is_terminal

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._progress.stop()

    def began(self, name: str) -> None:
        """Notes a job that starts."""

    def done(self, outcome: Outcome) -> None:
        """Notes a job that is done."""
        self._progress.update(self._task, advance=1, description=escape(outcome.name))
        if self._verbose or outcome.problems or outcome.skipped:
            self._console.print(escape(_line(outcome)))
        for verdict in outcome.problems:
            self._console.print(escape(render(verdict)))


def _line(outcome: Outcome) -> str:
    if outcome.skipped:
        return f"{outcome.name}: skipped: {outcome.skipped}"
    failed = outcome.problems
    mark = f"{len(failed)} PROBLEMS" if failed else "ok"
    api = f" on a {outcome.api} API" if outcome.api else ""
    waits = f" ({outcome.waits})" if outcome.waits else ""
    return f"{outcome.name}: {len(outcome.verdicts)} checks{api}, {mark}{waits}"


def render(verdict: Verdict) -> str:
    """A verdict with problems as text."""
    return "\n".join([f"  {verdict.place}: {verdict.text}", *(f"      {problem}" for problem in verdict.problems)])


def waiting(outcomes: Sequence[Outcome]) -> set[str]:
    """The named differences of cases that wait for a plugin: they wait with it."""
    cases = [outcome.case for outcome in outcomes if outcome.case and outcome.waits]
    return {name for case in cases for step in case.steps for name in getattr(step, "differences", ())}


def summary(outcomes: Sequence[Outcome], whole: bool, strict: bool) -> int:
    """Prints counts by area, differences by name and what was not looked at; gives the exit status.

    1 when anything is unexplained, when a whole run never showed a difference that is listed, and, with `strict`,
    when this machine lacked something.
    """
    console = Console(soft_wrap=True, highlight=False)
    found = list(verdicts(list(outcomes)))
    shown = Counter(name for verdict in found for name in verdict.differences)
    unseen = sorted(set(DIFFERENCES) - set(shown) - waiting(outcomes)) if whole else []
    problems = sum(len(outcome.problems) for outcome in outcomes)
    skipped = [outcome for outcome in outcomes if outcome.skipped]
    console.print()
    for area, count in sorted(Counter(verdict.case.partition("/")[0] for verdict in found).items()):
        console.print(f"{area:16} {count:5} checks")
    for name, count in sorted(shown.items()):
        console.print(f"difference {name}: {count}")
    for outcome in outcomes:
        if outcome.waits:
            console.print(f"waits: {outcome.name}: {outcome.waits}")
    for outcome in skipped:
        console.print(f"skipped: {outcome.name}: {outcome.skipped}")
    for name in unseen:
        console.print(f"difference {name} is listed and never shown")
    console.print(
        f"{len(outcomes)} jobs, {len(found)} checks, {sum(shown.values())} named differences,"
        f" {len(skipped)} skipped, {problems} problems"
    )
    return 1 if problems or unseen or (strict and skipped) else 0
