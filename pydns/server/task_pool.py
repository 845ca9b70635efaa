"""Runs coroutines in tasks that are used again.

A task for each query would cost 6 to 8 of the 60 to 90 microseconds that one takes; most queries never wait.

Rules:

1. A task runs one coroutine after the other, in the order in which they came.
2. One that waits for an `Arrival` (the reply of an upstream) is put aside, and its task goes on with the others.  When
   the arrival is there the coroutine goes on, in whatever task is free.
3. One that waits for anything else has its task for itself until it ends, and the next task goes on with the others.
4. A turn is what there was when it began; then the event loop goes on.  So nothing has to wait behind all that came in
   many passes, and whoever brings work bounds what one pass may bring.
5. What is cancelled is closed at its wait; what has not begun begins first, so that it can tell that it was given up.
6. So code in a coroutine sees a task of its own, with two exceptions: context variables that it sets are still set for
   others, and it must not hold what remembers the task (``asyncio.timeout``) while it waits for an arrival.

It knows nothing of queries.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Generator
from contextlib import suppress
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate
from types import coroutine as awaitable
from typing import Any

from pydns.tasks import Arrival

KEPT = 256
"""Tasks that may stay without work; more of them end."""

Work = Coroutine[Any, Any, None]
_NOTHING = object()


class TaskPool:
    """Tasks that come when there is work, and stay for what comes later."""

    def __init__(self) -> None:
        self.in_flight = 0
        """Coroutines that have not ended yet, and what has come in by `enter`."""
        self._ready: deque[Work] = deque()
        self._aside: dict[Work, Arrival[Any]] = {}
        self._idle: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._relaying = False
        self._finishing = False
        self._cancelled = False
        self._empty: asyncio.Future[None] | None = None
        """What `finish` waits for."""

    @property
    def backlog(self) -> int:
        """Coroutines that have not begun, or that wait for a task to go on."""
        return len(self._ready)

    def run(self, coroutine: Work) -> None:
        """Have ``coroutine`` run soon."""
        self.in_flight += 1
        self._ready.append(coroutine)
        if not self._relaying:
            self._relay()

    def _relay(self) -> None:
        """While something is there to run, set another task to it, in case that the last one has met a wait."""
        if self._cancelled:
            self._give_up()
        self._relaying = bool(self._ready)
        if not self._ready:
            return
        loop = asyncio.get_running_loop()
        if self._idle:
            self._idle.pop().set_result(None)
        else:
            task = loop.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        loop.call_soon(self._relay)

    async def _work(self) -> None:
        while True:
            await self._take_turn()
            if self._finishing or len(self._idle) >= KEPT:
                return
            idle = asyncio.get_running_loop().create_future()
            self._idle.append(idle)
            await idle

    async def _take_turn(self) -> None:
        """Run what is there; it ends with the first one that needs this task for itself."""
        for _ in range(len(self._ready)):
            if self._cancelled:
                break
            coroutine = self._ready.popleft()
            wait = self._advance(coroutine)
            if wait is not _NOTHING:
                await self._hold(coroutine, wait)
                break

    def _advance(self, coroutine: Work) -> Any:
        """Run a coroutine until it ends or waits: what it needs a task for, `_NOTHING` where it needs none now."""
        try:
            wait = coroutine.send(None)
        except StopIteration:
            self.leave()
            return _NOTHING
        except BaseException:
            self.leave()
            raise
        if not isinstance(wait, Arrival):
            return wait
        self._put_aside(coroutine, wait)
        return _NOTHING

    async def _hold(self, coroutine: Work, wait: Any) -> None:
        """Keep this task for a coroutine until it ends."""
        try:
            await _rest(coroutine, wait)
        finally:
            self.leave()

    def _put_aside(self, coroutine: Work, arrival: Arrival[Any]) -> None:
        arrival._asyncio_future_blocking = False  # said to whoever awaits it that it was taken notice of
        if self._cancelled:  # by the coroutine itself
            arrival.cancel()
            coroutine.close()
            self.leave()
            return
        self._aside[coroutine] = arrival
        arrival.resume = partial(self._resume, coroutine)

    def _resume(self, coroutine: Work) -> None:
        if self._aside.pop(coroutine, None) is not None:
            self._ready.append(coroutine)
            if not self._relaying:
                self._relay()

    def enter(self) -> None:
        """Count something else that is in flight, until it is to `leave`."""
        self.in_flight += 1

    def leave(self) -> None:
        """Count one less."""
        self.in_flight -= 1
        if not self.in_flight and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    async def finish(self, timeout: float) -> None:
        """Let what runs end within ``timeout`` seconds; cancel the rest."""
        self._finishing = True
        while self._idle:
            self._idle.pop().set_result(None)
        if self.in_flight:
            self._empty = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._empty], timeout=timeout)
        self.cancel()

    def cancel(self) -> None:
        """Cancel what runs, waits, or comes later (rule 5)."""
        self._finishing = self._cancelled = True
        self._relaying = False
        self._idle.clear()
        for arrival in self._aside.values():
            arrival.cancel()
        self._ready.extend(self._aside)
        self._aside.clear()
        self._give_up()
        for task in self._tasks:
            task.cancel()

    def _give_up(self) -> None:
        while self._ready:
            coroutine = self._ready.popleft()
            if getcoroutinestate(coroutine) == CORO_CREATED:
                with suppress(StopIteration):
                    coroutine.send(None)
            coroutine.close()
            self.leave()


@awaitable
def _rest(coroutine: Work, wait: Any) -> Generator[Any, Any, None]:
    """Go on with a coroutine that waits for ``wait``, in the task that began it, until it ends."""
    with suppress(StopIteration):
        while True:
            try:
                yield wait
            except BaseException as problem:  # noqa: BLE001  also a cancelled wait is the coroutine's to know
                wait = coroutine.throw(problem)
            else:
                wait = coroutine.send(None)
