"""Every job as one test: `pytest conformance --reference auto|coredns|recorded|expected`."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from conformance.options import make_plan, real_api_wanted
from conformance.plan import Plan
from conformance.report.terminal import render
from conformance.setting import Job, Setting
from conformance.suite import load_jobs, run_job

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def setting(request: pytest.FixtureRequest) -> AsyncIterator[Setting]:
    options = {name: request.config.getoption(name) for name in ("subject", "reference", "packet_cache")}
    async with Setting(
        make_plan(argparse.Namespace(**options)), real_api_wanted(request.config.getoption("api"))
    ) as setting:
        yield setting


@pytest.mark.parametrize("job", load_jobs(Plan()), ids=lambda job: job.name)
async def test_job(job: Job, setting: Setting) -> None:
    outcome = await run_job(job, setting)
    assert not outcome.problems, "\n" + "\n".join(map(render, outcome.problems))
    if outcome.skipped or (outcome.waits and not outcome.verdicts):
        pytest.skip(outcome.skipped or outcome.waits)
