"""Background tasks that live as long as their owner, and waits that need no task.

It imports nothing of this package.  A task that is only created may be collected while it runs; here it is kept.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Arrival(asyncio.Future[T]):
    """A future whose one waiter goes on at once when it is brought or fails, if it was left with a `resume`.

    For any task it is a future as others are.  The pool that a server's queries run in sets ``resume`` and lets its
    task do something else meanwhile; to wake a task for each reply would cost more than reading it.
    """

    resume: Callable[[], None] | None = None

    def bring(self, value: T) -> None:
        """What was waited for is there."""
        if not self.done():
            self.set_result(value)
            if self.resume is not None:
                self.resume()

    def fail(self, error: Exception) -> None:
        """It will not come."""
        if not self.done():
            self.set_exception(error)
            if self.resume is not None:
                self.resume()


class Tasks:
    """Tasks of one owner, cancelled together."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
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
