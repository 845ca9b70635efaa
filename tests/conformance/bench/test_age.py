"""What is other now than it was in a run."""

from __future__ import annotations

from dataclasses import replace

from conformance.bench.age import since
from conformance.bench.finding import PER_CPU, Bound
from conformance.bench.lines import Line
from conformance.bench.start import Start
from tests.conformance.bench.sample import RESULTS, sample

NOW = [Line(result.line, 0, Start(0), result.bounds) for result in RESULTS]


def test_nothing() -> None:
    assert since(sample(), NOW) == []


def test_lines_that_came_and_went() -> None:
    assert since(sample(), [*NOW[1:], replace(NOW[0], name="a"), replace(NOW[0], name="b")]) == [
        "not in this run yet: a; b", "measured no longer: mix"
    ]  # fmt: skip


def test_another_bound() -> None:
    higher = [Bound(PER_CPU, 4.5), *NOW[0].bounds[1:]]
    assert since(sample(), [replace(NOW[0], bounds=higher), *NOW[1:]]) == [
        "mix: has other bounds since this run, for queries per CPU-second"
    ]
