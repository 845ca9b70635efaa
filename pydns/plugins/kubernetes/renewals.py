"""Answers made anew after a change, before they are asked for again.

Most changes come alone, and nobody asks at that moment: then who asks next need not wait for what takes longest.

Rules:

1. It is done in later passes of the event loop, one answer in each, so that queries that are there have their turn.
2. No more than `MAX_WAITING` wait for it: in a burst of changes the time is the events', and who asks first makes the
   answer.

It does not know answers, nor which of them are worth it (`answers`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydns.dns.message import Question

MAX_WAITING = 16


class Renewals:
    """Calls ``renew`` with a question and its zone, soon; of what comes before `start` and after `stop` nothing."""

    def __init__(self, renew: Callable[[Question, str], None]) -> None:
        self._renew = renew
        self._waiting: dict[Question, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next: asyncio.Handle | None = None

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        self._loop = None
        self._waiting.clear()
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def add(self, question: Question, zone: str) -> None:
        if self._loop is None or len(self._waiting) >= MAX_WAITING:
            return
        self._waiting[question] = zone
        if self._next is None:
            self._next = self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        question = next(iter(self._waiting))
        zone = self._waiting.pop(question)
        assert self._loop is not None
        self._next = self._loop.call_soon(self._go_on) if self._waiting else None
        self._renew(question, zone)
