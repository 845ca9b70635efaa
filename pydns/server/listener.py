"""One listening address: its queries in flight and the replies it remembers.

Duty: join the `Dispatcher` with a `PacketCache` for each kind of socket, and bound the work that waits.  Sockets come
and go above it (`endpoint`); it knows neither sockets nor plugins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from pydns.errand import Asker, Errand
from pydns.plugin import Settings
from pydns.query import Address
from pydns.server.dispatch import Dispatcher
from pydns.server.errands import Errands
from pydns.server.packet_cache import PacketCache, Ticket, any_variant
from pydns.server.task_pool import TaskPool

MAX_IN_FLIGHT = 10_000
"""Queries that may wait for their replies; datagrams beyond that are dropped, and their clients ask again.  TCP
connections are not read meanwhile (`turns`)."""
STOP_TIMEOUT = 5.0
"""Seconds that queries get to end when their listener stops."""

Send = Callable[[bytes | None], object]


class Client(NamedTuple):
    """An `Asker` all of whose facts are known."""

    address: Address
    local: Address
    send: Send

    @property
    def family(self) -> int:
        return 6 if ":" in self.address[0] else 4


class Listener:
    """Answers what arrives on one address.  ``remember`` is whether there are packet caches, and short ways."""

    def __init__(self, dispatcher: Dispatcher, *, remember: bool = True, max_in_flight: int = MAX_IN_FLIGHT) -> None:
        self.dispatcher = dispatcher
        self._remember = remember
        self._max_in_flight = max_in_flight
        self._caches: dict[tuple[str, int], PacketCache] = {}
        self._pool = TaskPool()
        self._errands = Errands(dispatcher, self._pool, self._go_on)
        metrics = dispatcher.process.metrics
        self._shed = metrics.counter("shed_dropped_total", "Counter of dropped queries.", ("server", "reason"))
        self._hits = metrics.counter(
            "packet_cache_hits_total",
            "Counter of queries answered by the packet cache, without the plugins.",
            ("server", "proto"),
        )

    @property
    def settings(self) -> Settings:
        return self.dispatcher.settings

    @property
    def backlog(self) -> int:
        """Queries that have not begun yet."""
        return self._pool.backlog

    def cache(self, transport: str, family: int) -> PacketCache | None:
        """The packet cache of one kind of socket; ``family`` is 4 or 6."""
        if not self._remember:
            return None
        kind = transport, family
        cache = self._caches.get(kind)
        if cache is None:
            cache = self._caches[kind] = self._new_cache(transport)
        return cache

    def _new_cache(self, transport: str) -> PacketCache:
        process = self.dispatcher.process
        cache = PacketCache(process.clock, counters=(self._hits.labels(self.dispatcher.label, transport).inc,))
        process.changes.listen(cache.invalidate)
        process.metrics.before_exposition(cache.flush)
        return cache

    def submit(self, data: bytes, client: Address, local: Address, transport: str, send: Send) -> None:
        """Answer a message that the packet cache does not know; ``send`` is called once, with None for no reply."""
        asker = Client(client, local, send)
        if transport == "udp":
            self.ask(data, asker)
        else:
            self._pool.run(self._serve(data, asker, transport))

    def ask(self, data: bytes, asker: Asker) -> None:
        """The same for a datagram."""
        if self._pool.in_flight >= self._max_in_flight:
            self._shed.labels(self.dispatcher.label, "in_flight").inc()
            asker.send(None)
        elif not self._remember or not self._errands.take(data, asker):
            self._pool.run(self._serve(data, asker, "udp"))

    def _go_on(self, errand: Errand) -> None:
        """Have the chain answer what cannot go the short way, or not all of it."""
        self._pool.run(self._serve(errand.data, errand.asker, "udp", errand))

    async def _serve(self, data: bytes, asker: Asker, transport: str, errand: Errand | None = None) -> None:
        cache = self.cache(transport, asker.family)
        ticket = Ticket(0, any_variant()) if cache is None else cache.ticket(data)
        octets = None
        try:
            reply = await self.dispatcher.handle(data, asker.address, asker.local, transport, ticket.variant, errand)
            if reply is not None:
                octets = reply.octets
                if cache is not None and reply.replay is not None:
                    cache.put(data, octets, reply.replay, ticket, reply.ring)
        finally:
            asker.send(octets)

    def cancel(self) -> None:
        """Leave the queries in flight without a reply."""
        self._errands.cancel()
        self._pool.cancel()

    async def finish(self) -> None:
        """Let the queries in flight end, for `STOP_TIMEOUT` seconds at most, and forget what was remembered."""
        await self._pool.finish(STOP_TIMEOUT)
        self._errands.cancel()
        process = self.dispatcher.process
        for cache in self._caches.values():
            cache.clear()
            process.changes.forget(cache.invalidate)
            process.metrics.forget(cache.flush)
        self._caches.clear()
        self._remember = False


class HasListener(Protocol):
    """Where sockets belong, as they see it: the listener may be exchanged between two messages."""

    listener: Listener
