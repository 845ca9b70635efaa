"""The worker processes that serve one configuration, kept alive by their parent.

Rules:

1. There is one worker for each set of sockets (`Endpoint.sets`).  The parent holds all sockets open.
2. A set without a worker is served by the parent itself, with its own plugins: until the first worker serves, and from
   the end of one to the start of the next.  So nothing is lost but what a dying worker had read already.
3. A worker that cannot start at first is an error of the configuration.  One that ends later is replaced at once, and
   after a growing pause where the next ones do not live long.
4. Each worker is fed a snapshot of what plugins have (`Feeds`), then every change.
5. What a worker has told of its counts is kept when it ends (`tally`).
6. A worker tells something each second.  One that serves and says nothing while this process looks `SILENT` times, a
   second apart, hangs and is ended.
7. A start that is not over when the server stops fails.
8. As many workers start at a time as there are processors: more would take them away from the parent, which serves.
   One that does not serve after `START_TIME` makes way for the next one, and may still come.

It knows no plugin by name.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from pydns.log import Log, tell
from pydns.plugin import Process
from pydns.server.channel import Recipe
from pydns.server.endpoint import Endpoint
from pydns.server.instance import Instance, StartError
from pydns.server.tally import Adder, Portion
from pydns.server.worker_process import Snapshot, WorkerProcess, encoded_change
from pydns.workforce import Feeds, Workers

COLLECT_TIMEOUT = 1.0
"""Seconds that workers get to tell what they have counted; what comes later counts the next time."""
FINISH_TIMEOUT = 10.0
"""Seconds that workers get to end; queries in flight get half of them (`listener.STOP_TIMEOUT`)."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
SILENT = 10
START_TIME = 10.0
"""Seconds that a start may hold up others."""
STOPS = "the server stops"
"""Why a start fails that a stop has overtaken."""
STEADY = 10.0
"""Seconds after which a worker counts as one that works, and is replaced at once."""

_log = Log()


class Crew(Workers):
    """The workers of ``instance``; ``endpoints`` have as many sets of sockets as it wants."""

    def __init__(self, instance: Instance, endpoints: Sequence[Endpoint], process: Process, adder: Adder) -> None:
        self._instance = instance
        self._process = process
        self._adder = adder
        self._common = process.common
        self._posts = [_Post(number, instance, endpoints) for number in range(instance.workers)]
        self._finishing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._starts = asyncio.Semaphore(len(os.sched_getaffinity(0)))
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the workers, and wait until all serve.  Raises StartError; none is left then."""
        for number, plugin in self._feeding():
            plugin.follow(partial(self._tell, number, plugin.name))
        for post in self._posts:
            await post.stand_in()
        self._tasks = [asyncio.create_task(self._keep(post)) for post in self._posts]
        for task in self._tasks:
            task.add_done_callback(self._check)
        try:
            await asyncio.gather(*(post.first for post in self._posts))
        except StartError:
            await self.finish()
            raise

    async def finish(self) -> None:
        """Have the workers answer what is there and end."""
        self._finish()
        for post in self._posts:
            post.finish()
        _, late = await asyncio.wait(self._tasks, timeout=FINISH_TIMEOUT)
        if late:
            self.kill()
            await asyncio.wait(late)
        for post in self._posts:
            post.close()

    def kill(self) -> None:
        """End the workers at once."""
        self._finish()
        for post in self._posts:
            post.kill()

    def _finish(self) -> None:
        if not self._finishing.done():
            self._finishing.set_result(None)

    def _check(self, task: asyncio.Task[None]) -> None:
        """A bug here must not leave sockets without a worker."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.fatal(f"keeping workers: {error!r}")
            self._process.fatal()

    async def collect(self) -> None:
        """See `pydns.workforce.Workers`."""
        try:
            async with asyncio.timeout(COLLECT_TIMEOUT):
                await asyncio.gather(*(worker.count() for worker in self._serving()))
        except TimeoutError:
            pass

    def not_ready(self) -> Collection[str]:
        """See `pydns.workforce.Workers`."""
        return {name for worker in self._serving() for name in worker.not_ready}

    def _serving(self) -> list[WorkerProcess]:
        return [post.worker for post in self._posts if post.worker is not None and post.worker.serving]

    def _feeding(self) -> list[tuple[int, Feeds]]:
        """The plugins that feed, with the numbers of their blocks."""
        blocks = enumerate(self._instance.blocks)
        return [(number, plugin) for number, block in blocks for plugin in block.having(Feeds)]  # type: ignore[type-abstract]

    def _tell(self, block: int, plugin: str, piece: bytes) -> None:
        workers = [post.worker for post in self._posts if post.worker is not None]
        tell([worker.tell for worker in workers], encoded_change(block, plugin, piece))

    async def _keep(self, post: _Post) -> None:
        """Have a worker at a post, one after the other."""
        pause = _Pause()
        while True:
            began = self._process.clock()
            why = await self._work(post)
            if not post.first.done():
                post.first.set_exception(StartError(STOPS if self._finishing.done() else why))
                return
            if self._finishing.done():
                return
            await post.stand_in()
            seconds = pause.next(self._process.clock() - began)
            later = f" in {seconds:g}s" if seconds else ""
            _log.error(f"worker {post.number} ended: {why}; another one starts{later}")
            if await self._finishes_within(seconds):
                return

    async def _finishes_within(self, seconds: float) -> bool:
        """Wait, but not beyond the end of the crew; whether that is here."""
        await self._wait(self._finishing, seconds)
        return self._finishing.done()

    async def _wait(self, future: asyncio.Future[Any], seconds: float) -> None:
        """Wait for ``future``, for so many seconds at most; it goes on then."""
        rest: asyncio.Future[Any] = asyncio.ensure_future(self._process.sleep(seconds))
        await asyncio.wait([rest, future], return_when=asyncio.FIRST_COMPLETED)
        rest.cancel()

    async def _work(self, post: _Post) -> str:
        """Run one worker from start to end; why it ended."""
        worker = WorkerProcess(self._counted, self._process.fatal)
        async with self._starts:
            beginning = asyncio.create_task(self._begin(worker, post))
            await self._wait(beginning, START_TIME)
        failed = await beginning
        if failed:
            return failed
        watching = asyncio.create_task(self._watch(worker))
        why = await worker.ended()
        watching.cancel()
        post.worker = None
        self._process.metrics.workers.discard(worker.pid)
        self._adder.forget(worker)
        return why

    async def _begin(self, worker: WorkerProcess, post: _Post) -> str:
        """Start a worker and feed it until it serves its post, or has ended without that; why there is none."""
        if self._finishing.done():
            return STOPS
        try:
            await worker.start(Recipe(self._instance.recipe, self._common, post.sockets()))
        except OSError as error:
            return f"cannot start: {error}"
        post.worker = worker
        self._process.metrics.workers.add(worker.pid)
        if self._finishing.done():
            worker.kill()
        snapshots = [Snapshot(number, plugin.name, plugin.snapshot()) for number, plugin in self._feeding()]
        await worker.feed(snapshots)
        if await worker.until_serving() and not self._finishing.done():
            post.relieve()
        return ""

    async def _watch(self, worker: WorkerProcess) -> None:
        """Rule 6."""
        while worker.serving:
            await self._process.sleep(1.0)
            worker.look(SILENT)

    def _counted(self, worker: WorkerProcess, portions: list[Portion]) -> None:
        self._adder.add(worker, portions)


class _Post:
    """The place of one worker: its sockets, and the parent's own endpoints on them while there is no worker."""

    def __init__(self, number: int, instance: Instance, endpoints: Sequence[Endpoint]) -> None:
        self.number = number + 1
        self.worker: WorkerProcess | None = None
        self.first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the first worker serves."""
        self._instance = instance
        self._sets = [(each.address, each.sets[number]) for each in endpoints if number < len(each.sets)]
        self._standing_in: list[Endpoint] = []

    def sockets(self) -> list[tuple[str, int, list[list[int]]]]:
        """The post's sockets for a `Recipe`."""
        return [(*address, list(sockets.descriptors())) for address, sockets in self._sets]

    async def stand_in(self) -> None:
        """Serve the sockets in this process."""
        for address, sockets in () if self._standing_in else self._sets:
            endpoint = Endpoint(address, self._instance.listeners[address])
            endpoint.adopt(sockets.duplicate())
            self._standing_in.append(endpoint)
            endpoint.serve()

    def relieve(self) -> None:
        """Leave the sockets to the worker, which serves now."""
        self.close()
        if not self.first.done():
            self.first.set_result(None)

    def finish(self) -> None:
        """Serve no more."""
        for endpoint in self._standing_in:
            endpoint.pause()
        if self.worker is None:
            return
        if self.worker.serving:
            self.worker.finish()
        else:
            self.worker.kill()

    def close(self) -> None:
        """Stand in no more."""
        for endpoint in self._standing_in:
            endpoint.pause()
            endpoint.close()
        self._standing_in.clear()

    def kill(self) -> None:
        if self.worker is not None:
            self.worker.kill()


class _Pause:
    """The pauses between workers that do not live long."""

    def __init__(self) -> None:
        self._next = 0.0

    def next(self, lived: float) -> float:
        """Seconds to wait after the end of a worker that lived for ``lived`` seconds."""
        seconds = 0.0 if lived >= STEADY else self._next
        self._next = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * seconds))
        return seconds
