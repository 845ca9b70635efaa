"""A server that runs already and breaks its answers in one way does not pass the demands, whichever way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from conformance.plan import Plan
from conformance.results import Outcome
from conformance.setting import Setting
from conformance.spec.demands import AREAS
from conformance.spec.ground import Ground, Server
from conformance.spec.judging import judge_area
from conformance.spec.started import started
from conformance.wire.client import Asker
from conformance.wire.question import Question
from tests.conformance.broken_server import WAYS


@dataclass(frozen=True)
class Broken:
    """A way to a server on which each reply is changed."""

    asker: Asker
    way: str

    async def ask(self, question: Question) -> bytes | None:
        packet = await self.asker.ask(question)
        return packet and WAYS[self.way](question.wire(), packet)


@asynccontextmanager
async def ground() -> AsyncIterator[Ground]:
    """pydns with the standard objects."""
    async with Setting(Plan(reference="expected"), real_api=False) as setting, started(setting) as found:
        yield found


async def areas_with_faults(found: Ground, way: str, word: str) -> set[str]:
    """The areas in which a fault begins with a word; with an empty one those with any fault."""
    servers = [Server(server.name, Broken(server.asker, way)) for server in found.servers]
    broken, areas = replace(found, servers=servers), set()
    for area in AREAS:
        outcome = Outcome(area)
        await judge_area(broken, area, outcome)
        faults = [fault for verdict in outcome.verdicts for each in verdict.faults.values() for fault in each]
        areas |= {area} if any(fault.startswith(word) for fault in faults) else set()
    return areas


ALL = set(AREAS)


@pytest.mark.parametrize(
    ("way", "word", "areas"),
    [
        ("nothing", "", set()),
        ("wrong_rcode", "REFUSED", ALL),
        ("dropped_record", "missing ", ALL),
        ("lower_cased_question", "the question came back as ", {"resolvers"}),
        ("garbage", "not a DNS message: ", ALL),
        ("wrong_ttl", "", set()),  # nobody demands a certain TTL
    ],
)
async def test_each_kind_of_wrong_answer(way: str, word: str, areas: set[str]) -> None:
    async with ground() as found:
        assert await areas_with_faults(found, way, word) == areas
