"""A run as one picture: its requirements in a few rows, and what real resolvers asked each server.

    python -m conformance.report.picture REPORT.json PICTURE.svg

The same report gives the same octets.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from conformance.report.document import Document
from conformance.report.page import duration, resolvers
from conformance.report.problems import called
from conformance.report.requirements import KINDS, State

WIDTH = 880
CELL = (30, 26)
"""Width and height of a requirement."""

MARGIN = 16

GAP = 4
ROW = 26
"""Height of a resolver's row."""

STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #16202c; }
.title { font-size: 20px; font-weight: 600; } .head { font-weight: 600; } .soft { fill: #5b6776; }
.number { font-size: 10px; text-anchor: middle; } .right { text-anchor: end; }
.ground { fill: #fff; } .cell { fill: #eef1f4; }
.passes { fill: #2f9e63; } .departs { fill: #e0a21b; } .fails { fill: #cf3a30; }
.waits, .skipped, .not-covered { fill: #b9c2cc; } .s0 { fill: #2459c8; } .s1 { fill: #c2570c; } .s2 { fill: #7a3fb0; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6ebf1; } .soft { fill: #98a4b3; } .ground { fill: #10151b; }
  .cell { fill: #202934; } .waits, .skipped, .not-covered { fill: #4a5665; }
  .s0 { fill: #7aa7ff; } .s1 { fill: #ffa45c; } .s2 { fill: #c79bf2; }
}
"""


class Sheet:
    """An SVG that grows downwards; `y` is where the next thing goes."""

    def __init__(self) -> None:
        self.y = 0.0
        self.root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
        ElementTree.SubElement(self.root, "style").text = STYLE

    def text(self, x: float, words: str, kind: str = "", y: float = 0) -> None:
        """Words at the height `y` below the present one."""
        element = ElementTree.SubElement(self.root, "text", {"x": f"{x:g}", "y": f"{self.y + y:g}", "class": kind})
        element.text = words

    def box(self, x: float, width: float, height: float, kind: str, y: float = 0) -> None:
        """A rectangle."""
        place = {"x": f"{x:g}", "y": f"{self.y + y:g}", "width": f"{width:g}", "height": f"{height:g}", "rx": "2"}
        ElementTree.SubElement(self.root, "rect", {**place, "class": kind})

    def finish(self) -> str:
        """The whole as text."""
        width, height = WIDTH + 2 * MARGIN, self.y + 2 * MARGIN
        place = {"x": f"{-MARGIN}", "y": f"{-MARGIN}", "width": f"{width}", "height": f"{height:g}"}
        self.root.insert(1, ElementTree.Element("rect", {**place, "class": "ground"}))
        self.root.attrib |= {"width": f"{width}", "height": f"{height:g}"}
        self.root.attrib["viewBox"] = f"{-MARGIN} {-MARGIN} {width} {height:g}"
        ElementTree.indent(self.root)
        return ElementTree.tostring(self.root, encoding="unicode") + "\n"


def draw(found: Document) -> str:
    """The picture of a report."""
    sheet = Sheet()
    _title(sheet, found)
    _legend(sheet, found)
    for letter, kind in KINDS.items():
        rows = [row for row in found["requirements"]["rows"] if row["number"][0] == letter]
        if rows:
            _requirements(sheet, f"{letter}: {kind}", rows)
    watched = resolvers(found)
    if watched:
        _questions(sheet, found, watched)
    return sheet.finish()


def _title(sheet: Sheet, found: Document) -> None:
    sheet.y += 18
    servers = [server["version"] or called(server["name"]) for server in found["servers"]]
    sheet.text(0, " beside ".join(servers), "title")
    sheet.y += 22
    result = found["result"]
    checks = f"{result['word']}: {result['counts']['checks']:,} checks, {result['counts']['problems']} problems"
    sheet.text(0, f"{checks}, in {duration(found['seconds'])}; {found['started'][:10]}", "soft")
    sheet.y += 12


def _legend(sheet: Sheet, found: Document) -> None:
    """Which half of a cell is whose, and how many requirements are in each state."""
    for index, (side, server) in enumerate(zip(("left", "right"), found["servers"], strict=False)):
        sheet.y += 20
        x = 190
        half = f"{called(server['name'])} ({side} half)" if len(found["servers"]) > 1 else called(server["name"])
        sheet.box(0, 12, 12, f"s{index}", -10)
        sheet.text(18, half, "head")
        for state, count in found["requirements"]["states"][server["name"]].items():
            sheet.box(x, 12, 12, _kind(state), -10)
            sheet.text(x + 18, f"{count} {state}")
            x += 34 + 7 * len(f"{count} {state}")
    sheet.y += 8


def _kind(state: str) -> str:
    return State(state).replace(" ", "-")


def _requirements(sheet: Sheet, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    sheet.y += 20
    sheet.text(0, title, "soft")
    sheet.y += 8
    width, height = CELL
    across = (WIDTH + GAP) // (width + GAP)
    for place, row in enumerate(rows):
        if place and place % across == 0:
            sheet.y += height + GAP
        _cell(sheet, place % across * (width + GAP), row)
    sheet.y += height + GAP


def _cell(sheet: Sheet, x: float, row: Mapping[str, Any]) -> None:
    width, height = CELL
    sheet.box(x, width, height, "cell")
    sheet.text(x + width / 2, row["number"], "number", 12)
    states = [cell["state"] for cell in row["servers"].values()][:2]
    part = (width - 6 - 2 * (len(states) - 1)) / len(states)
    for index, state in enumerate(states):
        sheet.box(x + 3 + index * (part + 2), part, 6, _kind(state), 16)


def _questions(sheet: Sheet, found: Document, watched: Sequence[Mapping[str, Any]]) -> None:
    sheet.y += 28
    sheet.text(0, "Real resolvers in Pods: how many questions their look-ups sent to each server", "head")
    sheet.y += 6
    servers = [server["name"] for server in found["servers"]]
    most = max(max(entry["asked"].values()) for entry in watched)
    for entry in watched:
        _resolver(sheet, entry, servers, most)


def _resolver(sheet: Sheet, entry: Mapping[str, Any], servers: Sequence[str], most: int) -> None:
    left, room = 230, WIDTH - 230 - 150
    sheet.y += ROW
    sheet.text(0, entry["name"].rpartition("/")[2])
    sheet.text(left - 16, f"{entry['checks']} look-ups", "soft right")
    for index, server in enumerate(servers[:2]):
        asked = entry["asked"].get(server, 0)
        sheet.box(left, room * asked / max(most, 1), 6, f"s{index}", -10 + 8 * index)
    numbers = [f"{entry['asked'].get(server, 0):,}" for server in servers[:2]]
    sheet.text(WIDTH, " / ".join(numbers), "soft right")


def main(words: Sequence[str]) -> int:
    """Draws the picture of a JSON report; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m conformance.report.picture", description=main.__doc__)
    parser.add_argument("report", type=Path, metavar="REPORT.json")
    parser.add_argument("picture", type=Path, metavar="PICTURE.svg")
    options = parser.parse_args(words)
    options.picture.write_text(draw(json.loads(options.report.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
