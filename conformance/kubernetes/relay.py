"""A relay of TCP connections on loopback that can be cut: the way to an API that is away for a while.

Knows octets only.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from conformance.servers.ports import free_port

PIECE = 65536


class Relay:
    """Passes on what comes in at `port`, until it is cut. Made by `relaying`."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def connect(self) -> None:
        """Takes connections from now on."""
        if self._server is None:
            self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)

    async def disconnect(self) -> None:
        """Ends all connections and refuses new ones."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._both_ways(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _both_ways(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; both ends close as soon as one of them did."""
        writers = [writer]
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            writers.append(back)
            ways = [asyncio.ensure_future(_copy(reader, back)), asyncio.ensure_future(_copy(there, writer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except OSError:
            pass
        finally:
            for each in writers:
                each.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(PIECE):
        writer.write(data)
        await writer.drain()


@asynccontextmanager
async def relaying(target: int) -> AsyncIterator[Relay]:
    """A relay to a port of 127.0.0.1 that takes connections until the block ends."""
    relay = Relay(target)
    await relay.connect()
    try:
        yield relay
    finally:
        await relay.disconnect()
