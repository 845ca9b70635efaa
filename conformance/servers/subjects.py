"""Servers under test as processes: start from a Corefile, wait until they answer, keep their log, stop.

A subject is `coredns` (the built binary), `pydns` (this checkout, by its command line alone), or the path of any
program that takes `-conf COREFILE`. Knows nothing of cases or comparisons.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.servers.ports import free_port
from conformance.servers.processes import stop, tied
from conformance.tools.build import binary
from conformance.wire.client import ask
from conformance.wire.question import Question

START_TIMEOUT = 20.0
"""Seconds a server has from its start to its first reply."""

FLAG_TIMEOUT = 10.0
"""Seconds a server has to say its version or its plugins."""

OUTPUT = 1 << 20
"""Octets of what a program says for a flag that are read."""

LOG_LINES = 15
"""How many of a log's last lines an error shows."""

PROBE = Question("probe", opcode="STATUS", timeout=0.25)
"""NOTIMP comes from the server core: no plugin, log line, counter or upstream sees this question."""


def last_lines(log: Path) -> str:
    """The end of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])


class StartError(Exception):
    """A server that cannot be run, ended, or stayed silent after its start, with the end of what it printed."""

    def __init__(self, server: str, message: str, log: Path | None = None) -> None:
        super().__init__(f"{message}\n{last_lines(log)}" if log else message)
        self.server = server


@dataclass(frozen=True)
class Running:
    """A server that answers at a port."""

    port: int
    log: Path
    process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def ended(self) -> str:
        """How it ended, with its log's last lines; empty while it runs."""
        status = self.process.returncode
        return "" if status is None else f"ended with status {status}\n{self.last_lines}"

    @property
    def last_lines(self) -> str:
        """The end of its log."""
        return last_lines(self.log)


def command(subject: str) -> list[str]:
    """The command line of a subject, less `-conf FILE`. Raises `FileNotFoundError` when it has not been built."""
    if subject == "coredns":
        return [str(binary("coredns"))]
    if subject == "pydns":
        return [sys.executable, "-m", "pydns"]
    if "/" in subject:
        return [subject]
    raise ValueError(f"a server to start is coredns, pydns or the path of a program, not {subject!r}")


@asynccontextmanager
async def start(
    subject: str,
    corefile: Path,
    port: int,
    environment: Mapping[str, str] | None = None,
    words: Sequence[str] = (),
) -> AsyncIterator[Running]:
    """Runs a subject, with further words on its command line, until the block ends.

    The block starts when it answers at `port`. Raises `StartError`.
    """
    log = corefile.with_suffix(".log")
    process = await _spawn(subject, corefile, log, environment or {}, words)
    try:
        await _wait_until_answering(subject, process, port, log)
        yield Running(port, log, process)
    finally:
        await stop(process)


async def check(subject: str) -> None:
    """Raises `StartError` for a program that starts with no Corefile at all: the smallest one there is."""
    with tempfile.TemporaryDirectory(prefix="conformance-check-") as folder:
        corefile, port = Path(folder) / "Corefile", free_port()
        corefile.write_text(f".:{port} {{\n    whoami\n}}\n")
        async with start(subject, corefile, port):
            pass


async def plugins(subject: str) -> set[str]:
    """The plugins a subject says it serves (`-plugins`); none when it does not say."""
    return {word.removeprefix("dns.") for word in (await _output(subject, "-plugins")).split()}


async def version(subject: str) -> str:
    """What a subject says it is (`-version`): name and version, without the platform."""
    return (await _output(subject, "-version")).partition("\n")[0]


async def _output(subject: str, flag: str) -> str:
    """What a subject prints for a flag; empty when it fails or does not end by itself: not every program knows it.

    Its errors are not shown. Raises `StartError` for a file that cannot be run.
    """
    words = [*command(subject), flag]
    pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await _launch(subject, words, stdout=pipe, stderr=nowhere, env=variables({}))
    assert process.stdout
    try:
        async with asyncio.timeout(FLAG_TIMEOUT):
            output = await process.stdout.readexactly(OUTPUT)
    except asyncio.IncompleteReadError as whole:
        output = whole.partial
    except TimeoutError:
        output = b""
    finally:
        await stop(process)
    return "" if (process.returncode or 0) > 0 else output.decode(errors="replace")


async def run_to_end(subject: str, corefile: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Starts a server that is expected to give up; its exit status and output. Status -1: it did not end."""
    log = corefile.with_suffix(".log")
    process = await _spawn(subject, corefile, log, environment)
    try:
        async with asyncio.timeout(START_TIMEOUT):
            status = await process.wait()
    except TimeoutError:
        status = -1
    finally:
        await stop(process)
    return status, log.read_text(errors="replace")


async def _spawn(
    subject: str, corefile: Path, log: Path, environment: Mapping[str, str], words: Sequence[str] = ()
) -> asyncio.subprocess.Process:
    words = tied([*command(subject), "-conf", str(corefile), *words])
    with log.open("wb") as output:
        return await _launch(
            subject,
            words,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            env=variables(environment),
            cwd=corefile.parent,
        )


async def _launch(subject: str, words: Sequence[str], **options: Any) -> asyncio.subprocess.Process:
    """A process in a session of its own: Ctrl-C is for the suite, which ends it and what it started."""
    try:
        return await asyncio.create_subprocess_exec(*words, start_new_session=True, **options)
    except OSError as error:
        raise StartError(subject, f"{words[0]} cannot be run: {error.strerror}") from error


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server: this process's, so that this checkout is found from anywhere, and these."""
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": root, "PYTHONUNBUFFERED": "1", **environment}


async def _wait_until_answering(subject: str, process: asyncio.subprocess.Process, port: int, log: Path) -> None:
    try:
        async with asyncio.timeout(START_TIMEOUT):
            while process.returncode is None:
                if await ask(PROBE, port):
                    return
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise StartError(subject, f"no reply on port {port} after {START_TIMEOUT:g} s", log) from None
    raise StartError(subject, f"ended with status {process.returncode}", log)
