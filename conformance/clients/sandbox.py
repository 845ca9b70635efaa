"""Pod sandboxes: own network, mount, UTS and PID namespaces, a Pod's /etc, the cluster DNS at 10.96.0.10:53 in them.

The DNS sockets are bound inside and served outside (`Sandbox.sockets`). A sandbox ends with the process that opened
it, however that ends: its first process (`pod.py`) waits on a socket to it. Knows no resolver and no DNS.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.clients.pod import ADDRESSES, Ran, Request
from conformance.setting import Skipped

ROOT = Path(__file__).parent.parent.parent
UNPRIVILEGED = ("--user", "--map-root-user")
"""Who is not root makes the other namespaces in one of users, where the machine allows that."""

NAMESPACES = ("--net", "--mount", "--uts", "--pid", "--fork", "--kill-child")
START_TIMEOUT = 20.0
"""Seconds a sandbox has to come up."""

LINE = 1 << 20
"""Octets a line from a sandbox may have."""

LATE = 5.0
"""Seconds after a program's limit in which its sandbox must say that it was killed."""


@dataclass
class Sandbox:
    """A running one. `sockets` are a datagram and a stream one for each of `pod.ADDRESSES` in turn, not blocking."""

    sockets: tuple[socket.socket, ...]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int = 0

    async def run(self, argv: Sequence[str], conf: str, limit: float) -> Ran:
        """Runs a program with this text as its /etc/resolv.conf, one at a time; it is killed after `limit` seconds.

        A program whose run was cancelled ends when the next begins. Raises `ConnectionError` when the sandbox is gone.
        """
        self.number += 1
        request = Request(self.number, list(argv), conf, limit)
        self.writer.write(json.dumps(asdict(request)).encode() + b"\n")
        async with asyncio.timeout(limit + LATE):
            while (ran := await self._read()).number != self.number:
                pass
        return ran

    async def _read(self) -> Ran:
        line = await self.reader.readline()
        if not line:
            raise ConnectionError("the sandbox is gone")
        return Ran(**json.loads(line))


@asynccontextmanager
async def open_sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox until the block ends. Raises `Skipped` with the reason where the machine does not allow one."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-pod-"))
        ours, theirs = socket.socketpair()
        stack.enter_context(ours)
        with theirs:
            process = await _spawn(theirs, folder)
        stack.push_async_callback(_end, process, ours)
        sockets = [stack.enter_context(sock) for sock in await _receive(ours, process)]
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE)
        stack.callback(writer.close)
        yield Sandbox(tuple(sockets), reader, writer)


async def _spawn(control: socket.socket, folder: str) -> asyncio.subprocess.Process:
    """The first process of a new sandbox, with its end of the socket."""
    pod = [sys.executable, "-m", "conformance.clients.pod", str(control.fileno()), folder]
    try:
        return await asyncio.create_subprocess_exec(
            *("unshare", *(UNPRIVILEGED if os.geteuid() else ()), *NAMESPACES, "--", *pod),
            pass_fds=[control.fileno()],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd=ROOT,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise Skipped("there is no `unshare` (util-linux) to make namespaces with") from None


async def _receive(control: socket.socket, process: asyncio.subprocess.Process) -> list[socket.socket]:
    control.settimeout(START_TIMEOUT)
    _, numbers, _, _ = await asyncio.to_thread(socket.recv_fds, control, 1, 2 * len(ADDRESSES))
    control.setblocking(False)
    if not numbers:
        _, errors = await process.communicate()
        lines = errors.decode(errors="replace").splitlines() or [f"status {process.returncode}"]
        raise Skipped(f"no Pod sandboxes on this machine: {lines[-1]}")
    sockets = [socket.socket(fileno=number) for number in numbers]
    for sock in sockets:
        sock.setblocking(False)
    return sockets


async def _end(process: asyncio.subprocess.Process, control: socket.socket) -> None:
    control.close()
    try:
        async with asyncio.timeout(LATE):
            await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
