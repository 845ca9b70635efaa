"""The table of lines."""

from __future__ import annotations

import pytest

from conformance.bench.finding import COREDNS, PER_CPU, RATE, TWO_CORES, Bound
from conformance.bench.lines import LINES, SIZES, Line
from conformance.bench.load import AFTER_LOAD, Load
from conformance.bench.setting import Options
from conformance.bench.start import MEMORY, START, Start

LOADS = [pytest.param(line, line.way, id=line.name) for line in LINES if isinstance(line.way, Load)]


def test_names_are_each_their_own() -> None:
    assert len({line.name for line in LINES}) == len(LINES)


def test_the_cluster_only_grows() -> None:
    assert [line.services for line in LINES] == sorted(line.services for line in LINES)


@pytest.mark.parametrize(("line", "way"), LOADS)
def test_a_bound_of_a_load_is_about_a_figure_that_it_gives(line: Line, way: Load) -> None:
    given = {(what, one.name) for one in way.contestants(Options())[1:] for what in one.whats}
    given |= {(AFTER_LOAD, COREDNS)} if way.memory else set()
    assert {(bound.what, bound.beside) for bound in line.bounds} <= given


@pytest.mark.parametrize(("line", "way"), LOADS)
def test_a_quick_run_has_coredns_alone_beside(line: Line, way: Load) -> None:
    assert not line.quick or [one.name for one in way.contestants(Options(quick=True))] == ["subject", COREDNS]


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("one ClusterIP name", Bound(PER_CPU, 5)),
        ("one ClusterIP name", Bound(RATE, 1, TWO_CORES)),
        ("one ClusterIP name", Bound(PER_CPU, 0.3, "C echo")),
        ("NXDOMAIN, every name new", Bound(PER_CPU, 2)),
        ("forwarded, every name new", Bound(PER_CPU, 0.7, "unbound")),
        ("mix over TCP, 50 connections", Bound(PER_CPU, 3)),
        ("mix, 10,000 Services", Bound(AFTER_LOAD, 150, at_most=True, absolute=True)),
        ("start, 10,000 Services", Bound(START, 3, at_most=True)),
        ("start, 10,000 Services", Bound(MEMORY, 0.8, at_most=True)),
        ("mix, 10,000 q/s open loop", Bound("p99.9", 1, at_most=True)),
    ],
)
def test_bounds(name: str, bound: Bound) -> None:
    (line,) = (line for line in LINES if line.name == name)
    assert bound in line.bounds


def test_all_of_it_takes_about_twenty_minutes() -> None:
    assert sum(line.way.seconds(Options()) for line in LINES) < 22 * 60
    quick = Options(rounds=3, seconds=1.5, quick=True)
    assert sum(line.way.seconds(quick) for line in LINES if line.quick) < 120


def test_growth_has_one_load_and_one_start_of_each_size() -> None:
    loads = [line.services for line in LINES if isinstance(line.way, Load) and line.way.grows]
    starts = [line.services for line in LINES if isinstance(line.way, Start) and line.services]
    assert loads == starts == list(SIZES)
