"""A line on growth: what earlier lines found at several sizes of the cluster, as slopes. It measures nothing itself.

A start takes as long as the API takes to list, on the same cores, and the longer a list is, the longer kube-apiserver
takes for each object of it: a client that reads the lists and does nothing with them has a bend, too. So the start's
slope is compared with CoreDNS's, and its bend is looked at twice: by the time it takes, and by its processor time,
which is the server's alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.bench.finding import PER_CPU, Figure, Finding, slope
from conformance.bench.setting import Options, Points, Setting
from conformance.bench.start import MEMORY, START, START_CPU

SPEED_LEFT = "queries per CPU-second, largest cluster : smallest"
MEMORY_SLOPE = "memory for each 1,000 Services of 10 endpoints"
START_SLOPE = "start for each 1,000 Services of 10 endpoints"
MEMORY_BEND = "slope of memory, above the middle size : below"
START_BEND = "slope of the start, above the middle size : below"
CPU_SLOPE = "processor time of the start for each 1,000 Services of 10 endpoints"
CPU_BEND = "slope of the start's processor time, above the middle size : below"

MIDDLE = 10_000
"""Services: a line that is straight is as steep above this size as below."""

SLOPES = (
    (MEMORY, MEMORY_SLOPE, MEMORY_BEND, "MB"),
    (START, START_SLOPE, START_BEND, "s"),
    (START_CPU, CPU_SLOPE, CPU_BEND, "s"),
)


@dataclass(frozen=True)
class Growth:
    """The sizes that must have been measured."""

    sizes: Sequence[int]
    needs: Sequence[str] = ()

    def seconds(self, options: Options) -> float:
        return 0

    async def run(self, setting: Setting) -> Finding:
        points = {what: self._points(setting.points, what) for what in (PER_CPU, MEMORY, START, START_CPU)}
        if lacking := [what for what, values in points.items() if len(values) < len(self.sizes)]:
            return Finding(left_out=f"not measured at each of {self._named()} Services: {', '.join(lacking)}")
        return conclude(points, {what: self._points(setting.their_points, what) for what in points})

    def _points(self, points: Points, what: str) -> dict[int, float]:
        known = points.get(what, {})
        return {size: known[size] for size in self.sizes if size in known}

    def _named(self) -> str:
        return ", ".join(f"{size:,}" for size in self.sizes)


def conclude(points: Points, theirs: Points) -> Finding:
    """What the points of the server under test, and CoreDNS's, say together."""
    finding = Finding()
    speed = points[PER_CPU]
    finding.figures.append(Figure(SPEED_LEFT, [speed[max(speed)] / speed[min(speed)]], ""))
    for what, steepness, bend, unit in SLOPES:
        mine, others = points[what], theirs.get(what, {})
        finding.figures.append(Figure(steepness, [slope(mine) * 1000], theirs=[slope(others) * 1000], unit=unit))
        finding.figures.append(Figure(bend, [bend_of(mine)], theirs=[bend_of(others)]))
        told = ", ".join(f"{size:,.0f}: {value:.4g} {unit}" for size, value in mine.items())
        finding.remarks.append(f"{what}: {told}")
    finding.remarks.append("q/CPU-s: " + ", ".join(f"{size:,}: {value:,.0f}" for size, value in speed.items()))
    return finding


def bend_of(points: Mapping[int, float]) -> float:
    """How much steeper the line is above `MIDDLE` than below: 1 for a straight one; NaN for too few points."""
    below = slope({x: y for x, y in points.items() if x <= MIDDLE})
    above = slope({x: y for x, y in points.items() if x >= MIDDLE})
    return above / below if below and not math.isnan(below) else math.nan
