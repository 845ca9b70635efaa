"""A run as one picture: ratios as bars with floors as marks, latencies as curves. Pure; reads a `document`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from conformance.bench.document import Document
from conformance.bench.finding import COREDNS, FAIL, FAULT, PASS, PER_CPU
from conformance.bench.start import MEMORY
from conformance.bench.table import number, ratio
from conformance.report.picture import MARGIN, WIDTH, Sheet

STYLE = """
.grid { stroke: #d5dbe1; } .floor { stroke: #16202c; stroke-width: 2; } .curve { fill: none; stroke-width: 2; }
.good { fill: #2459c8; } .bad { fill: #cf3a30; } .plain { fill: #8fa3b8; } .centre { text-anchor: middle; }
.small { font-size: 11px; } .c0 { stroke: #2459c8; } .c1 { stroke: #c2570c; }
@media (prefers-color-scheme: dark) {
  .grid { stroke: #2c3743; } .floor { stroke: #e6ebf1; } .good { fill: #7aa7ff; } .bad { fill: #ff7b70; }
  .c0 { stroke: #7aa7ff; } .c1 { stroke: #ffa45c; }
}
"""
SHORT = {PER_CPU: "per CPU-s", MEMORY: "memory"}
COLOURS = {PASS: "good", FAIL: "bad", FAULT: "bad", "": "plain"}

LEFT = 400
"""Where bars begin; names stand before them."""

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
    more, less = _figures(found, at_most=False), _figures(found, at_most=True)
    _bars(drawing, "Queries per CPU-second and q/s, as ratios: more is better", more)
    _bars(drawing, "Memory, start, changes, latency, as ratios: less is better", less)
    _charts(drawing, [line for line in found["lines"] if line["curves"]])
    return drawing.finish()


def _figures(found: Document, at_most: bool) -> list[Named]:
    """The figures with a floor for their ratio of this direction, each named by its line."""
    return [
        (f"{line['line']}: {_what(figure)}", figure)
        for line in found["lines"]
        for figure in line["figures"]
        if figure["ratio"] is not None and any(_bounds(figure, at_most))
    ]


def _what(figure: Figure) -> str:
    what: str = SHORT.get(figure["what"]) or figure["what"]
    return what if figure["beside"] == COREDNS else f"{what} : {figure['beside']}"


def _bounds(figure: Figure, at_most: bool) -> list[float]:
    return [floor["bound"] for floor in figure["floors"] if floor["at_most"] is at_most and not floor["absolute"]]


def _bars(drawing: Drawing, title: str, figures: Sequence[Named]) -> None:
    if not figures:
        return
    drawing.y += 34
    drawing.text(0, title, "head")
    drawing.text(WIDTH, "ratio (mark: floor)", "soft right small")
    drawing.y += 4
    largest = max(max(figure["ratio"], *(floor["bound"] for floor in figure["floors"] if not floor["absolute"]))
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
        drawing.line([(LEFT + bound * scale, -12), (LEFT + bound * scale, 4)], "floor")
    drawing.text(WIDTH, f"{ratio(figure['ratio'])}", "right small")


def _charts(drawing: Drawing, lines: Sequence[Figure]) -> None:
    """Charts of curves, two beside each other."""
    if not lines:
        return
    drawing.y += 40
    drawing.text(0, "Latency: within how many milliseconds which share of the answers came (ms)", "head")
    drawing.y += 26
    width, height = CHART
    for place, line in enumerate(lines):
        if place and place % 2 == 0:
            drawing.y += height + 60
        _chart(drawing, place % 2 * (WIDTH - width), line)
    drawing.y += height + 30


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
        drawing.box(left + CHART[0] - 130, 10, 10, f"s{place}", place * 16 - 22 + MARGIN)
        drawing.text(left + CHART[0] - 115, name, "small", place * 16 - 13 + MARGIN)
