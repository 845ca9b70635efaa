"""One timer for many waits of the same length.

A timer of its own for each query would cost more than sending it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol


class Wait(Protocol):
    """What may be over before its time."""

    def done(self) -> bool: ...

    def expire(self) -> None:
        """The time is up."""


class Deadlines:
    """Ends each wait ``seconds`` after it was added."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waits: deque[tuple[float, Wait]] = deque()
        self._running = False
        self._loop = asyncio.get_running_loop()

    def add(self, wait: Wait) -> None:
        waits = self._waits
        while waits and waits[0][1].done():
            waits.popleft()
        waits.append((self._loop.time() + self._seconds, wait))
        if not self._running:
            self._running = True
            self._loop.call_later(self._seconds, self._expire)

    def _expire(self) -> None:
        now = self._loop.time()
        waits = self._waits
        while waits and (waits[0][0] <= now or waits[0][1].done()):
            wait = waits.popleft()[1]
            if not wait.done():
                wait.expire()
        self._running = bool(waits)
        if waits:
            self._loop.call_at(waits[0][0], self._expire)
