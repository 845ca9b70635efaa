"""One run of dnsperf against a server: as much load as it takes, and the processor time that this cost. Linux."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.bench import machine
from conformance.bench.contestants import Server
from conformance.bench.processes import BenchError, output
from conformance.servers.processes import path_of

NEEDS = ("dnsperf",)
IN_FLIGHT = 150
"""Queries that wait for their replies at any time. dnsperf begins with as many at once, and a socket of the usual size
holds fewer than 200: more would be lost before a server that just sleeps could read them."""

CONNECTIONS = {"udp": 8, "tcp": 50}
"""Clients, each with a socket of its own; TCP connections are kept open."""

SMALLEST_CPU = 1 / machine.TICKS
"""Seconds: what the kernel counts is no finer."""


@dataclass(frozen=True)
class Run:
    """`queries` answered and `lost` in `seconds`. Processor seconds: `cpu` of the server, `generator` of dnsperf.

    `others` is how many cores all other processes used.
    """

    queries: int
    lost: int
    seconds: float
    rcodes: Mapping[str, int]
    cpu: float = SMALLEST_CPU
    generator: float = 0.0
    others: float = 0.0

    @property
    def per_cpu_second(self) -> float:
        return self.queries / max(self.cpu, SMALLEST_CPU)

    @property
    def per_second(self) -> float:
        return self.queries / self.seconds


async def run(server: Server, questions: Path, seconds: float, transport: str = "udp", once: bool = False) -> Run:
    """Asks what the file holds for `seconds`, again and again, or each question `once`. Raises `BenchError`."""
    words = [path_of("dnsperf") or "dnsperf", "-s", "127.0.0.1", "-p", str(server.port), "-m", transport]
    words += ["-d", str(questions), "-l", f"{seconds:g}", "-T", "1"]
    words += ["-c", str(CONNECTIONS[transport]), "-q", str(IN_FLIGHT), *(["-n", "1"] if once else [])]
    began = time.monotonic()
    before = (server.process.cpu_seconds, _children(), machine.busy_seconds())
    text = await output(words, machine.generator_core())
    after = (server.process.cpu_seconds, _children(), machine.busy_seconds())
    server.process.check()
    cpu, generator, busy = (late - early for late, early in zip(after, before, strict=True))
    return parse(text, cpu, generator, max(0.0, busy - cpu - generator) / (time.monotonic() - began))


def parse(text: str, cpu: float = 0.0, generator: float = 0.0, others: float = 0.0) -> Run:
    """The figures in what dnsperf 2.x prints. Raises `BenchError`."""

    def figure(label: str) -> float:
        found = re.search(rf"{label}:\s+([\d.]+)", text)
        if not found:
            raise BenchError(f"dnsperf printed no {label!r}: {text[-500:]}")
        return float(found[1])

    rcodes = re.search(r"Response codes:\s+(.*)", text)
    counts = re.findall(r"(\w+) (\d+) \(", rcodes[1]) if rcodes else []
    return Run(
        int(figure("Queries completed")),
        int(figure("Queries lost")),
        max(figure(r"Run time \(s\)"), SMALLEST_CPU),
        {rcode: int(count) for rcode, count in counts},
        cpu,
        generator,
        others,
    )


def _children() -> float:
    """Processor seconds of the programs that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
