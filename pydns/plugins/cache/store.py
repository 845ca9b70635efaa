"""The items that are kept: positive replies and denials apart, each with a capacity.

CoreDNS evicts at random in 256 parts; here the least recently used item goes.  It knows no messages and no metrics.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

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


class _Part:
    """Items of one kind in the order of their last use."""

    def __init__(self, room: int) -> None:
        self._items: OrderedDict[Key, Item] = OrderedDict()
        self._room = room

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Key, oldest: float) -> Item | None:
        """The item, unless it ended at ``oldest`` or before."""
        item = self._items.get(key)
        if item is None:
            return None
        if item.stored + item.ttl <= oldest:
            del self._items[key]
            return None
        self._items.move_to_end(key)
        return item

    def put(self, key: Key, item: Item) -> int:
        self._items[key] = item
        self._items.move_to_end(key)
        if len(self._items) <= self._room:
            return 0
        self._items.popitem(last=False)
        return 1

    def pop(self, key: Key) -> Item | None:
        return self._items.pop(key, None)


class Store:
    """``stale`` is the seconds for which an expired item is still kept; ``clock`` is monotonic seconds."""

    def __init__(self, success: int, denial: int, stale: float, clock: Callable[[], float]) -> None:
        self._stale = stale
        self._clock = clock
        self._parts = {SUCCESS: _Part(capacity(success)), DENIAL: _Part(capacity(denial))}

    def find(self, key: Key) -> Found | None:
        """The denial if there is one, else the positive reply; that one also before a failure."""
        oldest = self._clock() - self._stale
        denial = self._parts[DENIAL].get(key, oldest)
        if denial is not None and denial.rcode != Rcode.SERVFAIL:
            return Found(DENIAL, denial)
        success = self._parts[SUCCESS].get(key, oldest)
        if success is not None:
            return Found(SUCCESS, success)
        return None if denial is None else Found(DENIAL, denial)

    def put(self, where: str, key: Key, item: Item) -> int:
        """Keep ``item`` in place of what was under ``key`` in that part; how many others were evicted for it."""
        return self._parts[where].put(key, item)

    def forget_denial(self, key: Key) -> bool:
        """Whether there was one."""
        return self._parts[DENIAL].pop(key) is not None

    def size(self, where: str) -> int:
        return len(self._parts[where])


def capacity(words: int) -> int:
    """The items that ``words`` of a Corefile really allow: 256 parts of one size, at least four items in each."""
    return max(words // PARTS, SMALLEST_PART) * PARTS
