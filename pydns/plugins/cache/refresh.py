"""Asking below for what is already kept: before it expires (*prefetch*), or after (*serve_stale*).

One refresh of an item at a time.  One that fails leaves the item as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydns.dns.message import Message
from pydns.dns.types import Rcode
from pydns.plugin import Process
from pydns.plugins.cache.classify import Kind, classify, is_about
from pydns.plugins.cache.counters import Counters
from pydns.plugins.cache.item import Item
from pydns.plugins.cache.keeper import Keeper
from pydns.plugins.cache.options import ServeStale
from pydns.plugins.cache.store import Key
from pydns.query import Dropped, Failure, Query, Serve
from pydns.tasks import Tasks


class Refresher:
    """``ask`` is the link below; ``stale`` what *serve_stale* says, if it is there."""

    def __init__(self, ask: Callable[[], Serve], keeper: Keeper, process: Process, stale: ServeStale | None) -> None:
        self._ask = ask
        self._keeper = keeper
        self._process = process
        self._clock = process.clock
        self._stale = stale or ServeStale()
        self._tasks = Tasks()

    async def stop(self) -> None:
        await self._tasks.stop()

    def prefetch(self, query: Query, key: Key, item: Item, counters: Counters) -> None:
        """Ask again in the background, whatever the reply will be."""
        if item.begin_refresh(self._clock()):
            counters.prefetches.inc()
            self._tasks.run(self._prefetch(unattended(query), key, item, counters))

    def revive(self, query: Query, key: Key, item: Item, counters: Counters) -> None:
        """Ask again in the background for what has expired."""
        if item.begin_refresh(self._clock()):
            counters.prefetches.inc()
            self._tasks.run(self._revive(unattended(query), key, item, counters, asyncio.Future()))

    async def verify(self, query: Query, key: Key, item: Item, counters: Counters) -> Message | None:
        """Ask again and wait; None where no good reply came in time, or another try would be too soon."""
        if self._stale.recheck and not item.begin_refresh(self._clock()):
            return None
        fresh: asyncio.Future[Message | None] = asyncio.Future()
        if not self._stale.timeout:
            await self._revive(query, key, item, counters, fresh)
            return fresh.result()
        self._tasks.run(self._revive(unattended(query, query.transport), key, item, counters, fresh))
        timer = self._tasks.run(self._give_up(fresh))
        try:
            return await fresh
        finally:
            timer.cancel()

    async def _prefetch(self, query: Query, key: Key, item: Item, counters: Counters) -> None:
        try:
            reply = await self._ask()(asking(query))
            _, fresh = self._keeper.keep(query, key, reply, counters, refreshes=True)
            if fresh is not None:
                fresh.hits, fresh.last_hit = item.hits, self._clock()
        except (Failure, Dropped):
            pass  # the item has some time left, and whoever asks next tries again
        finally:
            item.end_refresh(self._clock(), 0, succeeded=True)

    async def _revive(
        self, query: Query, key: Key, item: Item, counters: Counters, fresh: asyncio.Future[Message | None]
    ) -> None:
        """Keep the reply if it is a good one, and put what came of it into ``fresh``."""
        shown: Message | None = None
        try:
            reply = await self._ask()(asking(query))
            if self._is_good(reply, query):
                shown, _ = self._keeper.keep(query, key, reply, counters, refreshes=True)
        except (Failure, Dropped):
            pass  # the expired item is what there is
        finally:
            item.end_refresh(self._clock(), self._stale.recheck, succeeded=shown is not None)
            if not fresh.done():
                fresh.set_result(shown)

    def _is_good(self, reply: Message, query: Query) -> bool:
        """Whether a reply takes the place of an expired item (RFC 8767 section 4)."""
        if reply.truncated or not is_about(reply, query.question):
            return False
        if classify(reply, self._process.wall()) is Kind.OTHER:
            return False
        return reply.rcode in (Rcode.NOERROR, Rcode.NXDOMAIN)

    async def _give_up(self, fresh: asyncio.Future[Message | None]) -> None:
        await self._process.sleep(self._stale.timeout)
        if not fresh.done():
            fresh.set_result(None)


def asking(query: Query) -> Query:
    """The query as it goes down: always with AD, so that a reply is good for clients that want to know."""
    query.asks_ad = True
    return query


def unattended(query: Query, transport: str = "tcp") -> Query:
    """The same query without a client: over TCP, so that no reply is too large, with nothing noted and counted yet."""
    other = query.with_message(query.message)
    other.transport = transport
    other.metadata = {}
    other.counters = []
    return other
