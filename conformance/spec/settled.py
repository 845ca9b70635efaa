"""Waits until a server serves what was created last. Knows no API."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from conformance.spec.demand import Demand, judge
from conformance.spec.ground import GroundError, Server

SETTLE_TIME = 60.0
"""Seconds within which new objects must be served; a cache in front may have kept their denial for 30."""

IN_A_ROW = 10
"""How often a name must be answered well: there may be several servers behind one address."""

PAUSE = 0.1


async def settle(server: Server, demands: Sequence[Demand], seconds: float = SETTLE_TIME) -> None:
    """Returns once the names that were created last are served, or when time is up and some of them are.

    Raises `GroundError`, with what was said, when none is.
    """
    chosen = sentinels(demands)
    deadline = asyncio.get_running_loop().time() + seconds
    well = 0
    while well < IN_A_ROW:
        faults = {demand: found for demand in chosen if (found := await _faults(server, demand))}
        well = 0 if faults else well + 1
        if faults and asyncio.get_running_loop().time() > deadline:
            _give_up(server, faults, len(chosen), seconds)
            return
        if faults:
            await asyncio.sleep(PAUSE)


def _give_up(server: Server, faults: Mapping[Demand, tuple[str, ...]], asked: int, seconds: float) -> None:
    """A server that serves nothing serves other objects; one that serves some is to be judged by all demands."""
    if len(faults) == asked:
        demand, said = next(iter(faults.items()))
        raise GroundError(f"{server.name} does not serve {demand.question.text} after {seconds:.0f} s: {said[0]}")


async def _faults(server: Server, demand: Demand) -> tuple[str, ...]:
    return judge(demand, await server.ask(demand.question)).faults


def sentinels(demands: Sequence[Demand]) -> list[Demand]:
    """A demand for each kind of object: the last headless Service's endpoints and the last Service's address."""
    by_number = {number: [demand for demand in demands if demand.tags == (number,)] for number in NUMBERS}
    return [found[-1] for found in by_number.values() if found]


NUMBERS = ("R3", "R4", "R5", "R11", "R14", "R17", "R24")
"""Requirements that a Service or a slice alone fulfils; which of them there are depends on the cluster."""
