"""Every case as one test: `pytest conformance --reference auto|coredns|recorded|expected`."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from conformance.__main__ import make_plan, real_api_wanted
from conformance.api import Clusters, FakeClusters, RealClusters
from conformance.case import Case, load_cases
from conformance.report import render
from conformance.runner import Plan, run_case

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="session")
def plan(request: pytest.FixtureRequest) -> Plan:
    options = {name: request.config.getoption(name) for name in ("subject", "reference", "packet_cache")}
    return make_plan(argparse.Namespace(**options))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def clusters(request: pytest.FixtureRequest) -> AsyncIterator[Clusters]:
    if not real_api_wanted(request.config.getoption("api")):
        yield FakeClusters()
        return
    with tempfile.TemporaryDirectory(prefix="conformance-cluster-") as folder:
        async with RealClusters(Path(folder)) as real:
            yield real


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.name)
async def test_case(case: Case, plan: Plan, clusters: Clusters) -> None:
    outcome = await run_case(case, plan, clusters)
    assert not outcome.problems, "\n" + "\n".join(map(render, outcome.problems))
