"""A worker process: serves a configuration by sockets that its parent has opened, with data that the parent feeds it.

Its parent starts it as ``python -m pydns.worker FD`` with one end of a socket pair (`pydns.server.channel`).  It lives
as long as the parent: the end of the socket pair is its own, and where it cannot notice that, the kernel ends it.
Signals are the parent's business.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import sys

from pydns import garbage, log, loop, serve
from pydns.plugin import Ready
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
    ToWorker,
)
from pydns.server.endpoint import Endpoint
from pydns.server.instance import Instance
from pydns.server.lifecycle import Errors
from pydns.server.sockets import Sockets
from pydns.server.tally import Teller
from pydns.tasks import Tasks
from pydns.workforce import Feeds

TELL = 1.0
"""Seconds after which the parent is told what was counted, if only that it was nothing; a worker that is killed takes
no more with it, and one that hangs is known by its silence."""
_PR_SET_PDEATHSIG = 1
IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


class Worker:
    """What a worker does with each message of its parent."""

    def __init__(self) -> None:
        self._channel: Channel[ToWorker] = Channel(ToWorker, self._take, self._lost)
        self._tasks = Tasks()
        self._done = asyncio.Event()
        self._instance: Instance | None = None
        self._endpoints: list[Endpoint] = []
        self._not_ready: list[str] = []

    async def run(self, sock: socket.socket) -> None:
        """Work until the parent says that it is enough."""
        await self._channel.open(sock)
        await self._done.wait()
        self._channel.close()  # that is the end of the process, when all was sent
        await asyncio.get_running_loop().create_future()

    def _take(self, message: ToWorker) -> None:
        match message:
            case Recipe():
                self._make(message)
            case Data(block, name, piece) if self._instance is not None:
                plugin = self._instance.blocks[block].plugins[name]
                assert isinstance(plugin, Feeds)
                plugin.take(piece)
                self._tell_readiness()
            case Complete() if self._instance is not None:
                self._tasks.run(self._serve(self._instance))
            case Count(number):
                self._tell(number)
            case Finish():
                self._tasks.run(self._finish())

    def _make(self, recipe: Recipe) -> None:
        try:
            process, self._instance = serve.worker_instance(recipe.data, recipe.common)
        except Errors as error:
            self._fail(error)
            return
        process.fatal = lambda: self._channel.send(Fatal())
        self._teller = Teller(process.metrics)
        log.OUTPUT.debug = self._instance.debug
        for host, port, descriptors in recipe.sockets:
            endpoint = Endpoint((host, port), self._instance.listeners[host, port])
            endpoint.adopt(Sockets.of_descriptors(descriptors))
            self._endpoints.append(endpoint)

    def _lost(self) -> None:
        """The parent has gone, or everything was told to it."""
        os._exit(0 if self._done.is_set() else 1)

    def _fail(self, error: Exception) -> None:
        self._channel.send(Failed(str(error)))
        self._done.set()

    async def _serve(self, instance: Instance) -> None:
        self._tell_readiness()
        try:
            await instance.start()
        except Errors as error:
            self._fail(error)
            return
        for endpoint in self._endpoints:
            endpoint.serve()
        await instance.serving()
        self._channel.send(Serving())
        garbage.set_apart()
        while True:
            await asyncio.sleep(TELL)
            self._tell(0)

    async def _finish(self) -> None:
        assert self._instance is not None
        for endpoint in self._endpoints:
            endpoint.stop()
        await self._instance.finish()
        for endpoint in self._endpoints:
            endpoint.close()
        await self._instance.stop()
        self._tell(0)
        self._done.set()

    def _tell(self, number: int) -> None:
        """Tell what was counted."""
        self._channel.send(Counted(number, self._teller.portions()))

    def _tell_readiness(self) -> None:
        """Tell which plugins are not ready, if it has changed."""
        assert self._instance is not None
        plugins = (plugin for block in self._instance.blocks for plugin in block.having(Ready))  # type: ignore[type-abstract]
        names = sorted({plugin.name for plugin in plugins if not plugin.is_ready()})
        if names != self._not_ready:
            self._not_ready = names
            self._channel.send(NotReady(names))


async def _run(descriptor: int) -> None:
    await Worker().run(socket.socket(fileno=descriptor))


def _end_with_parent() -> None:
    """Have Linux kill this process when its parent has gone (prctl(2)): one that hangs must not keep the port."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except AttributeError:
        pass  # another system


def main() -> None:
    """Run the worker whose parent is at the other end of the file descriptor named as the only argument."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    _end_with_parent()
    log.take_over_libraries()
    garbage.put_off()
    loop.run(_run(int(sys.argv[1])))


if __name__ == "__main__":
    main()
