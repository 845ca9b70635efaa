"""Changes EndpointSlices through the API while servers are asked: steadily, or many at once. Knows no servers."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from conformance.bench.api import Api

THREADS = 8
BURST_THREADS = 32


class Steady:
    """Threads that together change a slice `rate` times a second, one Service after the other."""

    def __init__(self, api: Api, rate: float) -> None:
        self._api, self._gap = api, 1 / rate
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._started = time.monotonic()
        self.done = 0

    @property
    def reached(self) -> float:
        """Changes a second so far that the API has taken."""
        return self.done / (time.monotonic() - self._started)

    def work(self) -> None:
        """One thread: takes the next change that is due, until the end."""
        while True:
            with self._lock:
                number = next(self._numbers)
            if self._ended.wait(max(0.0, self._started + number * self._gap - time.monotonic())):
                return
            self._api.change(number % self._api.services)
            with self._lock:
                self.done += 1

    def end(self) -> None:
        self._ended.set()


@asynccontextmanager
async def steady(api: Api, rate: float) -> AsyncIterator[Steady]:
    """Changes `rate` slices a second until the block ends; then an error of the API's is raised."""
    writer = Steady(api, rate)
    with ThreadPoolExecutor(THREADS) as pool:
        threads = [asyncio.get_running_loop().run_in_executor(pool, writer.work) for _ in range(THREADS)]
        try:
            yield writer
        finally:
            writer.end()
            await asyncio.gather(*threads)


def burst(api: Api, numbers: Sequence[int]) -> dict[int, list[str]]:
    """Changes all these slices as fast as the API takes it; the addresses that each Service has then. Blocks."""
    with ThreadPoolExecutor(BURST_THREADS) as pool:
        return dict(zip(numbers, pool.map(api.change, numbers), strict=True))
