"""A line of load: servers under the same queries in turns, A B A B …, by dnsperf.

Before it, each server's answers are looked at one by one; after it, rcodes and losses. Knows no names of lines.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from conformance.bench import asking, dnsperf, questions, writer
from conformance.bench.contestants import CLUSTER, FORWARD, OURS, REFERENCE, REFERENCE_TWO, Contestant, Server
from conformance.bench.dnsperf import Run
from conformance.bench.finding import PER_CPU, RATE, Figure, Finding
from conformance.bench.processes import BenchError
from conformance.bench.questions import Ask, Asked
from conformance.bench.setting import Options, Setting

WARM_UP = 2.0
"""Seconds of the run that is not counted."""

WARM_QUERIES = 40_000
"""So many must have been answered before what a server remembers, it remembers; a slow machine needs longer."""

WARM_LONGEST = 10.0
"""Seconds."""

OVERHEAD = 0.4
"""Seconds that a run takes longer than its length."""

SAMPLE = 60
"""Questions whose answers are looked at before the rounds."""

CHECK_TURN = 99
"""The turn of those questions, where every name is asked once: no round comes so far."""

ENOUGH_CHANGES = 0.95
"""What share of the changes that were wanted the API must have taken."""

AFTER_LOAD = "resident memory after load"


@dataclass(frozen=True)
class Load:
    """What is asked, of whom and how. `once`: each name is asked once, so that each turn has names of its own.

    `changes` are EndpointSlices that change each second meanwhile; `memory` is looked at after the rounds.
    `rounds` are so many where not the options' number. `grows`: what is found belongs to the line on growth.
    """

    ask: Ask
    beside: Sequence[Contestant] = (REFERENCE, REFERENCE_TWO)
    ours: Contestant = OURS
    corefile: str = CLUSTER
    transport: str = "udp"
    once: bool = False
    changes: float = 0
    rounds: int = 0
    memory: bool = False
    grows: bool = False
    needs: Sequence[str] = dnsperf.NEEDS

    def contestants(self, options: Options) -> list[Contestant]:
        """The server under test first; a quick run has only one beside it."""
        return [self.ours, *(self.beside[:1] if options.quick else self.beside)]

    def turns(self, options: Options) -> int:
        """Counted rounds."""
        return self.rounds or options.rounds

    @property
    def others_are(self) -> str:
        """Which other processes belong to the line."""
        if self.changes:
            return "the Kubernetes API and what changes it"
        return "the server that is forwarded to" if self.corefile == FORWARD else ""

    def seconds(self, options: Options) -> float:
        count = len(self.contestants(options))
        return (
            count * (0.5 + _warm_up(options) + OVERHEAD + self.turns(options) * (options.seconds + OVERHEAD))
            + 3 * self.once
        )

    async def run(self, setting: Setting) -> Finding:
        rounds = Rounds(self, setting)
        await rounds.start()
        if rounds.finding.left_out:
            return rounds.finding
        async with self._changing(setting, rounds):
            for turn in range(self.turns(setting.options) + 1):
                await rounds.play(turn)
        rounds.conclude()
        return rounds.finding

    @asynccontextmanager
    async def _changing(self, setting: Setting, rounds: Rounds) -> AsyncIterator[None]:
        if not self.changes:
            yield
            return
        async with writer.steady(setting.api, self.changes) as steady:
            yield
            reached = steady.reached
        rounds.finding.remarks.append(f"{reached:.0f} EndpointSlices changed each second")
        if reached < ENOUGH_CHANGES * self.changes:
            rounds.finding.faults.append(f"only {reached:.0f} of {self.changes:g} changes a second")


def _warm_up(options: Options) -> float:
    return WARM_UP / 2 if options.quick else WARM_UP


@dataclass
class Rounds:
    """One line on its way: who takes part, and their counted runs."""

    load: Load
    setting: Setting
    finding: Finding = field(default_factory=Finding)
    servers: dict[Contestant, Server] = field(default_factory=dict)
    runs: dict[Contestant, list[Run]] = field(default_factory=dict)
    away: dict[Contestant, str] = field(default_factory=dict)

    async def start(self) -> None:
        """Starts who takes part, and looks at their answers. Raises `BenchError` for one that must be there."""
        contestants = self.load.contestants(self.setting.options)
        await self.setting.only(contestants, self.load.corefile)
        sample = self._sample()
        for contestant in contestants:
            try:
                self.servers[contestant] = await self.setting.server(
                    contestant, self.load.corefile, self._ready(sample)
                )
            except BenchError as error:
                if not contestant.optional:
                    raise
                self.away[contestant] = str(error)
        if self.load.ours in self.away:
            self.finding.left_out = self.away[self.load.ours]
        else:
            await asyncio.to_thread(self._compare, sample)

    def _ready(self, sample: Sequence[Asked]) -> Sequence[Asked]:
        """What a server must answer before it is measured."""
        return questions.synced(self.setting.api.services) if self.load.corefile != FORWARD else sample[:3]

    def _sample(self) -> list[Asked]:
        asked = self.load.ask(self.setting.api.services, CHECK_TURN)
        return random.Random(1).sample(asked, min(SAMPLE, len(asked)))

    def _compare(self, sample: Sequence[Asked]) -> None:
        """Wrong answers are faults; those of an optional server keep it away."""
        reference = self.servers.get(REFERENCE, self.servers[self.load.ours])
        for contestant, server in self.servers.items():
            faults = asking.settled(sample, server.port, reference.port) if contestant.answers else []
            if faults:
                self._blame(contestant, f"{len(faults)} of {len(sample)} answers: {faults[0]}")

    def _blame(self, contestant: Contestant, fault: str) -> None:
        if contestant.optional and contestant is not self.load.ours:
            self.away.setdefault(contestant, fault)
        else:
            self.finding.blame(contestant.name, contestant is not self.load.ours, [fault])

    async def play(self, turn: int) -> None:
        """One run with each server; turn 0 warms up and is not counted."""
        asked = self.load.ask(self.setting.api.services, turn)
        path = self._file(asked, turn)
        for contestant, server in self.servers.items():
            if turn:
                await self._counted(contestant, asked, path, turn)
            else:
                await self._warm(server, path)
        path.unlink()

    async def _counted(self, contestant: Contestant, asked: Sequence[Asked], path: Path, turn: int) -> None:
        run = await self._run(self.servers[contestant], path, self.setting.options.seconds, f"round {turn}")
        self.runs.setdefault(contestant, []).append(run)
        for fault in faults(run, asked if contestant.answers else ()):
            self._blame(contestant, fault)

    async def _warm(self, server: Server, path: Path) -> None:
        """At least for a time, and for a number of queries where the same are asked again."""
        run = await self._run(server, path, _warm_up(self.setting.options), "warm-up")
        more = (WARM_QUERIES - run.queries) / max(1.0, run.per_second)
        if more > 0 and not self.load.once:
            await self._run(server, path, min(more, WARM_LONGEST), "longer warm-up")

    async def _run(self, server: Server, path: Path, seconds: float, what: str) -> Run:
        run = await dnsperf.run(server, path, seconds, self.load.transport, self.load.once)
        self.setting.say(f"{server.contestant.name}, {what}: {told(run)}")
        return run

    def _file(self, asked: Sequence[Asked], turn: int) -> Path:
        path = self.setting.folder / f"questions-{turn}"
        path.write_text(questions.lines(asked))
        return path

    def conclude(self) -> None:
        """Figures, remarks, and what later lines make of them."""
        ours = self.load.ours
        for contestant in self.load.contestants(self.setting.options)[1:]:
            self.finding.figures += [self._figure(contestant, what) for what in contestant.whats]
        if self.load.memory and REFERENCE in self.runs:
            self.finding.figures.append(self._memory())
        for contestant, runs in self.runs.items():
            self.finding.remarks += [f"{contestant.name}: {remark}" for remark in remarks(runs, contestant)]
        self.finding.others = median(run.others for runs in self.runs.values() for run in runs)
        self.finding.others_are = self.load.others_are
        if self.load.grows and ours is OURS:
            self.setting.note(PER_CPU, median(run.per_cpu_second for run in self.runs[ours]))

    def _figure(self, contestant: Contestant, what: str) -> Figure:
        unit = "" if what == PER_CPU else "q/s"
        ours = _values(self.runs[self.load.ours], what)
        if contestant in self.away:
            return Figure(what, ours, contestant.name, unit=unit, left_out=self.away[contestant])
        return Figure(what, ours, contestant.name, _values(self.runs[contestant], what), unit)

    def _memory(self) -> Figure:
        pair = [self.servers[one].process.resident_megabytes for one in (self.load.ours, REFERENCE)]
        return Figure(AFTER_LOAD, pair[:1], theirs=pair[1:], unit="MB")


def _values(runs: Sequence[Run], what: str) -> list[float]:
    return [run.per_second if what == RATE else run.per_cpu_second for run in runs]


def told(run: Run) -> str:
    """A run in a few words, for those who watch."""
    return f"{run.per_second:,.0f} q/s, {run.per_cpu_second:,.0f} per CPU-second, {run.lost} lost"


def faults(run: Run, asked: Sequence[Asked]) -> list[str]:
    """What is wrong with a run: queries lost, none answered, or (where it is known what is right) other rcodes."""
    found = [f"{run.lost} queries lost"] if run.lost else []
    if not run.queries:
        return [*found, "no query answered"]
    right = questions.rcodes(asked, run.queries + run.lost) if asked else run.rcodes
    for rcode in sorted({*run.rcodes, *right}):
        count, wanted = run.rcodes.get(rcode, 0), right.get(rcode, 0)
        if not wanted - run.lost <= count <= wanted:
            found.append(f"{rcode} for {count:,} queries, not for {wanted:,}")
    return found


def remarks(runs: Sequence[Run], contestant: Contestant) -> list[str]:
    """What a reader should know: dnsperf was the bottleneck, not the server."""
    share = median(run.cpu / run.seconds for run in runs) / len(contestant.cores())
    generator = median(run.generator / run.seconds for run in runs)
    if generator > 0.95 and share < 0.9:
        return [f"dnsperf was the bottleneck (busy {generator:.0%}, the server {share:.0%})"]
    return []
