"""The items that are kept: positive replies and denials apart, each with a capacity.

CoreDNS evicts at random in 256 parts; here the least recently used item goes.  It knows no messages and no metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cachetools import LRUCache

from pydns.dns.types import Rcode
from pydns.plugins.cache.item import Item

SUCCESS = "success"
DENIAL = "denial"
PARTS = 256
SMALLEST_PART = 4


Key = tuple[str, int, int, bool, bool]
"""What a reply depends on: name in lower case, type, class, DO, CD.  A plain tuple is made five times faster."""


class Found(NamedTuple):
    """An item, and the name of the part it lies in (a metrics label)."""

    where: str
    item: Item


class _Part(LRUCache[Key, Item]):
    """Items of one kind, the least recently used first to go; ``evicted`` counts those that went for others.

    An item that has expired stays in its place until it is asked for or goes for others, as in CoreDNS, so this is no
    ``TLRUCache``: that one keeps a heap of ends up to date at each step, which costs four times as much.
    """

    evicted = 0

    def popitem(self) -> tuple[Key, Item]:
        self.evicted += 1
        return super().popitem()

    def current(self, key: Key, oldest: float) -> Item | None:
        """The item, unless it ended at ``oldest`` or before."""
        if key not in self:
            return None
        item = self[key]
        if item.stored + item.ttl <= oldest:
            del self[key]
            return None
        return item


class Store:
    """``stale`` is the seconds for which an expired item is still kept; ``clock`` is monotonic seconds."""

    def __init__(self, success: int, denial: int, stale: float, clock: Callable[[], float]) -> None:
        self._stale = stale
        self._clock = clock
        self._successes = _Part(capacity(success))
        self._denials = _Part(capacity(denial))
        self._parts = {SUCCESS: self._successes, DENIAL: self._denials}

    def find(self, key: Key) -> Found | None:
        """The denial if there is one, else the positive reply; that one also before a failure."""
        if key not in self._denials and key not in self._successes:
            return None
        oldest = self._clock() - self._stale
        denial = self._denials.current(key, oldest)
        if denial is not None and denial.rcode != Rcode.SERVFAIL:
            return Found(DENIAL, denial)
        success = self._successes.current(key, oldest)
        if success is not None:
            return Found(SUCCESS, success)
        return None if denial is None else Found(DENIAL, denial)

    def put(self, where: str, key: Key, item: Item) -> int:
        """Keep ``item`` in place of what was under ``key`` in that part; how many others were evicted for it."""
        part = self._parts[where]
        part.evicted = 0
        part[key] = item
        return part.evicted

    def forget_denial(self, key: Key) -> bool:
        """Whether there was one."""
        return self._denials.pop(key, None) is not None

    def size(self, where: str) -> int:
        return int(self._parts[where].currsize)


def capacity(words: int) -> int:
    """The items that ``words`` of a Corefile really allow: 256 parts of one size, at least four items in each."""
    return max(words // PARTS, SMALLEST_PART) * PARTS
