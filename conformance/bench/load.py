"""One measured run: dnsperf against a server, and the processor time that the server spent on it. Linux only."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class LoadError(Exception):
    """dnsperf is missing, or did not do its work; the message says what it printed."""


@dataclass(frozen=True)
class Run:
    """`queries` answered, `lost` not, in `seconds`, at `cpu` seconds of the server's user and system time."""

    queries: int
    lost: int
    seconds: float
    cpu: float
    rcodes: str

    @property
    def per_cpu_second(self) -> float:
        return self.queries / self.cpu

    @property
    def per_second(self) -> float:
        return self.queries / self.seconds


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


async def run(pid: int, port: int, questions: Path, seconds: float, core: int | None) -> Run:
    """Ask what the file holds for `seconds`, 8 clients with 400 queries in flight, dnsperf on its own core."""
    words = ["dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", str(questions), "-l", f"{seconds:g}"]
    words += ["-c", "8", "-q", "400", "-T", "1"]
    if core is not None:
        words = ["taskset", "-c", str(core), *words]
    before = cpu_seconds(pid)
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
    except FileNotFoundError as error:
        raise LoadError(f"{error.filename} is missing (Debian: apt-get install dnsperf util-linux)") from None
    output = (await process.communicate())[0].decode()
    return parse(output, cpu_seconds(pid) - before)


def parse(output: str, cpu: float) -> Run:
    """The figures in what dnsperf 2.x prints. Raises LoadError."""

    def figure(label: str) -> float:
        found = re.search(rf"{label}:\s+([\d.]+)", output)
        if not found:
            raise LoadError(f"dnsperf printed no {label!r}:\n{output}")
        return float(found[1])

    rcodes = re.search(r"Response codes:\s+(.*)", output)
    return Run(
        int(figure("Queries completed")),
        int(figure("Queries lost")),
        figure(r"Run time \(s\)"),
        max(cpu, 1 / TICKS),
        rcodes[1] if rcodes else "",
    )
