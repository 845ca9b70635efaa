"""Processes that end with the suite, also when it is killed. Knows nothing of what they are."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

STOP_TIMEOUT = 8.0
"""Seconds that a program has to end after SIGTERM."""

_running: set[subprocess.Popen[str]] = set()


def path_of(name: str) -> str | None:
    """The path of an installed program; that of a server may lie where only root looks."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


def tied(words: Sequence[str], number: str = "TERM") -> list[str]:
    """A command line whose process gets a signal when the thread that starts it ends (prctl(2), PR_SET_PDEATHSIG).

    Where there is no setpriv (util-linux), the command line as it is.
    """
    setpriv = shutil.which("setpriv")
    return [*((setpriv, "--pdeathsig", number, "--") if setpriv else ()), *words]


def run(
    words: Sequence[str], environment: Mapping[str, str] | None = None, limit: float | None = None
) -> tuple[int, str]:
    """Runs a program to its end in a thread; its status and all that it printed, errors last.

    Ends it, and what it started, after `limit` seconds or by `end_all`. Raises `OSError`, `subprocess.TimeoutExpired`.
    """
    with subprocess.Popen(
        tied(words), env=environment, start_new_session=True, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        _running.add(process)
        try:
            output, errors = process.communicate(timeout=limit)
        finally:
            _running.discard(process)
            _kill(process)
    return process.returncode, output + errors


def end_all() -> None:
    """Ends all that `run` runs in other threads, which nobody waits for any more."""
    for process in tuple(_running):
        _kill(process)


async def stop(process: asyncio.subprocess.Process) -> None:
    """Ends a process and what it started: a program may be a script around the server."""
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT):
                await process.wait()
    _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _kill(process: subprocess.Popen[str]) -> None:
    _signal(process.pid, signal.SIGKILL)


def _signal(session: int, number: signal.Signals) -> None:
    """To the whole session, which may outlive its first process."""
    with suppress(ProcessLookupError):
        os.killpg(session, number)
