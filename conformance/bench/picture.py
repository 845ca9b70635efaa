"""A run as one picture: ratios as bars with bounds as marks, latencies as curves. Pure; reads a `document`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from conformance.bench.document import Document
from conformance.bench.finding import COREDNS, FAIL, FAULT, LEFT_OUT, PASS, PER_CPU, TWO_CORES, VOID
from conformance.bench.growth import CPU_BEND, MEMORY_BEND, START_BEND, START_SLOPE
from conformance.bench.start import MEMORY
from conformance.bench.table import beside, met, number, ratio
from conformance.report.picture import WIDTH, Sheet

STYLE = """
.grid { stroke: #d5dbe1; } .bound { stroke: #16202c; stroke-width: 2; } .curve { fill: none; stroke-width: 2; }
.good { fill: #2459c8; } .bad { fill: #cf3a30; } .plain { fill: #8fa3b8; } .centre { text-anchor: middle; }
.small { font-size: 11px; } .c0 { stroke: #2459c8; } .c1 { stroke: #c2570c; }
@media (prefers-color-scheme: dark) {
  .grid { stroke: #2c3743; } .bound { stroke: #e6ebf1; } .good { fill: #7aa7ff; } .bad { fill: #ff7b70; }
  .c0 { stroke: #7aa7ff; } .c1 { stroke: #ffa45c; }
}
"""
SHORT = {
    PER_CPU: "per CPU-s", MEMORY: "memory", START_SLOPE: "start for each 1,000 Services",
    START_BEND: "start's slope, above : below", MEMORY_BEND: "memory's slope, above : below",
    CPU_BEND: "slope of the start's processor time, above : below",
}  # fmt: skip
"""What would be too long before a bar."""

COLOURS = {PASS: "good", FAIL: "bad", FAULT: "bad", VOID: "plain", LEFT_OUT: "plain", "": "plain"}

LEFT = 400
"""Where bars begin; names stand before them."""

VALUES = 660
"""Where the marks of figures stand that are no bars."""

RIGHT = 90
"""Room for the numbers behind the bars."""

ROW = 20
CHART = (380, 220)
"""Width and height of a chart of curves."""

TICKS = (0.5, 0.9, 0.99, 0.999)
"""Shares of the answers that are named below a chart."""

Figure = Mapping[str, Any]
Named = tuple[str, Figure]


class Drawing(Sheet):
    """A sheet with lines."""

    def __init__(self) -> None:
        super().__init__()
        self.root[0].text = (self.root[0].text or "") + STYLE

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """A line through points, whose heights are below the present one."""
        places = " ".join(f"{x:.1f},{self.y + y:.1f}" for x, y in points)
        ElementTree.SubElement(self.root, "polyline", {"points": places, "class": kind})


def draw(found: Document) -> str:
    """The picture of a run as SVG text; the same run gives the same octets."""
    drawing = Drawing()
    drawing.y += 18
    drawing.text(0, f"{found['subject']} beside {COREDNS}", "title")
    drawing.y += 22
    machine = found["machine"]
    drawing.text(0, f"{found['date'][:10]}; {machine['cpu']}, {machine['cores']} cores; "
                    f"{', '.join(found['versions'].values())}", "soft")  # fmt: skip
    drawing.y += 18
    drawing.text(0, met(found).replace("*", ""), "soft")
    more, less = _figures(found, at_most=False), _figures(found, at_most=True)
    _bars(drawing, "Queries per CPU-second and q/s, as ratios: more is better", more)
    _bars(drawing, "Memory, start, changes, latency, as ratios: less is better", less)
    _values(drawing, [named for named in _named(found) if any(bound["absolute"] for bound in named[1]["bounds"])])
    _charts(drawing, [line for line in found["lines"] if line["curves"]], found["subject"])
    return drawing.finish()


def _named(found: Document) -> list[Named]:
    """All figures, each named by its line."""
    return [
        (f"{line['line']}: {_what(found, figure)}", figure) for line in found["lines"] for figure in line["figures"]
    ]


def _figures(found: Document, at_most: bool) -> list[Named]:
    """The figures with a bound for their ratio of this direction."""
    return [
        (name, figure)
        for name, figure in _named(found)
        if figure["ratio"] is not None and any(_bounds(figure, at_most))
    ]


def _what(found: Document, figure: Figure) -> str:
    what: str = SHORT.get(figure["what"]) or figure["what"]
    if figure["beside"] == TWO_CORES:
        return f"{what} : {COREDNS}, 2 cores"
    return what if figure["beside"] in (COREDNS, "") else f"{what} : {beside(found, figure)}"


def _values(drawing: Drawing, figures: Sequence[Named]) -> None:
    """Figures that have a bound of their own, whatever those of CoreDNS: they are no bars of one scale."""
    if not figures:
        return
    drawing.y += 34
    drawing.text(0, "Bounds of a figure itself", "head")
    drawing.text(WIDTH, "value, bound", "soft right small")
    drawing.y += 4
    for name, figure in figures:
        drawing.y += ROW
        drawing.text(VALUES - 30, name, "right small")
        drawing.box(VALUES - 20, 10, 10, COLOURS[figure["mark"]], -9)
        value = f"{number(figure['value'])} {figure['unit']}".rstrip()
        drawing.text(WIDTH, f"{value}, {figure['bounds_text']}", "right small")


def _bounds(figure: Figure, at_most: bool) -> list[float]:
    return [bound["limit"] for bound in figure["bounds"] if bound["at_most"] is at_most and not bound["absolute"]]


def _bars(drawing: Drawing, title: str, figures: Sequence[Named]) -> None:
    if not figures:
        return
    drawing.y += 34
    drawing.text(0, title, "head")
    drawing.text(WIDTH, "ratio (mark: bound)", "soft right small")
    drawing.y += 4
    largest = max(max(figure["ratio"], *(bound["limit"] for bound in figure["bounds"] if not bound["absolute"]))
                  for _, figure in figures)  # fmt: skip
    scale = (WIDTH - LEFT - RIGHT) / largest
    drawing.line([(LEFT + scale, 2), (LEFT + scale, ROW * len(figures) + 4)], "grid")
    for name, figure in figures:
        _bar(drawing, name, figure, scale)


def _bar(drawing: Drawing, name: str, figure: Figure, scale: float) -> None:
    drawing.y += ROW
    drawing.text(LEFT - 10, name, "right small")
    drawing.box(LEFT, max(1.0, figure["ratio"] * scale), 10, COLOURS[figure["mark"]], -9)
    for bound in (*_bounds(figure, True), *_bounds(figure, False)):
        drawing.line([(LEFT + bound * scale, -12), (LEFT + bound * scale, 4)], "bound")
    drawing.text(WIDTH, f"{ratio(figure['ratio'])}", "right small")


def _charts(drawing: Drawing, lines: Sequence[Figure], subject: str) -> None:
    """Charts of curves, two beside each other."""
    if not lines:
        return
    drawing.y += 40
    drawing.text(0, "Latency: within how many milliseconds which share of the answers came (ms)", "head")
    drawing.y += 26
    width, height = CHART
    for place, line in enumerate(lines):
        if place and place % 2 == 0:
            drawing.y += height + 76
        _chart(drawing, place % 2 * (WIDTH - width), line)
        drawing.text(place % 2 * (WIDTH - width) + 40, slower(line["curves"], subject), "small soft", height + 34)
    drawing.y += height + 34


def slower(curves: Mapping[str, Sequence[tuple[float, float]]], subject: str) -> str:
    """At which of the named shares the curve of the server under test is above CoreDNS's; empty where at none."""
    mine, theirs = dict(curves.get(subject, ())), dict(curves.get(COREDNS, ()))
    shares = [share for share in TICKS if share in mine and share in theirs and mine[share] > theirs[share]]
    return f"{subject} is slower at {', '.join(f'{share * 100:g}%' for share in shares)}" if shares else ""


def _chart(drawing: Drawing, left: float, line: Figure) -> None:
    """Both axes are logarithmic: the share of the answers that took longer, and milliseconds."""
    _, height = CHART
    values = [took for curve in line["curves"].values() for _, took in curve]
    low, high = (math.floor(math.log10(max(min(values), 1e-3))), math.ceil(math.log10(max(values))))

    def across(share: float) -> float:
        return left + 40 + (CHART[0] - 60) * min(1.0, -math.log10(max(1 - share, 1e-4)) / 4)

    def down(took: float) -> float:
        return height * (1 - (math.log10(max(took, 1e-3)) - low) / max(1, high - low))

    drawing.text(left, line["line"], y=-8)
    for exponent in range(low, high + 1):
        drawing.line([(across(0), down(10.0**exponent)), (across(1), down(10.0**exponent))], "grid")
        drawing.text(left + 34, number(10.0**exponent), "right small soft", down(10.0**exponent) + 4)
    for share in TICKS:
        drawing.text(across(share), f"{share:.1%}".replace(".0%", "%"), "centre small soft", height + 16)
    for place, (name, curve) in enumerate(line["curves"].items()):
        drawing.line([(across(share), down(took)) for share, took in curve], f"curve c{place}")
        drawing.box(left + CHART[0] - 160 + 80 * place, 10, 10, f"s{place}", -17)
        drawing.text(left + CHART[0] - 145 + 80 * place, name, "small", -8)
