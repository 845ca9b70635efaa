"""One query to one upstream, over UDP or TCP.

Knows how to reach a server and how to tell its reply from others; not which server to ask, nor what to do when it
fails.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable
from dataclasses import replace

from pydns.address import Address
from pydns.dns.message import Message, Question
from pydns.upstream.settings import Dialled, Settings
from pydns.upstream.tcp import TcpPool
from pydns.upstream.udp import UdpPool

PROBE_TIMEOUT = 1.0
"""Seconds that a health probe waits for its reply."""


def _unnoticed(transport: str, reused: bool, times: int = 1) -> None:
    """Nobody counts sockets."""


class Upstream:
    """A DNS server and the sockets to it.

    ``dialled`` is told of each query.
    """

    def __init__(
        self,
        address: Address,
        settings: Settings | None = None,
        rng: random.Random | None = None,
        dialled: Dialled = _unnoticed,
    ) -> None:
        self.address = address
        self._settings = settings or Settings()
        self._random = rng or random.SystemRandom()
        self._udp = UdpPool(address, self._settings, self._random, dialled)
        self.send = self._udp.send
        """See `UdpPool.send`."""
        self._tcp = TcpPool(address, self._settings, self._random, dialled)

    def __str__(self) -> str:
        return str(self.address)

    def ask(self, wire: bytes, question: Question, transport: str, limit: int) -> Awaitable[Message]:
        """The reply to the query ``wire`` (another ID than its own leaves), in at most ``limit`` octets over UDP.

        Over UDP a reply that is larger comes without records and with TC.  Raises ExchangeError, at once or when
        awaited.
        """
        if transport == "udp":
            return self._udp.ask(wire, question, limit)
        return self._tcp.ask(wire)

    async def probe(self, wire: bytes, question: Question, transport: str) -> None:
        """Any reply at all within a second, on a socket of its own.  Raises ExchangeError."""
        settings = replace(self._settings, read_timeout=PROBE_TIMEOUT)
        if transport == "udp":
            await self._probe_udp(wire, question, settings)
        else:
            await self._probe_tcp(wire, settings)

    async def _probe_udp(self, wire: bytes, question: Question, settings: Settings) -> None:
        pool = UdpPool(self.address, settings, self._random, _unnoticed)
        try:
            await pool.ask(wire, question, len(wire))
        finally:
            pool.close()

    async def _probe_tcp(self, wire: bytes, settings: Settings) -> None:
        pool = TcpPool(self.address, settings, self._random, _unnoticed)
        try:
            await pool.ask(wire)
        finally:
            pool.close()

    def close(self) -> None:
        """Keep no socket for further queries; those under way may still end well."""
        self._udp.close()
        self._tcp.close()
