"""The demands of one area asked of every server, and judged. Prints nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.results import Outcome, Verdict
from conformance.setting import Absent
from conformance.spec import clusterip, externalname, headless
from conformance.spec.demand import Demand, Judgement, judge, question
from conformance.spec.ground import Ground, Server
from conformance.spec.wants import Got, read
from conformance.wire.compare import compare
from conformance.wire.message import Record, Reply
from conformance.wire.question import Question

THINGS = {
    clusterip.AREA: "Services with a ClusterIP",
    headless.AREA: "headless Services",
    externalname.AREA: "ExternalName Services",
}
"""What an area is about where it is about one kind of Service."""


async def judge_area(ground: Ground, area: str, outcome: Outcome) -> None:
    """Asks and judges the demands of one area. Raises `Absent` where the objects give none."""
    demands = [demand for demand in ground.demands if demand.area == area]
    if not demands:
        raise Absent(f"this cluster has no {THINGS.get(area, 'objects that it is about')}")
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
