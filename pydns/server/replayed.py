"""What is sent again, and how often: the count that remembered replies have in common.

It knows no queries and no metrics.
"""

from __future__ import annotations

from collections.abc import Callable


class Replayed:
    """Something sent ``hits`` times again since that was last told to ``counters``."""

    __slots__ = ("counters", "hits")

    def __init__(self, counters: tuple[Callable[[int], None], ...]) -> None:
        self.counters = counters
        self.hits = 0

    def flush(self) -> None:
        """Tell the counters what they do not know of yet."""
        if self.hits:
            for count in self.counters:
                count(self.hits)
            self.hits = 0
