"""A program on chosen cores, with what it costs: processor time and memory of its whole session.

It ends with the block that started it, and with the benchmark however that ends. Knows nothing of what it is. Linux.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from conformance.bench import machine
from conformance.bench.machine import TICKS
from conformance.servers.processes import path_of, stop, tied

PAGE = os.sysconf("SC_PAGE_SIZE")
ROOT = Path(__file__).parents[2]
UNWANTED = "PYTHONDONTWRITEBYTECODE"
"""Not passed on: a program in Python is measured as it runs once it is installed, and then it is compiled."""
LOG_END = 600
"""Characters of a log that an error shows."""


class BenchError(Exception):
    """Something that a line needs does not work; the message says what."""


@dataclass(frozen=True)
class Process:
    """A running program; it leads a session of its own, so what it starts belongs to it."""

    process: asyncio.subprocess.Process
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def cpu_seconds(self) -> float:
        """User and system time of the session's living processes so far."""
        return sum((int(fields[11]) + int(fields[12])) / TICKS for fields in self._stats())

    @property
    def waited_seconds(self) -> float:
        """How long the session's living threads were ready to run and had no core so far, together (schedstat)."""
        waited = 0
        for path in self._paths("task/*/schedstat"):
            with suppress(OSError):  # it has just ended
                waited += int(path.read_text().split()[1])
        return waited / 1e9

    @property
    def resident_megabytes(self) -> float:
        """Resident memory of all processes of the session (1 MB is 10⁶ octets); what they share counts for each."""
        return sum(int(fields[21]) * PAGE for fields in self._stats()) / 1e6

    def check(self) -> None:
        """Raises `BenchError` with the end of its log when it has ended."""
        if self.process.returncode is not None:
            raise BenchError(f"ended with status {self.process.returncode}: {self.last_words}")

    @property
    def last_words(self) -> str:
        """The end of its log as one line, in which files of its own folder have no folder."""
        text = self.log.read_text(errors="replace").replace(f"{self.log.parent}/", "")
        return " / ".join(text[-LOG_END:].splitlines())

    def _paths(self, pattern: str) -> list[Path]:
        """Files below `/proc/PID` of every process of the session."""
        return [path for pid, _ in self._processes() for path in Path(f"/proc/{pid}").glob(pattern)]

    def _stats(self) -> list[list[str]]:
        """`/proc/PID/stat` behind the program's name, for every process of the session (proc(5))."""
        return [fields for _, fields in self._processes()]

    def _processes(self) -> list[tuple[str, list[str]]]:
        """Every process of the session with its stat."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has just ended
                fields = path.read_text().rpartition(")")[2].split()
                if int(fields[3]) == self.pid:
                    found.append((path.parent.name, fields))
        return found


def pinned(words: Sequence[str], cores: Sequence[int]) -> list[str]:
    """A command line that runs on these cores from its start; on any where there is no taskset."""
    taskset = path_of("taskset")
    return [*((taskset, "-c", ",".join(map(str, cores))) if taskset else ()), *words]


@contextmanager
def confined(pids: Sequence[int], cores: Sequence[int]) -> Iterator[None]:
    """Keeps running processes on these cores until the block ends, then lets them use all again."""
    _confine(pids, cores)
    try:
        yield
    finally:
        _confine(pids, machine.cores())


def _confine(pids: Sequence[int], cores: Sequence[int]) -> None:
    """All threads; one that starts meanwhile has what the one has that starts it, so those are looked for again."""
    done = set[str]()
    while new := {path.name for pid in pids for path in Path(f"/proc/{pid}/task").glob("*")} - done:
        for thread in new:
            with suppress(OSError):  # it has just ended
                os.sched_setaffinity(int(thread), cores)
        done |= new


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != UNWANTED}


@asynccontextmanager
async def running(
    words: Sequence[str], cores: Sequence[int], log: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    """Runs a program until the block ends. Raises `BenchError` for one that cannot be run."""
    with log.open("wb") as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *tied(pinned(words, cores)), stdin=asyncio.subprocess.DEVNULL, stdout=output,
                stderr=asyncio.subprocess.STDOUT, cwd=log.parent, start_new_session=True,
                env={**_environment(), "PYTHONPATH": str(ROOT), **(environment or {})},
            )  # fmt: skip
        except OSError as error:
            raise BenchError(f"{words[0]} cannot be run: {error.strerror}") from error
    try:
        yield Process(process, log)
    finally:
        await stop(process)


async def output(words: Sequence[str], cores: Sequence[int]) -> str:
    """Runs a program to its end; what it printed. Raises `BenchError` with that where it failed."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *tied(pinned(words, cores)), stdout=pipe, stderr=asyncio.subprocess.STDOUT, start_new_session=True
    )
    try:
        text = (await process.communicate())[0].decode(errors="replace")
    finally:
        await stop(process)
    if process.returncode:
        raise BenchError(f"{Path(words[0]).name} failed: {text[-LOG_END:]}")
    return text
