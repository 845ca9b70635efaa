"""A run as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

from conformance.bench.picture import LEFT, draw, slower
from tests.conformance.bench.sample import sample

SVG = "{http://www.w3.org/2000/svg}"


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_bars_and_curves() -> None:
    root = ElementTree.fromstring(draw(sample()))
    found = texts(root)
    assert {"mix: per CPU-s", "mix: q/s : CoreDNS, 2 cores", "mix, 3,000 q/s: p99", "headless: per CPU-s"} <= {*found}
    assert not any("unbound" in text for text in found), "there is no figure beside it"
    kinds = [element.get("class") for element in root.iter(f"{SVG}rect")]
    assert (kinds.count("good"), kinds.count("bad"), kinds.count("plain")) == (4, 3, 1)
    lines = [element.get("class") for element in root.iter(f"{SVG}polyline")]
    assert (lines.count("bound"), lines.count("curve c0"), lines.count("curve c1")) == (6, 1, 1)
    assert "@media (prefers-color-scheme: dark)" in (root[0].text or "")


def test_a_bar_is_as_long_as_its_ratio() -> None:
    root = ElementTree.fromstring(draw(sample()))
    widths = [float(box.get("width", 0)) for box in root.iter(f"{SVG}rect") if box.get("x") == str(LEFT)]
    per_cpu, rate, headless, *_ = widths
    assert round(per_cpu / headless, 2) == round(5 / 9, 2)
    assert round(rate / per_cpu, 2) == round(95 / 28 / 5, 2)


def test_figures_with_a_bound_of_their_own_are_listed() -> None:
    found = texts(ElementTree.fromstring(draw(sample())))
    assert {"burst: p50", "4 ms, ≤ 1, ≤ 5 ms"} <= {*found}


def test_where_a_curve_is_above_the_other() -> None:
    curves = {"a": [(0.5, 1.0), (0.9, 3.0), (0.999, 5.0)], "CoreDNS": [(0.5, 2.0), (0.9, 2.0), (0.999, 4.0)]}
    assert slower(curves, "a") == "a is slower at 90%, 99.9%"
    assert slower(curves | {"a": [(0.5, 1.0)]}, "a") == ""
    assert slower({}, "a") == ""


def test_the_same_run_gives_the_same_octets() -> None:
    assert draw(sample()) == draw(sample())


def test_nothing_measured_is_a_picture_too() -> None:
    empty = sample() | {"lines": []}
    assert ElementTree.fromstring(draw(empty)).tag == f"{SVG}svg"
