"""A run on the node as a table for a terminal and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from conformance.columns import aligned
from conformance.tally import Count, Phase

HEAD = ("phase", "seconds", "right", "wrong", "lost", "late", "longest")


@dataclass(frozen=True)
class Result:
    """What a run found. `faults` is empty where all that is required is so."""

    phases: Sequence[Phase]
    counts: Sequence[Count]
    remarks: Sequence[str]
    faults: Sequence[str]
    seconds: float


def terminal(result: Result) -> str:
    """The table, examples of what was not right, remarks, faults."""
    rows = [HEAD, *(_row(phase, counted) for phase, counted in zip(result.phases, result.counts, strict=True))]
    lines = aligned(rows)
    for phase, counted in zip(result.phases, result.counts, strict=True):
        lines += [f"      {phase.name}: {example}" for example in counted.examples]
    lines += ["", *(f"note  {remark}" for remark in result.remarks), *(f"FAIL  {fault}" for fault in result.faults)]
    verdict = "failed" if result.faults else "passed"
    return "\n".join([*lines, f"{verdict} in {result.seconds:.0f} s; late: right, but after more than a second"])


def _row(phase: Phase, counted: Count) -> tuple[str, ...]:
    numbers = (counted.right, counted.wrong, counted.lost, counted.late)
    return (phase.name, f"{phase.ended - phase.began:.1f}", *map(str, numbers), f"{counted.longest:.2f} s")


def document(result: Result) -> dict[str, Any]:
    """The same as JSON has it."""
    phases = [{"phase": asdict(phase), "count": asdict(counted)}
              for phase, counted in zip(result.phases, result.counts, strict=True)]  # fmt: skip
    return {
        "phases": phases,
        "remarks": list(result.remarks),
        "faults": list(result.faults),
        "seconds": round(result.seconds, 1),
        "passed": not result.faults,
    }
