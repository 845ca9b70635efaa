"""One listening address: its queries in flight and the replies it remembers.

Duty: join the `Dispatcher` with a `PacketCache` for each kind of socket, and bound the work that waits.  Sockets come
and go above it (`endpoint`); it knows neither sockets nor plugins.
"""

from __future__ import annotations

from typing import Protocol

from pydns.errand import Errand
from pydns.plugin import Address, Settings
from pydns.server.dispatch import Dispatcher
from pydns.server.errands import Errands, Send
from pydns.server.packet_cache import PacketCache, Ticket, new_turn
from pydns.server.task_pool import TaskPool

MAX_IN_FLIGHT = 10_000
"""Queries that may wait for their replies; more are dropped, and their clients ask again."""
STOP_TIMEOUT = 5.0
"""Seconds that queries get to end when their listener stops."""


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

    @property
    def settings(self) -> Settings:
        return self.dispatcher.settings

    def cache(self, transport: str, family: int) -> PacketCache | None:
        """The packet cache of one kind of socket; ``family`` is 4 or 6."""
        if not self._remember:
            return None
        kind = transport, family
        if kind not in self._caches:
            self._caches[kind] = self._new_cache()
        return self._caches[kind]

    def _new_cache(self) -> PacketCache:
        process = self.dispatcher.process
        cache = PacketCache(process.clock)
        process.changes.listen(cache.invalidate)
        process.metrics.before_exposition(cache.flush)
        return cache

    def submit(self, data: bytes, client: Address, local: Address, transport: str, send: Send) -> None:
        """Answer a message that the packet cache does not know; ``send`` is called once, with None for no reply."""
        if self._pool.in_flight >= self._max_in_flight:
            self._shed.labels(self.dispatcher.label, "in_flight").inc()
            send(None)
            return
        if transport == "udp" and self._remember and self._errands.take(data, client, local, send):
            return
        self._pool.run(self._serve(data, client, local, transport, send))

    def _go_on(self, errand: Errand) -> None:
        """Have the chain answer what was begun the short way."""
        self._pool.run(self._serve(errand.data, errand.client, errand.local, "udp", errand.send, errand))

    async def _serve(
        self, data: bytes, client: Address, local: Address, transport: str, send: Send, errand: Errand | None = None
    ) -> None:
        cache = self.cache(transport, 6 if ":" in client[0] else 4)
        ticket = Ticket(0, new_turn()) if cache is None else cache.ticket(data)
        reply = await self.dispatcher.handle(data, client, local, transport, ticket.turn, errand)
        if reply is None:
            send(None)
            return
        if cache is not None and reply.replay is not None:
            cache.put(data, reply.octets, reply.replay, ticket, reply.ring)
        send(reply.octets)

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
