"""Replies remembered by the octets of their queries, so that the same query need not pass the chain again.

Rules:

1. The slow path is the definition; this only remembers.  Without it the server is as correct.
2. A key is a whole message less its ID; a cache belongs to one listener, transport and address family, so that whatever
   a chain may look at is part of the key.
3. Only consent counts: a reply comes with a `Replay`, which ends with its time or with a change of its tags.
4. A reply that was being made while one of its data changed is not kept: `put` compares epochs.
5. New entries are on probation; the first hit moves one to the protected ones.  Both have their share of the octets, so
   that a flood of names asked once pushes out nothing but itself.
6. Replays are counted in the entry, and told to the reply's counters when it dies or is asked to `flush`.

It knows no sockets, no zones and no plugins.  ``get`` is the hottest path of the server.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import cycle

from pydns.dns.message import Replay

MAX_QUERY = 512
"""Octets of the longest query that is kept."""
MAX_REPLY = 8192
"""Octets of the longest reply that is kept."""
MAX_OCTETS = 8 << 20
"""Octets that the entries of one cache may take, half on probation and half protected."""
OVERHEAD = 700
"""Octets that an entry takes besides query and reply (measured, CPython 3.11)."""


class _Variant:
    """One reply less its ID, and how often it was sent again since that was last told."""

    __slots__ = ("counters", "hits", "octets")

    def __init__(self, octets: bytes, counters: tuple[Callable[[int], None], ...]) -> None:
        self.octets = octets
        self.counters = counters
        self.hits = 0

    def flush(self) -> None:
        if self.hits:
            for count in self.counters:
                count(self.hits)
            self.hits = 0


class _Entry:
    """The replies to one query, sent in turn once there are as many as wanted."""

    __slots__ = ("recent", "size", "tags", "turns", "until", "variants", "wanted")

    turns: Iterator[_Variant]

    def __init__(self, replay: Replay, size: int) -> None:
        self.variants: list[_Variant] = []
        self.wanted = replay.variants
        self.until = replay.until
        self.tags: set[Hashable] = set()
        self.size = size
        self.recent = False

    def add(self, octets: bytes, replay: Replay) -> None:
        self.variants.append(_Variant(octets, replay.counters))
        self.until = min(self.until, replay.until)
        self.tags.update(replay.tags)
        self.size += len(octets)
        self.turns = cycle(self.variants)

    @property
    def complete(self) -> bool:
        return len(self.variants) >= self.wanted


class _Segment:
    """Entries in the order in which they came, and the octets they take."""

    def __init__(self, limit: int) -> None:
        self.entries: dict[bytes, _Entry] = {}
        self.limit = limit
        self.octets = 0

    def add(self, key: bytes, entry: _Entry) -> None:
        self.entries[key] = entry
        self.octets += entry.size

    def pop(self, key: bytes) -> _Entry | None:
        entry = self.entries.pop(key, None)
        if entry is not None:
            self.octets -= entry.size
        return entry

    def oldest(self) -> bytes:
        return next(iter(self.entries))


class PacketCache:
    """What one kind of socket of one listener has sent.  ``clock`` gives seconds, as in `Replay.until`."""

    def __init__(self, clock: Callable[[], float], max_octets: int = MAX_OCTETS) -> None:
        self.epoch = 0
        """Counts the changes of tagged data; note it before a reply is made and hand it to `put`."""
        self._clock = clock
        self._probation = _Segment(max_octets // 2)
        self._protected = _Segment(max_octets // 2)
        self._hot = self._protected.entries
        self._tagged: dict[Hashable, set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._probation.entries) + len(self._hot)

    @property
    def octets(self) -> int:
        """What the entries take, roughly."""
        return self._probation.octets + self._protected.octets

    def get(self, query: bytes) -> bytes | None:
        """The reply to send, with the query's ID; None where the chain must be asked."""
        key = query[2:]
        entry = self._hot.get(key)
        if entry is None:
            entry = self._promote(key)
            if entry is None:
                return None
        if entry.until <= self._clock():
            self._drop(key)
            return None
        entry.recent = True
        variant = next(entry.turns)
        variant.hits += 1
        return query[:2] + variant.octets

    def put(self, query: bytes, reply: bytes, replay: Replay, epoch: int) -> None:
        """Remember a reply that was made from the data as they were at ``epoch``."""
        if len(query) > MAX_QUERY or len(reply) > MAX_REPLY or replay.until <= self._clock():
            return
        if replay.tags and epoch != self.epoch:
            return
        key = query[2:]
        entry = self._probation.entries.get(key)
        if key in self._hot or (entry is not None and entry.complete and entry.until > self._clock()):
            return  # the same query was answered meanwhile
        self._probation.pop(key)
        if entry is None or entry.until <= self._clock():
            self._bury(entry, key)
            entry = _Entry(replay, len(key) + OVERHEAD)
        entry.add(reply[2:], replay)
        self._probation.add(key, entry)
        for tag in replay.tags:
            self._tagged.setdefault(tag, set()).add(key)
        self._shrink_probation()

    def invalidate(self, tags: Iterable[Hashable]) -> None:
        """Forget every reply that was made from one of these data."""
        self.epoch += 1
        for tag in tags:
            for key in self._tagged.pop(tag, ()):
                self._drop(key)

    def flush(self) -> None:
        """Tell all counters the replays that they do not know of yet."""
        for segment in (self._probation, self._protected):
            for entry in segment.entries.values():
                for variant in entry.variants:
                    variant.flush()

    def clear(self) -> None:
        """Forget everything."""
        for key in [*self._probation.entries, *self._hot]:
            self._drop(key)

    def _promote(self, key: bytes) -> _Entry | None:
        entry = self._probation.entries.get(key)
        if entry is None or not entry.complete:
            return None
        self._probation.pop(key)
        self._protected.add(key, entry)
        entry.recent = True
        self._shrink_protected()
        return entry

    def _shrink_probation(self) -> None:
        while self._probation.octets > self._probation.limit:
            self._drop(self._probation.oldest())

    def _shrink_protected(self) -> None:
        """Second chance: the oldest entry goes, unless it was asked for since it was last looked at."""
        segment = self._protected
        while segment.octets > segment.limit and len(segment.entries) > 1:
            key = segment.oldest()
            entry = segment.entries[key]
            if not entry.recent:
                self._drop(key)
                continue
            entry.recent = False
            segment.pop(key)
            segment.add(key, entry)

    def _drop(self, key: bytes) -> None:
        self._bury(self._probation.pop(key) or self._protected.pop(key), key)

    def _bury(self, entry: _Entry | None, key: bytes) -> None:
        """Settle what a removed entry leaves behind: hits not told, its place among the tags."""
        if entry is None:
            return
        for variant in entry.variants:
            variant.flush()
        for tag in entry.tags:
            keys = self._tagged.get(tag)
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._tagged[tag]
