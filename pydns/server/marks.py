"""Which keys were seen lately, at the price of one octet each.

Newer marks take the place of older ones with the same slot.  It knows nothing of what the keys stand for.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import inf

SLOTS = 1 << 18
"""Octets that the marks take, a power of two."""
LAST = 60.0
"""Seconds after which all marks are wiped.  What is asked less often need not be quick."""


class Marks:
    """An octet of each key's hash."""

    def __init__(self) -> None:
        self._octets = bytearray()
        self._end = -inf

    def add(self, key: Hashable, now: float) -> bool:
        """Whether it was there already.  At worst one in 255 is taken for another."""
        if now >= self._end:
            self._octets = bytearray(SLOTS)
            self._end = now + LAST
        number = hash(key)
        slot = number & (SLOTS - 1)
        mark = number >> 32 & 0xFF or 1
        if self._octets[slot] == mark:
            return True
        self._octets[slot] = mark
        return False
