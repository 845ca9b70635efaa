"""Figures, bounds and what becomes of a line."""

from __future__ import annotations

import math

import pytest

from conformance.bench.finding import Bound, Figure, Finding, Result, quantile, slope
from tests.conformance.bench.sample import ABSENT, LATENCY, LOST, MIX, VOID


def test_a_ratio_is_that_of_the_medians() -> None:
    figure = MIX.finding.figures[0]
    assert (figure.value, figure.their_value, figure.ratio) == (100_000, 20_000, 5)


@pytest.mark.parametrize(
    ("bound", "met", "text"),
    [
        (Bound("x", 5), True, "≥ 5"),
        (Bound("x", 5.1), False, "≥ 5.1"),
        (Bound("x", 5, at_most=True), True, "≤ 5"),
        (Bound("x", 4.9, at_most=True), False, "≤ 4.9"),
        (Bound("x", 10, at_most=True, absolute=True), True, "≤ 10 MB"),
        (Bound("x", 9, at_most=True, absolute=True), False, "≤ 9 MB"),
        (Bound("x", 10, absolute=True), True, "≥ 10 MB"),
    ],
)
def test_a_bound_is_of_the_ratio_or_of_the_value(bound: Bound, met: bool, text: str) -> None:
    assert bound.met(Figure("x", [10.0], theirs=[2.0])) is met
    assert bound.text("MB") == text


@pytest.mark.parametrize("at_most", [True, False])
def test_no_figure_meets_no_bound(at_most: bool) -> None:
    assert not Bound("x", 1, at_most=at_most).met(Figure("x", [1.0]))
    assert not Bound("x", 1, at_most=at_most, absolute=True).met(Figure("x", []))


def test_marks() -> None:
    assert [row.mark for row in MIX.rows] == ["pass", "pass", "left out"]
    assert [row.mark for row in LATENCY.rows] == ["FAIL"], "one of its two bounds is missed"
    assert [row.mark for row in LOST.rows] == ["fault"], "a fault fails the line whatever its figures"
    assert [result.passed for result in (MIX, LATENCY, LOST, ABSENT)] == [True, False, False, True]


def test_a_fault_of_the_server_beside_fails_nothing() -> None:
    """There is no ratio to judge then; a bound of the figure itself still holds."""
    assert [row.mark for row in VOID.rows] == ["void", "pass"]
    assert VOID.passed
    slow = Result("x", VOID.bounds, Finding([Figure("p50", [6.0], theirs=[9.0])], their_faults={"CoreDNS": ["lost"]}))
    assert not slow.passed


def test_who_failed() -> None:
    finding = Finding()
    finding.blame("subject", False, ["a", "b"])
    finding.blame("CoreDNS", True, [])
    assert (finding.faults, finding.their_faults) == (["subject: a", "subject: b"], {})
    finding.blame("CoreDNS", True, ["c"])
    finding.blame("CoreDNS", True, ["d"])
    assert finding.their_faults == {"CoreDNS": ["c", "d"]}


def test_a_bound_holds_its_own_figure_only() -> None:
    result = Result("x", [Bound("a", 2, "CoreDNS")], Finding([Figure("a", [1.0], "unbound", [1.0])]))
    assert (result.rows[0].mark, result.rows[0].bounds_text, result.passed) == ("", "", True)


def test_slope() -> None:
    assert slope({0: 1, 10: 21, 20: 41}) == 2
    assert slope({1: 0, 2: 0, 3: 3}) == 1.5
    assert math.isnan(slope({1: 1}))


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.99, 99), (0.999, 100), (1, 100), (0.001, 1)])
def test_quantile_is_the_nearest_rank(share: float, value: float) -> None:
    assert quantile([float(number) for number in range(1, 101)], share) == value
    assert math.isnan(quantile([], share))
