"""The specification as jobs of the suite, one for each area of demands, on servers started here or running already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from conformance.clients import lab
from conformance.clients.jobs import ClientJob
from conformance.live.outside import outside
from conformance.plan import Plan
from conformance.results import Outcome
from conformance.servers.subjects import StartError
from conformance.setting import Job, Setting, Skipped
from conformance.spec.demands import AREAS
from conformance.spec.ground import GroundError
from conformance.spec.judging import judge_area
from conformance.spec.started import started

LIMIT = 120.0
"""Seconds for one area, the start of servers and API included."""

TAGS: Mapping[str, str] = {
    "general": "R1 R2 X1 X2 X3 X10 X11",
    "clusterip": "R2 R3 R4 R5 R6 R7 R8 R9 R10 X2 X9",
    "headless": "R2 R11 R12 R13 R14 R15 R16 R17 R18 R19 R20 R21 R22 R23 R26 X2 X4 X9",
    "externalname": "R2 R24 R25",
    "resolvers": "X1 X2 X3 X4 X5 X6 X7 X8 X10 X11 X12",
}
"""The requirements that each area covers on the standard objects."""


@dataclass(frozen=True)
class SpecJob:
    """One area of demands."""

    area: str
    limit: float = LIMIT

    @property
    def name(self) -> str:
        """spec/AREA."""
        return f"spec/{self.area}"

    @property
    def about(self) -> str:
        """What the area is about."""
        return AREAS[self.area]

    @property
    def tags(self) -> tuple[str, ...]:
        """What it covers on the standard objects."""
        return tuple(TAGS[self.area].split())

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        """Asks all its questions at once and judges the replies."""
        try:
            ground = await setting.shared(outside if setting.plan.outside else started)
            await judge_area(ground, self.area, outcome)
        except (GroundError, StartError) as error:
            outcome.fail(setting.plan.subject, "start", str(error))


def jobs(plan: Plan) -> list[SpecJob]:
    """All areas."""
    return [SpecJob(area) for area in AREAS]


@asynccontextmanager
async def opened(jobs: Sequence[Job], setting: Setting) -> AsyncIterator[None]:
    """Opens, for jobs that need it, the ground of a server that runs already.

    In the run's own task, so that an interruption gets there at once, and an error ends the run: what each job would
    lack is told once. Raises `GroundError`.
    """
    if setting.plan.outside and any(isinstance(job, ClientJob) for job in jobs):
        await _check_world(setting.plan)
    if setting.plan.outside and any(isinstance(job, SpecJob) for job in jobs):
        async with outside(setting) as ground:
            setting.provide(outside, ground)
            yield
    else:
        yield


async def _check_world(plan: Plan) -> None:
    """Real resolvers were asked for: the server must serve what they look up. Raises `GroundError`."""
    try:
        await lab.outside(plan)
    except (Skipped, StartError) as error:
        raise GroundError(str(error)) from error
