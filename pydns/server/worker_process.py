"""One worker process as its parent sees it, from its start to its end.

It knows how to start it, to feed it, to count with it and to end it; not what is done then (`crew`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pydns.server.channel import (
    Channel,
    Complete,
    Count,
    Counted,
    Data,
    Failed,
    Fatal,
    Finish,
    NotReady,
    Recipe,
    Serving,
    ToParent,
    encode,
)
from pydns.server.tally import Portion

MODULE = "pydns.worker"
"""What a worker process runs."""
MAX_BACKLOG = 64 << 20
"""Octets of changes that a worker may lag behind."""


class Snapshot(NamedTuple):
    """The data of one plugin, in pieces; ``block`` and ``plugin`` as in `Data`."""

    block: int
    plugin: str
    pieces: Iterator[bytes]


class WorkerProcess:
    """``counted`` is told what the worker has counted, ``fatal`` that it had an error that ends everything."""

    def __init__(self, counted: Callable[[WorkerProcess, list[Portion]], None], fatal: Callable[[], None]) -> None:
        self.serving = False
        self.not_ready: list[str] = []
        self._counted = counted
        self._fatal = fatal
        self._why = ""
        self._settled = asyncio.Event()
        """Set when it serves, or has ended without that."""
        self._gone = asyncio.Event()
        self._pending: list[bytes] | None = []
        """Changes that follow the snapshots; None once they have."""
        self._pending_octets = 0
        self._looks = 0
        self._asked = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}

    @property
    def pid(self) -> int:
        return self._process.pid

    async def start(self, recipe: Recipe) -> None:
        """Start the process.  Raises OSError."""
        ours, theirs = socket.socketpair()
        inherited = [descriptor for *_, parts in recipe.sockets for part in parts for descriptor in part]
        with theirs:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-P", "-m", MODULE, str(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL, pass_fds=[theirs.fileno(), *inherited], env=_environment(),
                )  # fmt: skip
            except BaseException:  # cancelled, too
                ours.close()
                raise
        self._channel: Channel[ToParent] = await Channel[ToParent](ToParent, self._take, self._end).open(ours)
        self._channel.send(recipe)

    async def feed(self, snapshots: Iterable[Snapshot]) -> None:
        """Send all data; what `tell` is told meanwhile follows."""
        for block, plugin, pieces in snapshots:
            for piece in pieces:
                self._channel.send(Data(block, plugin, piece))
                await self._channel.drain()
        for octets in self._pending or ():
            self._channel.send_octets(octets)
        self._pending, self._pending_octets = None, 0
        self._channel.send(Complete())

    def tell(self, octets: bytes) -> None:
        """Send a change, encoded; a worker that does not take what it is sent is ended."""
        if self._pending is not None:
            self._pending.append(octets)
            self._pending_octets += len(octets)
        else:
            self._channel.send_octets(octets)
        if self._pending_octets + self._channel.backlog > MAX_BACKLOG:
            self._give_up("it lags behind the changes")

    def look(self, most: int) -> None:
        """End the worker if it has said nothing since ``most`` looks."""
        self._looks += 1
        if self._looks > most:
            self._give_up("it has said nothing for too long")

    def _give_up(self, why: str) -> None:
        self._why = self._why or why
        self.kill()

    async def until_serving(self) -> bool:
        """Wait until the worker serves, or has ended without that; whether it serves."""
        await self._settled.wait()
        return self.serving

    async def count(self) -> None:
        """Have the worker tell what it has counted, and wait for that, or for its end."""
        self._asked += 1
        told = self._waiting[self._asked] = asyncio.get_running_loop().create_future()
        if self._gone.is_set():
            told.set_result(None)
        self._channel.send(Count(self._asked))
        try:
            await told
        finally:
            del self._waiting[self._asked]

    def finish(self) -> None:
        """Have the worker end once it has answered what is there."""
        self._channel.send(Finish())

    def kill(self) -> None:
        """End the process at once."""
        try:
            self._process.kill()
        except ProcessLookupError:
            pass

    async def ended(self) -> str:
        """Wait until the process has ended and all it said was heard; how it ended."""
        status = await self._process.wait()
        await self._gone.wait()
        if self._why:
            return self._why
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

    def _take(self, message: ToParent) -> None:
        self._looks = 0
        match message:
            case Serving():
                self.serving = True
                self._settled.set()
            case Failed(why):
                self._why = why
            case Counted(number, portions):
                self._counted(self, portions)
                if number in self._waiting and not self._waiting[number].done():
                    self._waiting[number].set_result(None)
            case NotReady(plugins):
                self.not_ready = plugins
            case Fatal():
                self._fatal()

    def _end(self) -> None:
        self.serving = False
        self._settled.set()
        self._gone.set()
        for told in self._waiting.values():
            if not told.done():
                told.set_result(None)


def encoded_change(block: int, plugin: str, piece: bytes) -> bytes:
    """A change for `WorkerProcess.tell`, encoded once for all workers."""
    return encode(Data(block, plugin, piece))


def _environment() -> dict[str, str]:
    """That of this process, with its search path, so that a worker imports the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
