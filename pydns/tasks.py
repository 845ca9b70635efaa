"""Background tasks that live as long as their owner.

It imports nothing of this package.  A task that is only created may be collected while it runs; here it is kept.
"""

import asyncio
from collections.abc import Coroutine


class Tasks:
    """Tasks of one owner, cancelled together."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def run(self, coroutine: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run ``coroutine`` until it ends or `stop` is called."""
        task = asyncio.create_task(coroutine)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def stop(self) -> None:
        """Cancel what still runs and wait for its end; the task that calls this is left to finish."""
        others = self._running - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
