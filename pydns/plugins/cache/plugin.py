"""Keeps replies and serves them again.

## Description

Replies from the plugins below are kept by name, type, class, and the DO and CD bits of the query, and served again
until they expire.  What was not asked for before, or has expired, is asked below.

A reply lasts as long as the lowest TTL of its records says, at least 5 seconds, at most an hour, or half an hour for a
denial (NXDOMAIN, or no data, with an SOA record).  A denial lasts no longer than the MINIMUM field of its SOA record.
All records of a reply carry that one TTL, also the first time, and count down while it is kept.  SERVFAIL and NOTIMP
are kept for 5 seconds.  Not kept are truncated replies, other response codes, denials without an SOA record, transfers
and notifications.  An error that a plugin reports without having written a reply is not kept either.

The capacities are rounded down to multiples of 256, and are 1024 at least.  When one is reached the least recently used
reply goes.

A reply from the cache has the AA bit it was kept with, but a copy of a forwarded reply never has it.  AD is shown to
clients that set AD or DO.

## Examples

All replies for at most 30 seconds:

```corefile
. {
    cache 30
    forward . /etc/resolv.conf
}
```

Only names in example.org, and their denials for at most 10 seconds; nothing is kept for the cluster's own names:

```corefile
. {
    cache example.org cluster.local {
        denial 5000 10
        disable success cluster.local
        disable denial cluster.local
    }
    forward . 192.0.2.1
}
```

Popular names are refreshed before they expire, and expired ones are served while the upstream is away:

```corefile
. {
    cache 300 {
        prefetch 10 1m 20%
        serve_stale 1h verify 500ms
    }
    forward . 192.0.2.1
}
```

## Metrics

* `coredns_cache_entries{server, type, zones, view}` - replies kept; type is `success` or `denial`.
* `coredns_cache_hits_total{server, type, zones, view}` - queries served from the cache.
* `coredns_cache_misses_total{server, zones, view}` - queries asked below.
* `coredns_cache_requests_total{server, zones, view}` - both together.
* `coredns_cache_prefetch_total{server, zones, view}` - refreshes in the background.
* `coredns_cache_drops_total{server, zones, view}` - replies to another question than the one asked.
* `coredns_cache_served_stale_total{server, zones, view}` - queries served with expired replies.
* `coredns_cache_evictions_total{server, type, zones, view}` - replies that had to go for others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil, inf

from pydns.dns.message import Message
from pydns.dns.name import is_below
from pydns.dns.plain import Shape
from pydns.dns.replay import Lease, Replay
from pydns.dns.ttls import TtlLease
from pydns.dns.types import Flag
from pydns.errand import Errand, Passes
from pydns.plugin import Block, Plugin
from pydns.plugins.cache.counters import Counters
from pydns.plugins.cache.item import Item
from pydns.plugins.cache.keeper import Keeper, in_zones
from pydns.plugins.cache.options import CacheOptions, Prefetch
from pydns.plugins.cache.refresh import Refresher, asking
from pydns.plugins.cache.store import Found, Key, Store
from pydns.query import Query

COARSE = 10.0
"""Seconds of a gap between hits of which one more or less does not matter."""


class Cache(Passes, Plugin):
    """Serves what is kept, and asks below for the rest."""

    name = "cache"
    options = CacheOptions
    replay_safe = True
    keeps = True

    def __init__(self, block: Block, conf: CacheOptions) -> None:
        super().__init__(block, conf)
        self._conf = conf
        self._stale = conf.serve_stale
        self._prefetch = conf.prefetch or Prefetch(amount=0)
        self._zones = conf.zones or block.zones
        self._is_for_all = "." in self._zones
        self._label = ",".join(self._zones)
        self._clock = self.process.clock
        up_to = self._stale.up_to if self._stale else 0.0
        self._store = Store(conf.success.capacity, conf.denial.capacity, up_to, self._clock)
        self._keeper = Keeper(conf, self._store, self.process)
        self._refresher = Refresher(lambda: self.next, self._keeper, self.process, self._stale)
        self._counters: dict[tuple[str, str], Counters] = {}

    async def stop(self) -> None:
        await self._refresher.stop()
        for counters in self._counters.values():
            counters.show()
            self.process.metrics.forget(counters.show)
        self._counters.clear()

    def treats_alike(self, zone: str) -> bool:
        """Whether nothing at all about names in ``zone`` is kept here."""
        if in_zones(zone, self._zones):
            return self._keeper.ignores(zone)
        return not any(is_below(other, zone) for other in self._zones)

    async def serve(self, query: Query) -> Message:
        if not self._is_for_all and not in_zones(query.name, self._zones):
            return await self.next(query)
        counters = self._counters_of(query.server.label, query.view)
        key: Key | None = None
        if not self._keeper.ignores(query.name):
            key = query.name, query.qtype, query.qclass, query.do, bool(query.message.flags & Flag.CD)
            found = self._store.find(key) if query.errand is None else None
            if found is not None:
                return await self._serve_kept(query, key, found, counters)
        counters.missed()
        query.counters.append(counters.missed)  # for what is not kept
        reply, item = self._keeper.keep(query, key, await self.next(asking(query)), counters)
        return reply if item is None else reply.with_replay(None)  # a hit has other flags, and counts as one

    def ahead(self, name: str, shape: Shape) -> bool:
        """Whether the reply is not kept here, but would be."""
        if not self._is_for_all and not in_zones(name, self._zones):
            return False
        return self._store.find((name, *shape.key)) is None

    def back(self, errand: Errand) -> None:
        counters = self._counters_of(errand.home.label, "")
        counters.missed()
        self._keeper.keep_plain(errand, counters)

    async def _serve_kept(self, query: Query, key: Key, found: Found, counters: Counters) -> Message:
        counters.requests.inc()
        counters.hits[found.where].inc()
        now = self._clock()
        if found.item.left(now) <= 0:
            return await self._serve_stale(query, key, found, counters)
        return self._serve_fresh(query, key, found, counters, now)

    def _serve_fresh(self, query: Query, key: Key, found: Found, counters: Counters, now: float) -> Message:
        item = found.item
        left = item.left(now)
        reply = item.reply(query, item.ttl if self._conf.keepttl else left)
        prefetch = self._prefetch
        if prefetch.amount:
            item.count(now, 1, prefetch.gap)
            if self._is_nearly_over(item, left):
                if item.hits >= prefetch.amount:
                    self._refresher.prefetch(query, key, item, counters)
                return reply
        return reply.with_replay(self._replay(key, found, counters, now))

    def _is_nearly_over(self, item: Item, left: int) -> bool:
        """Whether it is time to prefetch a reply with ``left`` seconds to live."""
        return left <= ceil(self._prefetch.percent / 100 * item.ttl)

    async def _serve_stale(self, query: Query, key: Key, found: Found, counters: Counters) -> Message:
        stale, item = self._stale, found.item
        assert stale is not None  # without serve_stale nothing expired is found
        if stale.verify:
            fresh = await self._refresher.verify(query, key, item, counters)
            if fresh is not None:
                return fresh.with_replay(None)
        else:
            self._refresher.revive(query, key, item, counters)
        counters.stale.inc()
        return item.reply(query, item.ttl if self._conf.keepttl and not stale.ttl else stale.ttl)

    def _replay(self, key: Key, found: Found, counters: Counters, now: float) -> Replay | None:
        """Consent to send a hit again, with its TTL as it counts down; each replay is another hit.

        Where a gap between hits may matter to *prefetch*, every second begins with a hit whose time is known and taken
        for that of the others, however late they are told; there is no consent where a second matters.
        """
        item, gap = found.item, self._prefetch.gap
        counted: list[Callable[[int], None]] = [counters.requests.inc, counters.hits[found.where].inc]
        if self._prefetch.amount:
            counted.append(lambda times: item.count(now, times, gap))
            if item.ttl > gap:
                return Replay(item.next_tick(now), counters=tuple(counted)) if gap >= COARSE else None
        return Replay(inf, counters=tuple(counted), lease=self._lease(key, item, now))

    def _lease(self, key: Key, item: Item, now: float) -> Lease:
        """That of hits within this second of the item's."""
        lease = item.lease
        if lease is None or lease.until <= now:
            ttl = item.ttl if self._conf.keepttl else item.left(now)
            lease = item.lease = TtlLease(ttl.to_bytes(4, "big"), partial(self._next_lease, key, item))
            lease.until = item.next_tick(now)
        return lease

    def _next_lease(self, key: Key, item: Item) -> Lease | None:
        """The lease of now, if the item is what a hit would find now, and nothing but a TTL would be new."""
        found = self._store.find(key)
        now = self._clock()
        left = item.left(now)
        if found is None or found.item is not item or left <= 0:
            return None
        return None if self._prefetch.amount and self._is_nearly_over(item, left) else self._lease(key, item, now)

    def _counters_of(self, server: str, view: str) -> Counters:
        where = server, view
        counters = self._counters.get(where)
        if counters is None:
            counters = self._counters[where] = Counters(self.process.metrics, where[0], self._label, where[1])
            self.process.metrics.before_exposition(counters.show)
        return counters
