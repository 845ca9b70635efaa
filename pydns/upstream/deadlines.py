"""One timer for many waits of the same length.

A timer of its own for each query would cost more than sending it.
"""

from __future__ import annotations

import asyncio
from collections import deque

from pydns.dns.message import Message, Question
from pydns.upstream.reply import ExchangeError


class Wait:
    """A query under way: what was asked, the octets a reply may have, and who waits (None once that is over)."""

    __slots__ = ("limit", "question", "waiter", "where")

    def __init__(self, question: Question, limit: int, where: str, waiter: asyncio.Future[Message]) -> None:
        self.question = question
        self.limit = limit
        self.where = where
        self.waiter: asyncio.Future[Message] | None = waiter

    def fail(self, why: str) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_exception(ExchangeError(f"{self.where}: {why}"))


class Deadlines:
    """Ends each wait ``seconds`` after it was added."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waits: deque[tuple[float, Wait]] = deque()
        self._running = False

    def add(self, wait: Wait) -> None:
        loop = asyncio.get_running_loop()
        while self._waits and self._waits[0][1].waiter is None:
            self._waits.popleft()
        self._waits.append((loop.time() + self._seconds, wait))
        if not self._running:
            self._running = True
            loop.call_later(self._seconds, self._expire, loop)

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        waits = self._waits
        while waits and (waits[0][0] <= now or waits[0][1].waiter is None):
            waits.popleft()[1].fail("i/o timeout")
        self._running = bool(waits)
        if waits:
            loop.call_at(waits[0][0], self._expire, loop)
