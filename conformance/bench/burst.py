"""A line of bursts: many slices change at once while queries come at a steady rate; how long answers take then.

Each round starts each server anew, on a core of its own as under any load. The API, what writes to it and the load
have the other cores: on two cores they would else take the server's, and latencies would say when it got one.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from statistics import median

from conformance.bench import asking, machine, objects, pace, questions, writer
from conformance.bench.contestants import CLUSTER, OURS, REFERENCE, Contestant, Server
from conformance.bench.finding import Figure, Finding, quantile
from conformance.bench.pace import Pace
from conformance.bench.processes import confined
from conformance.bench.programs import NEEDS
from conformance.bench.questions import Asked
from conformance.bench.setting import Options, Setting

SLICES = 1000
RATE = 3000.0
SECONDS = 8.0
BEFORE = 1.0
"""Seconds of queries before the burst."""

AFTER = 0.5
"""Seconds after the API took the last change that belong to the burst."""

LOOKED_AT = 50
"""Headless Services whose addresses must be the new ones in the end."""

DURING = "p99 of answers during the burst"


@dataclass(frozen=True)
class Seen:
    """One burst: when it began and ended (seconds since 1970); seconds that the server used and waited for a core."""

    begin: float
    end: float
    cpu: float
    waited: float


@dataclass(frozen=True)
class Run:
    """The queries of one run, and the burst among them."""

    paced: Pace
    seen: Seen

    @property
    def latencies(self) -> list[float]:
        """Milliseconds, in order of size, of the queries that were due during the burst."""
        begin, end = ((moment - self.paced.started) * 1000 for moment in (self.seen.begin, self.seen.end))
        return self.paced.latencies(begin, end)


@dataclass(frozen=True)
class Burst:
    """`SLICES` EndpointSlices change as fast as the API takes it."""

    needs: Sequence[str] = NEEDS

    def seconds(self, options: Options) -> float:
        return 2 * options.rounds * (SECONDS + pace.WARM_UP + 3)

    async def run(self, setting: Setting) -> Finding:
        asked = questions.mix(setting.api.services)
        path = await asyncio.to_thread(pace.write, asked, setting.folder / "paced")
        await setting.only([], "")
        runs = dict[Contestant, list[Run]]()
        for turn in range(1, setting.options.rounds + 1):
            for contestant in (OURS, REFERENCE):
                with confined([os.getpid(), *setting.api.pids], machine.other_cores()):
                    run = await one_burst(setting, contestant, path)
                runs.setdefault(contestant, []).append(run)
                lasted = run.seen.end - run.seen.begin
                setting.say(f"{contestant.name}, burst {turn}: {lasted:.2f} s, {pace.told(run.latencies)}")
        return conclude(runs, asked)


def conclude(runs: Mapping[Contestant, Sequence[Run]], asked: Sequence[Asked]) -> Finding:
    """The figure, what was wrong with answers, and why they were late."""
    finding = Finding()
    for contestant, some in runs.items():
        finding.remarks.append(f"{contestant.name}: {told([run.seen for run in some])}")
        for run in some:
            finding.blame(contestant.name, contestant is not OURS, pace.faults(run.paced, asked))
    finding.remarks += pace.unhurried([run.paced for some in runs.values() for run in some])
    ours, theirs = ([quantile(run.latencies, 0.99) for run in runs[one]] for one in (OURS, REFERENCE))
    finding.figures.append(Figure(DURING, ours, theirs=theirs, unit="ms"))
    return finding


def told(bursts: Sequence[Seen]) -> str:
    """Why answers were late: the medians of what a server did and had to wait for."""
    length, cpu, waited = (
        median(values) for values in zip(*((one.end - one.begin, one.cpu, one.waited) for one in bursts), strict=True)
    )
    return f"a burst took {length:.2f} s, used {cpu:.2f} s of processor time, waited {waited:.2f} s for a core"


async def one_burst(setting: Setting, contestant: Contestant, path: Path) -> Run:
    """A server started, asked, and changed. Raises `BenchError`."""
    ready = questions.synced(setting.api.services)
    async with await setting.fresh(contestant, CLUSTER, ready) as server:
        await pace.warm(setting, server, path)
        pacing = asyncio.create_task(pace.run(setting, server, path, RATE, SECONDS))
        try:
            seen = await burst(setting, server)
            return Run(await pacing, seen)
        finally:
            pacing.cancel()
            await asyncio.gather(pacing, return_exceptions=True)


async def burst(setting: Setting, server: Server) -> Seen:
    """All of it, to the end of `AFTER`. Raises `BenchError` where the answers do not follow."""
    await asyncio.sleep(BEFORE)
    begin, before = time.time(), (server.process.cpu_seconds, server.process.waited_seconds)
    numbers = range(min(SLICES, setting.api.services))
    addresses = await asyncio.to_thread(writer.burst, setting.api, numbers)
    await asyncio.sleep(AFTER)
    after = (server.process.cpu_seconds, server.process.waited_seconds)
    seen = Seen(begin, time.time(), *(late - early for late, early in zip(after, before, strict=True)))
    await asyncio.to_thread(look, server, addresses)
    return seen


def look(server: Server, addresses: Mapping[int, Sequence[str]]) -> None:
    """Waits for the new addresses of some headless Services. Raises `BenchError`."""
    headless = [number for number in addresses if objects.is_headless(number)]
    for number in random.Random(1).sample(headless, min(LOOKED_AT, len(headless))):
        name = f"{objects.name_of(number)}.{objects.namespace_of(number)}.svc.{questions.ZONE}"
        right = partial(asking.has_addresses, [IPv4Address(text) for text in addresses[number]])
        query = asking.packet(Asked(name, "A"), asking.EDNS)
        asking.until(server.port, query, right, server.process.check, 10, name)
