"""What the clients found, phase by phase, one server beside the other, as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.columns import aligned
from conformance.rollout.script import GROUPS, PHASES, Run
from conformance.tally import Count

COLUMNS = ("right", "wrong", "lost", "late", "longest")


def terminal(runs: Sequence[Run], faults: Sequence[str]) -> str:
    """The table, examples of what was not right, remarks, faults, the verdict."""
    head = ["", *(f"{run.subject}: {column}" if column == "right" else column for run in runs for column in COLUMNS)]
    lines = aligned([head, *_rows(runs)])
    lines += [line for run in runs for line in _remarks(run)]
    verdict = "failed" if faults else "passed"
    return "\n".join([*lines, *(f"FAIL  {fault}" for fault in faults), f"{verdict}; late: right, but after a second"])


def _rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    for group in GROUPS:
        yield [group, *[""] * len(COLUMNS) * len(runs)]
        for number, phase in enumerate(PHASES):
            yield [f"  {phase}", *(cell for run in runs for cell in _cells(run.counts[group][number]))]


def _cells(counted: Count) -> list[str]:
    numbers = (counted.right, counted.wrong, counted.lost, counted.late)
    return [*map(str, numbers), f"{counted.longest:.2f} s"]


def _remarks(run: Run) -> Iterator[str]:
    for counts in run.counts.values():
        for phase, counted in zip(run.phases, counts, strict=True):
            yield from (
                f"      {phase.name}: {example}"
                for example in counted.examples
                if "wrong" in example or not phase.kills
            )
    yield from (f"note  {remark}" for remark in run.remarks)
