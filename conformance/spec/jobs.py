"""The demands as jobs of the suite, one for each area: asked of every server, and judged. Prints nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from conformance.compare import compare
from conformance.live.outside import outside
from conformance.message import Record, Reply
from conformance.plan import Plan
from conformance.question import Question
from conformance.results import Outcome, Verdict
from conformance.setting import Job, Setting, Skipped
from conformance.spec.demand import Demand, Judgement, judge, question
from conformance.spec.demands import AREAS
from conformance.spec.ground import Ground, GroundError, Server
from conformance.spec.started import started
from conformance.spec.wants import Got, read
from conformance.subjects import StartError

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

    In the run's own task, so that an interruption gets there at once, and an error ends the run. Raises `GroundError`.
    """
    if setting.plan.outside and any(isinstance(job, SpecJob) for job in jobs):
        async with outside(setting) as ground:
            setting.provide(outside, ground)
            yield
    else:
        yield


async def judge_area(ground: Ground, area: str, outcome: Outcome) -> None:
    """Asks and judges the demands of one area. Raises `Skipped` where the objects give none."""
    demands = [demand for demand in ground.demands if demand.area == area]
    if not demands:
        raise Skipped("no objects in this cluster that it is about")
    outcome.api = ground.api
    got = await ground.ask_all(demand.question for demand in demands)
    unlike = _unlike(ground, got)
    for demand in demands:
        judged = {server.name: await _judged(ground, server, demand, got) for server in ground.servers}
        faults = {name: judgement.faults for name, judgement in judged.items()}
        subject = ground.servers[-1].name
        mismatches = unlike.pop(demand.question, ())
        if ground.alike:
            faults[subject] += mismatches
        notes = () if ground.alike else mismatches
        departures = {name: (judgement.departure,) for name, judgement in judged.items() if judgement.departure}
        outcome.verdicts.append(_verdict(outcome.name, demand, faults, departures, notes))


def _verdict(
    job: str,
    demand: Demand,
    faults: Mapping[str, tuple[str, ...]],
    departures: Mapping[str, tuple[str, ...]],
    notes: tuple[str, ...],
) -> Verdict:
    place = f"{job} [{' '.join(demand.tags)}]"
    return Verdict(job, place, demand.question.text, faults, demand.tags, departures=departures, notes=notes)


Replies = Mapping[tuple[str, Question], Got]


async def _judged(ground: Ground, server: Server, demand: Demand, got: Replies) -> Judgement:
    """By the demand; a CoreDNS that no longer departs where it is listed is a fault of the list."""
    reply = got[server.name, demand.question]
    judgement = judge(demand, reply)
    if server.name == "coredns" and demand.departure and not (judgement.faults or judgement.departure):
        return Judgement((f"does not show the departure {demand.departure} any more: take it off the list",))
    if demand.follow and not judgement.faults:
        return Judgement(await _followed(ground, server, demand, reply.reply))
    return judgement


async def _followed(ground: Ground, server: Server, demand: Demand, reply: Reply) -> tuple[str, ...]:
    """The addresses that no target of the SRV records leads to."""
    targets = {record.data.split()[1] for record in read(reply.answer) if record.rtype == "SRV"}
    asked = [question(target, rtype) for target in sorted(targets) for rtype in ("A", "AAAA")]
    got = await asyncio.gather(*(ground.ask(server, each) for each in asked))
    found = {record.data for each in got for record in read(each.reply.answer)}
    missing = sorted(demand.follow - found)
    return (f"no target leads to {' '.join(missing)} (targets: {' '.join(sorted(targets))})",) if missing else ()


# --- whole replies -----------------------------------------------------------------------------------------------


def _unlike(ground: Ground, got: Replies) -> dict[Question, tuple[str, ...]]:
    """Where the subject's reply is not CoreDNS's, by question."""
    *references, subject = [server.name for server in ground.servers]
    if not references:
        return {}
    asked = {question for _, question in got}
    unlike = {each: _mismatches(got[references[0], each].reply, got[subject, each].reply, ground.alike)
              for each in asked}  # fmt: skip
    return {each: mismatches for each, mismatches in unlike.items() if mismatches}


WHATEVER_TTL = 2**31
"""Seconds that no two TTLs are apart: a server that runs elsewhere has TTLs of its own."""


def _mismatches(wanted: Reply, got: Reply, alike: bool) -> tuple[str, ...]:
    if not alike or wanted.question.endswith(" PTR"):  # a cache keeps the letter case of whoever asked first
        wanted, got = _lower(wanted), _lower(got)
    if {"tc"} <= wanted.flags & got.flags:  # which records fit depends on their order, and that on chance
        wanted, got = wanted.with_sections(_NOTHING), got.with_sections(_NOTHING)
    mismatches = compare(wanted, got, slack=1 if alike else WHATEVER_TTL)
    return tuple(f"otherwise than CoreDNS: {mismatch}" for mismatch in mismatches)


_NOTHING: Mapping[str, Sequence[Record]] = {"answer": (), "authority": (), "additional": ()}


def _lower(reply: Reply) -> Reply:
    """The reply with owners and data in lower case."""
    sections = {name: [replace(each, owner=each.owner.lower(), rdata=each.rdata.lower()) for each in found]
                for name, found in reply.sections.items()}  # fmt: skip
    return reply.with_sections(sections)
