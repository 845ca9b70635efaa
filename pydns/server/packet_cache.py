"""Replies remembered by the octets of their queries, so that the same query need not pass the chain again.

Rules:

1. The slow path is the definition; this only remembers.  Without it the server is as correct.
2. A key is a whole message less its ID; a cache belongs to one listener, transport and address family, so that whatever
   a chain may look at is part of the key.
3. Only consent counts: a reply comes with a `Replay`, which ends with its time, with a change of its tags, or with its
   lease where that cannot be renewed.  To renew it is to write the octets of the next lease over its own.
4. A reply that was being made while one of its data changed is not kept: its `Ticket` tells.
5. A reply is kept when its query is not known for the second time within a minute; the first time only a mark of it is.
   So a flood of names asked once costs next to nothing, and pushes out nothing.
6. A reply with a `Ring` is sent in ever new orders, in which each record comes first equally often.  The variants of
   any other have turns one after the other, from a random one on, and are sent in that order: what a plugin does by
   `Query.variant` comes out even.
7. A reply that is not kept may be made from a template (`Templates`), which is as good as the chain.
8. Replays are counted in the entry, and told to the reply's counters and the cache's own when it dies or is asked to
   `flush`.

It knows no sockets, no zones and no plugins.  ``get`` is the hottest path of the server.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import cycle
from typing import NamedTuple

from pydns.dns.packed import Ring, overwritten
from pydns.dns.replay import Lease, Replay
from pydns.server.marks import Marks
from pydns.server.replayed import Replayed
from pydns.server.templates import Templates

ID = 2
"""Octets at the beginning of a message that are no part of what is remembered."""
MAX_QUERY = 512
"""Octets of the longest query that is kept."""
MAX_REPLY = 8192
"""Octets of the longest reply that is kept."""
MAX_OCTETS = 8 << 20
"""Octets that the entries of one cache may take."""
OVERHEAD = 800
"""Octets that an entry takes besides query and reply (measured, CPython 3.11)."""
RING_OVERHEAD = 700
RECORD_OVERHEAD = 50
"""Octets that a ring, and each of its records, takes besides three times their octets (measured, CPython 3.11)."""


class Ticket(NamedTuple):
    """What was so before a reply was made: the ``epoch`` of the data, and the number of the ``variant`` that it is."""

    epoch: int
    variant: int


class _Variant(Replayed):
    """One reply less its ID."""

    __slots__ = ("octets", "places")

    def __init__(self, octets: bytes, counters: tuple[Callable[[int], None], ...]) -> None:
        super().__init__(counters)
        self.octets = octets
        self.places: tuple[int, ...] | None = None
        """Where the octets of a lease stand, once that was asked."""

    def renew(self, old: Lease, new: Lease) -> bool:
        """Turn the reply of one lease into that of another, if it is known how."""
        if self.places is None:
            places = old.places(bytes(ID) + self.octets)
            if places is None:
                return False
            self.places = tuple([place - ID for place in places])
        self.octets = overwritten(self.octets, self.places, new.octets)
        return True


class _Entry:
    """The replies to one query, sent in turn once there are as many as wanted."""

    __slots__ = ("lease", "recent", "ring", "size", "tags", "turns", "until", "variant", "variants", "wanted")

    def __init__(self, replay: Replay, size: int, variant: int) -> None:
        self.variant = variant
        """The number of the next one."""
        self.variants: list[_Variant] = []
        self.wanted = replay.variants
        self.turns: Iterator[_Variant] | None = None
        """The next to send; None until there are enough."""
        self.ring: Ring | None = None
        self.until = replay.until
        self.lease = replay.lease
        self.tags: set[Hashable] = set()
        self.size = size
        self.recent = True

    def add(self, octets: bytes, replay: Replay, ring: Ring | None) -> None:
        variant = _Variant(octets, replay.counters)
        self.variants.append(variant)
        self.variant += 1
        self.until = min(self.until, replay.until)
        self.tags.update(replay.tags)
        self.size += len(octets)
        if ring is not None:
            self.ring = ring
            self.turns = _orders(variant, ring)
            self.size += 3 * sum(map(len, ring.records)) + len(ring.records) * RECORD_OVERHEAD + RING_OVERHEAD
        elif len(self.variants) >= self.wanted:
            self.turns = cycle(self.variants)

    def goes_on(self, now: float, lease: Lease) -> bool:
        """Whether a reply with ``lease`` may join."""
        if self.lease.until <= now:
            self.renew()
        return self.until > now and self.lease.until > now and self.lease is lease

    def renew(self) -> bool:
        """Turn the replies into those of the lease of now, if that is possible; the hits are told."""
        self.flush()
        lease = self.lease.latest()
        if lease is None or self.ring is not None:
            return False
        for variant in self.variants:
            if not variant.renew(self.lease, lease):
                return False
        self.lease = lease
        return True

    def flush(self) -> None:
        for variant in self.variants:
            variant.flush()


def _orders(variant: _Variant, ring: Ring) -> Iterator[_Variant]:
    """A reply in one order of its ring after the other (rule 6)."""
    head, tail = variant.octets[: ring.start - ID], variant.octets[ring.end - ID :]
    shown = ring.end - ring.start
    records = list(ring.records)
    length = len(records[0])
    while True:
        records.sort(key=lambda _: random.random())  # as likely as any other order, in half the time of `shuffle`
        twice = b"".join(records) * 2
        for start in range(0, len(records) * length, length):
            variant.octets = head + twice[start : start + shown] + tail
            yield variant


def any_variant() -> int:
    """The number of the first reply to a query, so that what is kept of many begins anywhere."""
    return random.getrandbits(16)


class PacketCache:
    """What one kind of socket of one listener has sent.

    ``clock`` gives seconds, as in `Replay.until`; ``counters`` are those of every reply.
    """

    def __init__(
        self, clock: Callable[[], float], max_octets: int = MAX_OCTETS, counters: tuple[Callable[[int], None], ...] = ()
    ) -> None:
        self._epoch = 0
        """How often tagged data have changed."""
        self.octets = 0
        """What the entries take, roughly."""
        self._clock = clock
        self._max_octets = max_octets
        self._marks = Marks()
        self._counters = counters
        self._templates = Templates(counters)
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._tagged: dict[Hashable, set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, query: bytes) -> bytes | None:
        """The reply to send, with the query's ID; None where the chain must be asked."""
        key = query[ID:]
        entry = self._entries.get(key)
        if entry is None or entry.turns is None:
            return self._from_template(query)
        now = self._clock()
        if entry.until <= now or (entry.lease.until <= now and not entry.renew()):
            self._drop(key)
            return self._from_template(query)
        entry.recent = True
        variant = next(entry.turns)
        variant.hits += 1
        return query[:ID] + variant.octets

    def _from_template(self, query: bytes) -> bytes | None:
        """The reply that a template gives; kept where its query was seen before."""
        now = self._clock()
        found = self._templates.find(query, now)
        if found is None:
            return None
        template, part = found
        template.hits += 1
        octets = template.reply_to(query, part)
        key = query[ID:]
        if self._marks.add(key, now):
            self._keep(key, octets, template.replay(part), any_variant())
        return query[:ID] + octets

    def ticket(self, query: bytes) -> Ticket:
        """Take it before the reply is made, and hand it to `put`."""
        entry = self._entries.get(query[ID:])
        return Ticket(self._epoch, any_variant() if entry is None else entry.variant)

    def put(self, query: bytes, reply: bytes, replay: Replay, ticket: Ticket, ring: Ring | None = None) -> None:
        """Remember a reply, if its query was seen before; with a ``ring`` in any order of that."""
        key = query[ID:]
        now = self._clock()
        ended = replay.has_ended(now)
        if replay.pattern is not None and not ended:
            self._templates.put(query, reply, replay, now, lambda key: self._marks.add(key, now))
        if not self._marks.add(key, now) or len(query) > MAX_QUERY or len(reply) > MAX_REPLY:
            return
        if not ended and (not replay.tags or ticket.epoch == self._epoch):
            self._keep(key, reply[ID:], replay.with_counters(*self._counters), ticket.variant, ring)

    def _keep(self, key: bytes, octets: bytes, replay: Replay, variant: int, ring: Ring | None = None) -> None:
        """Remember a reply as the next variant, unless the same query was answered meanwhile."""
        entry = self._entries.get(key)
        if entry is not None and entry.goes_on(self._clock(), replay.lease):
            if entry.turns is not None or entry.variant != variant:
                return
            self.octets -= entry.size
        else:
            self._drop(key)
            entry = _Entry(replay, len(key) + OVERHEAD, variant)
        entry.add(octets, replay, ring)
        self._add(key, entry, replay.tags)

    def _add(self, key: bytes, entry: _Entry, tags: Iterable[Hashable]) -> None:
        self._entries[key] = entry
        self.octets += entry.size
        for tag in tags:
            self._tagged.setdefault(tag, set()).add(key)
        self._shrink()

    def invalidate(self, tags: Iterable[Hashable]) -> None:
        """Forget every reply that was made from one of these data."""
        self._epoch += 1
        if not self._tagged:
            return
        for tag in tags:
            for key in self._tagged.pop(tag, ()):
                self._drop(key)

    def flush(self) -> None:
        """Tell all counters the replays that they do not know of yet."""
        for entry in self._entries.values():
            entry.flush()
        self._templates.flush()

    def clear(self) -> None:
        """Forget everything."""
        self._templates.clear()
        for key in tuple(self._entries):
            self._drop(key)

    def _shrink(self) -> None:
        """Second chance: the oldest entry goes, unless it was asked for since it was last looked at."""
        while self.octets > self._max_octets and len(self._entries) > 1:
            key, entry = next(iter(self._entries.items()))
            if not entry.recent:
                self._drop(key)
                continue
            entry.recent = False
            self._entries.move_to_end(key)

    def _drop(self, key: bytes) -> None:
        """Forget an entry and what it leaves behind: hits not told, its place among the tags."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        self.octets -= entry.size
        entry.flush()
        for tag in entry.tags:
            keys = self._tagged.get(tag)
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._tagged[tag]
