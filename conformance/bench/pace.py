"""Latencies under a steady load: queries leave at a fixed rate, however late answers are (`pace.c`).

The echo in C does next to nothing with a query: its latencies are those of the machine, with all that runs on it.
A round is so long that some `BEYOND` answers take longer than the last quantile: fewer would be an accident each. A
figure is the median of its rounds', not a quantile of all together: one stop of the whole machine in one round (a tenth
of a second is 300 queries of 3,000 a second) would then be all of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.bench import asking, machine, questions
from conformance.bench.contestants import CLUSTER, ECHO, ECHOED, OURS, REFERENCE, Contestant, Server
from conformance.bench.finding import Figure, Finding, quantile
from conformance.bench.processes import output
from conformance.bench.programs import NEEDS, compiled
from conformance.bench.questions import Asked
from conformance.bench.setting import Options, Setting
from conformance.wire.framing import frame
from conformance.wire.message import RCODES

QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}

CURVE = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 1.0)
"""Shares of the answers at which a curve has a point."""

LATE = 1.0
"""Milliseconds: a generator that is this late for one query in a hundred is remarked on."""

REAL_TIME = "real-time"
"""The priority that the generator should have: one that waits for a core measures itself."""

BEYOND = 24
"""Answers of a round that take longer than the last of `QUANTILES`."""

WARM_UP = 4.0
WARM_RATE = 10_000
"""Seconds, and q/s: each question of the mix then came some times, whatever the rate that follows."""

OVERHEAD = 0.5

MEASURED = (OURS, REFERENCE, ECHO)


@dataclass(frozen=True)
class Sent:
    """One query. Milliseconds: `due` from the start, `late` from then to when it left, `took` from then to its answer.

    `took` is None, and `rcode` empty, where none came.
    """

    due: float
    late: float
    took: float | None
    rcode: str


@dataclass(frozen=True)
class Pace:
    """One run: `started` in seconds since 1970, every query in the order in which they were due, how it was run."""

    started: float
    sent: Sequence[Sent]
    priority: str = REAL_TIME

    def latencies(self, begin: float = 0.0, end: float = float("inf")) -> list[float]:
        """In order of size, of the answered queries that were due between these milliseconds from the start."""
        return sorted(one.took for one in self.sent if one.took is not None and begin <= one.due < end)

    @property
    def lateness(self) -> float:
        """Milliseconds that the generator itself was late with one query in a hundred."""
        return quantile(sorted(one.late for one in self.sent), 0.99)


def parse(text: str) -> Pace:
    """What `pace` prints."""
    first, *rest = text.splitlines()
    started, priority = first.split()
    return Pace(float(started), [_sent(*line.split()) for line in rest], priority)


def _sent(due: str, late: str, took: str, rcode: str) -> Sent:
    answered = took != "-"
    return Sent(
        int(due) / 1000,
        int(late) / 1000,
        int(took) / 1000 if answered else None,
        RCODES[int(rcode)] if answered else "",
    )


def faults(pace: Pace, asked: Sequence[Asked]) -> list[str]:
    """Queries that were lost, and those answered with another rcode than is right."""
    lost = sum(one.took is None for one in pace.sent)
    expected = (asked[number % len(asked)].rcode for number in range(len(pace.sent)))
    wrong = sum(one.rcode not in ("", right) for one, right in zip(pace.sent, expected, strict=True))
    found = {"lost": lost, "answered with another rcode than is right": wrong}
    return [f"{count} of {len(pace.sent)} queries {what}" for what, count in found.items() if count]


def write(asked: Sequence[Asked], path: Path) -> Path:
    """The questions as `pace` reads them."""
    path.write_bytes(b"".join(frame(asking.packet(question)) for question in asked))
    return path


async def run(setting: Setting, server: Server, questions: Path, rate: float, seconds: float) -> Pace:
    """Asks `rate` queries a second for `seconds`. Raises `BenchError`."""
    words = [await compiled("pace", setting.folder), str(server.port), f"{rate:g}", f"{seconds:g}", str(questions)]
    text = await output(words, machine.generator_core())
    server.process.check()
    return await asyncio.to_thread(parse, text)


async def warm(setting: Setting, server: Server, questions: Path) -> None:
    """Asks what is not counted: what a server remembers, it remembers then. Raises `BenchError`."""
    await run(setting, server, questions, WARM_RATE, WARM_UP)


@dataclass(frozen=True)
class Latency:
    """The mix at `rate` queries a second: how long answers take, counted from when the query was due."""

    rate: float
    needs: Sequence[str] = NEEDS

    def seconds(self, options: Options) -> float:
        return len(MEASURED) * (WARM_UP + OVERHEAD + options.rounds * (self.length(options) + OVERHEAD))

    def length(self, options: Options) -> float:
        """Seconds of a round: those of the options, or as many as `BEYOND` takes."""
        return max(options.seconds, BEYOND / (1 - max(QUANTILES.values())) / self.rate)

    async def run(self, setting: Setting) -> Finding:
        asked = questions.mix(setting.api.services)
        path = await asyncio.to_thread(write, asked, setting.folder / "paced")
        await setting.only(MEASURED, CLUSTER)
        ready = questions.synced(setting.api.services)
        servers = [await setting.server(one, CLUSTER, ready) for one in MEASURED]
        finding, paces = Finding(), dict[Contestant, list[Pace]]()
        for server in servers:
            await warm(setting, server, path)
        for turn in range(1, setting.options.rounds + 1):
            for server in servers:
                pace = await run(setting, server, path, self.rate, self.length(setting.options))
                paces.setdefault(server.contestant, []).append(pace)
                right = asked if server.contestant.answers else [ECHOED]
                finding.blame(server.contestant.name, server.contestant is not OURS, faults(pace, right))
                setting.say(f"{server.contestant.name}, round {turn}: {told(pace.latencies())}")
        conclude(finding, paces)
        return finding


def conclude(finding: Finding, paces: Mapping[Contestant, Sequence[Pace]]) -> None:
    """Figures by round, curves over all rounds (not of the echo), and whether the generator was in time."""
    for other in (REFERENCE, ECHO):
        for what, share in QUANTILES.items():
            ours, theirs = (by_round(paces[one], share) for one in (OURS, other))
            finding.figures.append(Figure(what, ours, other.name, theirs, "ms"))
    for contestant, runs in paces.items():
        if contestant.answers:
            finding.curves[contestant.name] = curve(runs)
        late = max(pace.lateness for pace in runs)
        if late > LATE:
            finding.remarks.append(f"{contestant.name}: one query in a hundred left {late:.1f} ms late")
    finding.remarks += unhurried([pace for runs in paces.values() for pace in runs])


def unhurried(paces: Sequence[Pace]) -> list[str]:
    """A remark where the generator had to wait for its core as any other process."""
    others = sorted({pace.priority for pace in paces} - {REAL_TIME})
    return [f"the generator of queries ran without real-time priority ({', '.join(others)})"] if others else []


def by_round(paces: Sequence[Pace], share: float) -> list[float]:
    """Milliseconds within which `share` of the answers came, round by round."""
    return [quantile(pace.latencies(), share) for pace in paces]


def curve(paces: Sequence[Pace]) -> list[tuple[float, float]]:
    """(Share of the answers, milliseconds within which they came), all rounds together."""
    ordered = sorted(took for pace in paces for took in pace.latencies())
    return [(share, quantile(ordered, share)) for share in CURVE] if ordered else []


def told(ordered: Sequence[float]) -> str:
    """The latencies of a run in a few words, for those who watch."""
    return ", ".join(f"{what} {quantile(ordered, share):.2f} ms" for what, share in QUANTILES.items())
