"""A run as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

from conformance.bench.picture import LEFT, draw
from tests.conformance.bench.sample import sample

SVG = "{http://www.w3.org/2000/svg}"


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_bars_and_curves() -> None:
    root = ElementTree.fromstring(draw(sample()))
    found = texts(root)
    assert {"mix: per CPU-s", "mix: q/s : CoreDNS on two cores", "mix, 3,000 q/s: p99", "headless: per CPU-s"} <= {
        *found
    }
    assert not any("unbound" in text for text in found), "there is no figure beside it"
    kinds = [element.get("class") for element in root.iter(f"{SVG}rect")]
    assert (kinds.count("good"), kinds.count("bad")) == (2, 2)
    lines = [element.get("class") for element in root.iter(f"{SVG}polyline")]
    assert (lines.count("floor"), lines.count("curve c0"), lines.count("curve c1")) == (4, 1, 1)
    assert "@media (prefers-color-scheme: dark)" in (root[0].text or "")


def test_a_bar_is_as_long_as_its_ratio() -> None:
    root = ElementTree.fromstring(draw(sample()))
    widths = [float(box.get("width", 0)) for box in root.iter(f"{SVG}rect") if box.get("x") == str(LEFT)]
    per_cpu, rate, headless, _ = widths
    assert round(per_cpu / headless, 2) == round(5 / 9, 2)
    assert round(rate / per_cpu, 2) == round(95 / 28 / 5, 2)


def test_the_same_run_gives_the_same_octets() -> None:
    assert draw(sample()) == draw(sample())


def test_nothing_measured_is_a_picture_too() -> None:
    empty = sample() | {"lines": []}
    assert ElementTree.fromstring(draw(empty)).tag == f"{SVG}svg"
