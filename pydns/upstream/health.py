"""Whether an upstream is up: probed after a failure, until it replies (CoreDNS's in-band health checks).

A healthy upstream is never probed, and failed queries start a probe but do not count themselves.  Knows nothing of what
a probe sends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pydns.upstream.reply import ExchangeError

SHORTEST_INTERVAL = 0.01
"""Seconds: ``health_check 0`` would keep a processor busy for as long as an upstream refuses."""


class Health:
    """The failed probes of one upstream since the last good one.

    ``probe`` raises ExchangeError; ``failed`` is called each time it does; ``interval`` is in seconds.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[None]],
        interval: float,
        failed: Callable[[], None],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._probe = probe
        self._interval = max(interval, SHORTEST_INTERVAL)
        self._failed = failed
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None
        self.fails = 0

    def check(self) -> None:
        """Probe until there is a reply, unless that is under way."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._until_up())

    async def stop(self) -> None:
        """Probe no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _until_up(self) -> None:
        while not await self._is_up():
            await self._sleep(self._interval)

    async def _is_up(self) -> bool:
        try:
            await self._probe()
        except ExchangeError:
            self.fails += 1
            self._failed()
            return False
        self.fails = 0
        return True
