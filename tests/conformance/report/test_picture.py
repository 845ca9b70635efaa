"""The picture for people who do not run anything."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from conformance.report.document import document
from conformance.report.document import write as write_document
from conformance.report.picture import draw, main
from tests.conformance.report import sample

FOUND = document(sample.run(), sample.TEXTS)


def kinds(svg: str) -> list[str]:
    """What the rectangles are, in their order."""
    return [
        element.get("class", "") for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect")
    ]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_cell_has_the_states_of_both_servers() -> None:
    shown = kinds(draw(FOUND))
    cells = [tuple(shown[place + 1 : place + 3]) for place, kind in enumerate(shown) if kind == "cell"]
    assert cells == [
        ("passes", "passes"),
        ("fails", "passes"),
        ("passes", "passes"),
        ("passes", "departs"),
        ("passes", "passes"),
        ("not-covered", "not-covered"),
        ("passes", "passes"),
        ("passes", "passes"),
        ("skipped", "skipped"),
        ("not-covered", "not-covered"),
        ("waits", "passes"),
    ]


def test_words() -> None:
    shown = texts(draw(FOUND))
    assert shown[:2] == [
        "pydns-0.1.0 beside CoreDNS-1.14.7",
        "does not hold: 17 checks, 1 problems, in 1 min 23 s; 2026-11-30",
    ]
    assert shown[-6:] == ["glibc", "3 look-ups", "18 / 18", "go", "3 look-ups", "18 / 18"]


def test_one_server_and_no_resolvers() -> None:
    (outcome,) = [outcome for outcome in sample.outcomes() if outcome.name == "ci/autopath"]
    shown = draw(document(sample.run(outcomes=(outcome,)), {}))
    assert "Real resolvers" not in shown


def test_the_same_report_gives_the_same_picture(tmp_path: Path) -> None:
    report, picture = tmp_path / "report.json", tmp_path / "picture.svg"
    write_document(FOUND, report)
    assert main([str(report), str(picture)]) == 0
    assert picture.read_text() == draw(json.loads(report.read_text())) == draw(FOUND)
