"""Runs coroutines in tasks that are used again.

A task for each query would cost 6 to 8 of the 60 to 90 microseconds that one takes; most queries never wait.

Rules:

1. A task runs one coroutine after the other, in the order in which they came.
2. When one waits (for an upstream), the next task goes on with the others, so that none holds up those behind it.
3. After `TURN` coroutines a task lets the event loop go on.
4. Each coroutine sees a task of its own, with one exception: context variables that it sets are still set for the next.

It knows nothing of queries.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any

TURN = 64
"""Coroutines that a task may run before the event loop gets its turn."""
KEPT = 256
"""Tasks that may stay without work; more of them end."""


class TaskPool:
    """Tasks that come when there is work, and stay for what comes later."""

    def __init__(self) -> None:
        self.in_flight = 0
        """Coroutines that have not ended yet."""
        self._waiting: deque[Coroutine[Any, Any, None]] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._relaying = False
        self._finishing = False

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Have ``coroutine`` run soon."""
        self.in_flight += 1
        self._waiting.append(coroutine)
        if not self._relaying:
            self._relay()

    def _relay(self) -> None:
        """While something is there to run, set another task to it, in case that the last one has met a wait."""
        self._relaying = bool(self._waiting)
        if not self._waiting:
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
            for _ in range(TURN):
                if not self._waiting:
                    break
                try:
                    await self._waiting.popleft()
                finally:
                    self.in_flight -= 1
            if self._finishing or len(self._idle) >= KEPT:
                return
            idle = asyncio.get_running_loop().create_future()
            self._idle.append(idle)
            await idle

    async def finish(self, timeout: float) -> None:
        """Let what runs end within ``timeout`` seconds; cancel the rest."""
        self._finishing = True
        while self._idle:
            self._idle.pop().set_result(None)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout)
        self.cancel()

    def cancel(self) -> None:
        """Cancel what runs; what waits for a task does not begin."""
        self._finishing = True
        self._idle.clear()
        while self._waiting:
            self._waiting.popleft().close()
            self.in_flight -= 1
        for task in self._tasks:
            task.cancel()
