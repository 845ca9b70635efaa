"""Queries to one upstream over TCP (RFC 7766).

Rules:

1. One query at a time on a connection, as CoreDNS: a server that answers in order cannot hold up others.
2. Connections are kept for the next query, oldest first.  One that the peer closed while it was idle, or before it
   answered, is no failure of the upstream: the query goes out again on another.
3. A connection whose query failed is closed, so that a late reply meets nobody.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import cast

from pydns.address import Address
from pydns.dns.message import Message, WireError
from pydns.upstream.reply import ExchangeError, read
from pydns.upstream.settings import Dialled, Settings, reason

CONNECT_TIMEOUT = 2.0
"""Seconds for a connection to come about.  CoreDNS starts with 30, longer than any client waits."""


class ConnectionGone(Exception):
    """The peer closed the connection without an answer."""


class TcpConnection(asyncio.Protocol):
    """A connection and the one query on it."""

    def __init__(self, address: Address, gone: Callable[[TcpConnection], None]) -> None:
        self._address = address
        self._loop = asyncio.get_running_loop()
        self.opened = self._loop.time()
        self._gone = gone
        self._buffer = bytearray()
        self._ident = b""
        self._waiter: asyncio.Future[bytes] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        local = Address(*transport.get_extra_info("sockname")[:2])
        self.path = f"{local}->{self._address}"  # a peer that has gone already has no peername

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self.keep_for(None)
        self._gone(self)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(ConnectionGone())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= 2:
            end = 2 + int.from_bytes(self._buffer[:2], "big")
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[2:end])
            del self._buffer[:end]
            if self._waiter is not None and not self._waiter.done() and frame[:2] == self._ident:
                self._waiter.set_result(frame)

    async def ask(self, wire: bytes, seconds: float) -> bytes:
        """The reply with the query's ID.  Raises ConnectionGone or TimeoutError."""
        if self.closed:
            raise ConnectionGone
        self._ident = wire[:2]
        self._waiter = self._loop.create_future()
        self._transport.write(len(wire).to_bytes(2, "big") + wire)
        try:
            async with asyncio.timeout(seconds):
                return await self._waiter
        except BaseException:
            self.close()
            raise
        finally:
            self._waiter = None

    def keep_for(self, seconds: float | None) -> None:
        """Close after being idle for so long; None while in use."""
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = None if seconds is None else self._loop.call_later(seconds, self.close)

    def close(self) -> None:
        self._transport.close()


class TcpPool:
    """The connections to one upstream."""

    def __init__(self, address: Address, settings: Settings, rng: random.Random, dialled: Dialled) -> None:
        self._address = address
        self._settings = settings
        self._random = rng
        self._dialled = dialled
        self._idle: dict[TcpConnection, None] = {}
        self._closed = False

    async def ask(self, wire: bytes) -> Message:
        """One exchange; the query leaves with another ID than its own.  Raises ExchangeError."""
        reply = await self._ask(self._random.getrandbits(16).to_bytes(2, "big") + wire[2:])
        return reply._replace(id=int.from_bytes(wire[:2], "big"))

    async def _ask(self, wire: bytes) -> Message:
        while (kept := self._take()) is not None:
            try:
                return await self._exchange(kept, wire)
            except ConnectionGone:
                continue
        try:
            return await self._exchange(await self._connect(), wire)
        except ConnectionGone:
            raise ExchangeError("EOF") from None

    def close(self) -> None:
        """Keep no connection any more; queries under way may still end well."""
        self._closed = True
        for connection in list(self._idle):
            connection.close()
        self._idle.clear()

    async def _exchange(self, connection: TcpConnection, wire: bytes) -> Message:
        try:
            frame = await connection.ask(wire, self._settings.read_timeout)
        except TimeoutError:
            raise ExchangeError(f"read tcp {connection.path}: i/o timeout") from None
        try:
            reply = read(frame)
        except WireError as error:
            connection.close()
            raise ExchangeError(f"dns: {error}") from None
        self._give_back(connection)
        return reply

    def _take(self) -> TcpConnection | None:
        """The connection that has been idle longest."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = next(iter(self._idle))
            del self._idle[connection]
            connection.keep_for(None)
            if not self._settings.max_age or now - connection.opened <= self._settings.max_age:
                self._dialled("tcp", True)
                return connection
            connection.close()
        return None

    def _give_back(self, connection: TcpConnection) -> None:
        full = self._settings.max_idle and len(self._idle) >= self._settings.max_idle
        if self._closed or full or connection.closed:
            connection.close()
            return
        self._idle[connection] = None
        connection.keep_for(self._settings.expire)

    async def _connect(self) -> TcpConnection:
        self._dialled("tcp", False)
        source = (self._settings.source, 0) if self._settings.source else None
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: TcpConnection(self._address, self._forget), *self._address, local_addr=source
                )
        except TimeoutError:
            raise ExchangeError(f"dial tcp {self._address}: i/o timeout") from None
        except OSError as error:
            raise ExchangeError(f"dial tcp {self._address}: connect: {reason(error)}") from None
        return connection

    def _forget(self, connection: TcpConnection) -> None:
        self._idle.pop(connection, None)
