"""Slopes over the sizes of the cluster."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from conformance.bench import growth
from conformance.bench.api import Api
from conformance.bench.finding import PER_CPU
from conformance.bench.growth import Growth
from conformance.bench.setting import Options, Points, Setting
from conformance.bench.start import MEMORY, START, START_CPU
from tests.conformance.bench.test_runner import NoApi

STRAIGHT = {100: 70.1, 1000: 71.0, 10_000: 80.0, 50_000: 120.0}


def setting(points: Points, theirs: Points | None = None) -> Setting:
    api: Api = NoApi()
    return Setting(Options(), api, Path(), points=points, their_points=theirs or {})


async def test_a_straight_line() -> None:
    speed = {100: 100.0, 1000: 99.0, 10_000: 95.0, 50_000: 90.0}
    starts = {100: 0.2, 1000: 0.2, 10_000: 0.3, 50_000: 1.5}
    points = {PER_CPU: speed, MEMORY: STRAIGHT, START: starts, START_CPU: STRAIGHT}
    finding = await Growth(tuple(STRAIGHT)).run(setting(points))
    values = {figure.what: figure.value for figure in finding.figures}
    assert values[growth.CPU_BEND] == pytest.approx(1)
    assert values[growth.SPEED_LEFT] == 0.9
    assert values[growth.MEMORY_SLOPE] == pytest.approx(1)
    assert values[growth.MEMORY_BEND] == pytest.approx(1)
    assert values[growth.START_BEND] == pytest.approx(0.03 / 0.0103, rel=0.1)


async def test_corednss_slopes_stand_beside_ours() -> None:
    points = {PER_CPU: STRAIGHT, MEMORY: STRAIGHT, START: STRAIGHT, START_CPU: STRAIGHT}
    steeper = {size: 3 * value + (size > 10_000) * 120 for size, value in STRAIGHT.items()}
    finding = await Growth(tuple(STRAIGHT)).run(setting(points, {START: steeper}))
    figures = {figure.what: figure for figure in finding.figures}
    assert figures[growth.START_BEND].their_value == pytest.approx(2)
    assert figures[growth.START_BEND].ratio == pytest.approx(0.5)
    assert math.isnan(figures[growth.CPU_BEND].ratio), "not measured, so no ratio is at its bound"


async def test_a_size_that_was_not_measured() -> None:
    points = {PER_CPU: {100: 1.0}, MEMORY: STRAIGHT, START: STRAIGHT, START_CPU: STRAIGHT}
    finding = await Growth(tuple(STRAIGHT)).run(setting(points))
    assert finding.left_out == f"not measured at each of 100, 1,000, 10,000, 50,000 Services: {PER_CPU}"


def test_too_few_points_make_no_bend() -> None:
    assert math.isnan(growth.bend_of({100: 1.0, 1000: 2.0}))
