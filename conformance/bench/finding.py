"""What was measured: figures with a value for each round, the bounds they are held to, and what became of a line.

The ratio of a figure is the median of ours over the median of theirs. Pure; knows neither servers nor how a figure is
made, printed or drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

COREDNS = "CoreDNS"
TWO_CORES = "CoreDNS on two cores"
PER_CPU = "queries per CPU-second"
RATE = "q/s"

PASS, FAIL, FAULT, LEFT_OUT, VOID = "pass", "FAIL", "fault", "left out", "void"
"""What became of a figure: within its bounds, beyond one, its line failed, not measured, or what it is beside failed,
so that there is no ratio to judge. Without a bound it has no mark."""


@dataclass(frozen=True)
class Bound:
    """What a figure must reach: its ratio to theirs, or (`absolute`) its own value, at least or at most `limit`."""

    what: str
    limit: float
    beside: str = COREDNS
    at_most: bool = False
    absolute: bool = False

    def met(self, figure: Figure) -> bool:
        """A figure that there is none of (NaN) meets nothing."""
        value = figure.value if self.absolute else figure.ratio
        return value <= self.limit if self.at_most else value >= self.limit

    def text(self, unit: str) -> str:
        """`≥ 5` for a ratio, `≤ 150 MB` for a value."""
        sign = "≤" if self.at_most else "≥"
        return f"{sign} {self.limit:g}{f' {unit}'.rstrip() if self.absolute else ''}"


@dataclass(frozen=True)
class Figure:
    """One quantity of the server under test, and of what it is measured `beside`: a value for each round.

    `left_out` says why there are no values.
    """

    what: str
    ours: Sequence[float]
    beside: str = COREDNS
    theirs: Sequence[float] = ()
    unit: str = ""
    left_out: str = ""

    @property
    def value(self) -> float:
        """The median of ours; NaN where there are no values."""
        return median(self.ours) if self.ours else math.nan

    @property
    def their_value(self) -> float:
        """The median of theirs; NaN where there are no values."""
        return median(self.theirs) if self.theirs else math.nan

    @property
    def ratio(self) -> float:
        """Ours : theirs; NaN where there is none."""
        return self.value / self.their_value if self.their_value else math.nan


@dataclass
class Finding:
    """All that one line found. A fault fails the line whatever its figures; a remark is for the reader.

    `their_faults` are those of a server beside, by its name: they fail nothing, but ratios to it are void.
    `curves` are latencies by server: (share of the answers that came within, milliseconds); `samples` are the values
    that a figure was made of, by server, in order of time. `left_out` says why nothing was measured. `others` is how
    many cores other processes used meanwhile, where that was looked at, and `others_are` which of them belong to the
    line.
    """

    figures: list[Figure] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    their_faults: dict[str, list[str]] = field(default_factory=dict)
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)
    left_out: str = ""
    others: float | None = None
    others_are: str = ""

    def blame(self, name: str, theirs: bool, faults: Sequence[str]) -> None:
        """Keeps the faults of a server: of one beside it (`theirs`), or of the one under test."""
        if not theirs:
            self.faults += [f"{name}: {fault}" for fault in faults]
        elif faults:
            self.their_faults.setdefault(name, []).extend(faults)


@dataclass(frozen=True)
class Row:
    """One figure with its bounds; `mark` is `PASS`, `FAIL`, `FAULT`, `LEFT_OUT`, `VOID` or empty."""

    line: str
    figure: Figure
    bounds: Sequence[Bound]
    mark: str

    @property
    def bounds_text(self) -> str:
        """All bounds as text."""
        return ", ".join(bound.text(self.figure.unit) for bound in self.bounds)


@dataclass(frozen=True)
class Result:
    """A line of the table of lines with what it found and how long that took (seconds)."""

    line: str
    bounds: Sequence[Bound]
    finding: Finding
    seconds: float = 0.0

    @property
    def rows(self) -> list[Row]:
        """One for each figure."""
        return [self._row(figure) for figure in self.finding.figures]

    @property
    def passed(self) -> bool:
        """Whether nothing failed; what was left out did not."""
        return not self.finding.faults and all(row.mark != FAIL for row in self.rows)

    def _row(self, figure: Figure) -> Row:
        bounds = [bound for bound in self.bounds if (bound.what, bound.beside) == (figure.what, figure.beside)]
        return Row(self.line, figure, bounds, self._mark(figure, bounds))

    def _mark(self, figure: Figure, bounds: Sequence[Bound]) -> str:
        if figure.left_out:
            return LEFT_OUT
        if self.finding.faults:
            return FAULT
        if not bounds:
            return ""
        judged = [bound for bound in bounds if bound.absolute or figure.beside not in self.finding.their_faults]
        return (PASS if all(bound.met(figure) for bound in judged) else FAIL) if judged else VOID


def slope(points: Mapping[int, float]) -> float:
    """The slope of the straight line with the least squares through (x, y); NaN for fewer than two points."""
    if len(points) < 2:
        return math.nan
    middle_x, middle_y = (sum(values) / len(points) for values in (points.keys(), points.values()))
    above = sum((x - middle_x) * (y - middle_y) for x, y in points.items())
    return above / sum((x - middle_x) ** 2 for x in points)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed (nearest rank); NaN where there are none."""
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
