"""Progress of a run in the terminal. Judges nothing."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from io import TextIOWrapper
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from conformance.report.problems import alike, lines
from conformance.report.run import Run, counted
from conformance.report.summary import summary
from conformance.results import Outcome, Verdict

FULL = 20
"""How many problems of a run are shown with all their lines, as they come."""

GROUPS = 30
"""How many different faults of the others are shown at the end."""


class Bar:
    """A line for each job with problems, above a bar; without a terminal a line for every job.

    The first problems are shown whole as they come, the others at the end, those alike in one line.

    `outcomes` are those of the jobs that are done.
    """

    def __init__(self, jobs: int, console: Console | None = None) -> None:
        self.outcomes: list[Outcome] = []
        self._console = console or make_console()
        self._names = TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"))
        columns = (BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn(), self._names)
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal, expand=True)
        self._task = self._progress.add_task("", total=jobs)
        self._running: list[str] = []
        self._problems: list[Verdict] = []
        self._reasons: set[str] = set()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._progress.stop()
        for text in rest(self._problems[FULL:]):
            self._print(text, "red")

    def began(self, name: str) -> None:
        """Notes a job that starts."""
        self._running.append(name)
        self._update(0)

    def done(self, outcome: Outcome) -> None:
        """Notes a job that is done."""
        self.outcomes.append(outcome)
        self._running.remove(outcome.name)
        self._update(1)
        if not self._console.is_terminal or outcome.problems:
            self._print(line(outcome, self._reasons), "red" if outcome.problems else "")
        for verdict in outcome.problems[: max(FULL - len(self._problems), 0)]:
            self._print(render(verdict))
        self._problems += outcome.problems
        self._reasons.add(outcome.skipped)

    def _update(self, advance: int) -> None:
        self._progress.update(self._task, advance=advance, description=escape(", ".join(self._running)))

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style))


def make_console() -> Console:
    """Where people read: long lines are the terminal's to break, and what is no text is shown escaped."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(soft_wrap=True, highlight=False)


def line(outcome: Outcome, known: Collection[str] = ()) -> str:
    """A job in one line; a reason for being skipped that is `known` is not told again."""
    if outcome.skipped:
        return f"{outcome.name}: skipped" + (f": {outcome.skipped}" if outcome.skipped not in known else "")
    if outcome.absent:
        return f"{outcome.name}: not covered: {outcome.absent}"
    failed = outcome.problems
    mark = counted(len(failed), "problem").upper() if failed else "ok"
    api = f" on a {outcome.api} API" if outcome.api else ""
    waits = f" ({outcome.waits})" if outcome.waits else ""
    return f"{outcome.name}: {counted(len(outcome.verdicts), 'check')}{api}, {mark}{waits}"


def render(verdict: Verdict) -> str:
    """A verdict with problems as text."""
    return "\n".join([f"  {verdict.place}: {verdict.text}", *(f"      {problem}" for problem in lines(verdict))])


def rest(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Problems by their first fault: how many have it, or the place of the one that has."""
    groups = alike(verdicts)
    if groups:
        yield f"{counted(len(verdicts), 'more problem')}, by their first faults (--html FILE shows each whole):"
    for fault, found in groups[:GROUPS]:
        first = f"{found[0].place}: {found[0].text}"
        yield f"  {first}: {fault}" if len(found) == 1 else f"  {len(found)} more: {fault} (first {first})"
    if len(groups) > GROUPS:
        yield f"  … and {counted(sum(len(found) for _, found in groups[GROUPS:]), 'other')}"


def show(run: Run, console: Console | None = None) -> None:
    """Prints the summary."""
    console = console or make_console()
    console.print()
    for text, style in summary(run):
        console.print(Text(text, style))
