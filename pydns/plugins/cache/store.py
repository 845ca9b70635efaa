"""The items that are kept: positive replies and denials apart, each with a capacity.

CoreDNS evicts at random in 256 parts; here the least recently used item goes.  It knows no messages and no metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cachetools import TLRUCache

from pydns.dns.types import Rcode
from pydns.plugins.cache.item import Item

SUCCESS = "success"
DENIAL = "denial"
PARTS = 256
SMALLEST_PART = 4


class Key(NamedTuple):
    """What a reply depends on; ``name`` in lower case."""

    name: str
    type: int
    cls: int
    do: bool
    cd: bool


class Found(NamedTuple):
    """An item, and the name of the part it lies in (a metrics label)."""

    where: str
    item: Item


class _Part(TLRUCache[Key, Item]):
    """Items of one kind; counts those that had to go for others."""

    evicted = 0

    def popitem(self) -> tuple[Key, Item]:
        self.evicted += 1
        return super().popitem()


class Store:
    """``stale`` is the seconds for which an expired item is still kept; ``clock`` is monotonic seconds."""

    def __init__(self, success: int, denial: int, stale: float, clock: Callable[[], float]) -> None:
        def end(key: Key, item: Item, now: float) -> float:
            return item.stored + item.ttl + stale

        self._parts = {
            SUCCESS: _Part(capacity(success), end, clock),
            DENIAL: _Part(capacity(denial), end, clock),
        }

    def find(self, key: Key) -> Found | None:
        """The denial if there is one, else the positive reply; that one also before a failure."""
        denial = self._parts[DENIAL].get(key)
        if denial is not None and denial.rcode != Rcode.SERVFAIL:
            return Found(DENIAL, denial)
        success = self._parts[SUCCESS].get(key)
        if success is not None:
            return Found(SUCCESS, success)
        return None if denial is None else Found(DENIAL, denial)

    def put(self, where: str, key: Key, item: Item) -> int:
        """Keep ``item`` in place of what was under ``key`` in that part; how many others were evicted for it."""
        part = self._parts[where]
        before = part.evicted
        part[key] = item
        return part.evicted - before

    def forget_denial(self, key: Key) -> bool:
        """Whether there was one."""
        return self._parts[DENIAL].pop(key, None) is not None

    def size(self, where: str) -> int:
        return len(self._parts[where])


def capacity(words: int) -> int:
    """The items that ``words`` of a Corefile really allow: 256 parts of one size, at least four items in each."""
    return max(words // PARTS, SMALLEST_PART) * PARTS
