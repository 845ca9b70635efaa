"""Which coroutines run when, in which tasks, and how a pool ends."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pydns.server import task_pool as module
from pydns.server.task_pool import TaskPool
from pydns.tasks import Arrival
from tests.server.parts import until
from tests.support import settle


class Run:
    """Coroutines that note that they began, in which task, and that they ended; those with an event wait for it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.tasks: dict[str, asyncio.Task[Any] | None] = {}

    async def one(self, name: str, gate: asyncio.Event | None = None) -> None:
        self.begun.append(name)
        self.tasks[name] = asyncio.current_task()
        if gate is not None:
            await gate.wait()
        self.ended.append(name)


@pytest.fixture
async def pool() -> AsyncIterator[TaskPool]:
    pool = TaskPool()
    yield pool
    await pool.finish(0.01)


async def test_what_never_waits_runs_in_order_in_one_task(pool: TaskPool) -> None:
    run = Run()
    for name in "abc":
        pool.run(run.one(name))
    assert (run.begun, pool.in_flight) == ([], 3)
    await settle()
    assert (run.ended, pool.in_flight) == (["a", "b", "c"], 0)
    pool.run(run.one("later"))
    await settle()
    assert len(set(run.tasks.values())) == 1


async def test_what_waits_holds_up_nobody(pool: TaskPool) -> None:
    run, gates = Run(), {name: asyncio.Event() for name in "bd"}
    for name in "abcde":
        pool.run(run.one(name, gates.get(name)))
    await settle()
    assert (run.begun, run.ended, pool.in_flight) == ([*"abcde"], [*"ace"], 2)
    assert run.tasks["b"] is not run.tasks["d"]
    gates["d"].set()
    await settle()
    pool.run(run.one("f"))
    await settle()
    assert run.ended == [*"acedf"]
    gates["b"].set()
    await settle()
    assert pool.in_flight == 0


async def test_a_time_out_ends_one_coroutine_alone(pool: TaskPool) -> None:
    run, timed_out = Run(), []

    async def impatient() -> None:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            timed_out.append(asyncio.current_task())

    pool.run(run.one("a"))
    pool.run(impatient())
    await settle()
    pool.run(run.one("b"))
    await settle()
    assert timed_out == [run.tasks["a"]]
    assert run.ended == ["a", "b"]


async def test_one_that_is_cancelled_takes_no_other_with_it(pool: TaskPool) -> None:
    run = Run()

    async def cancelled() -> None:
        raise asyncio.CancelledError

    for coroutine in (run.one("a"), cancelled(), run.one("b")):
        pool.run(coroutine)
    await settle()
    assert (run.ended, pool.in_flight) == (["a", "b"], 0)


async def test_a_turn_is_what_there_was_when_it_began(pool: TaskPool) -> None:
    """However much each coroutine brings, the event loop goes on after those that were there."""
    ended: list[int] = []

    async def bring(generation: int) -> None:
        ended.append(generation)
        if generation < 4:
            for _ in range(2):
                pool.run(bring(generation + 1))

    pool.run(bring(0))
    seen: list[list[int]] = []
    while pool.in_flight:
        before = len(ended)
        await asyncio.sleep(0)
        if len(ended) > before:
            seen.append(ended[before:])
    assert seen == [[generation] * 2**generation for generation in range(5)]


async def test_a_long_backlog_is_one_turn(pool: TaskPool) -> None:
    """What comes later waits behind what was there, not behind what comes in several passes."""
    run = Run()
    for number in range(500):
        pool.run(run.one(f"first {number}"))
    assert pool.backlog == 500
    await until(lambda: bool(run.ended))
    assert (len(run.ended), pool.backlog) == (500, 0)


async def test_few_tasks_stay_without_work(pool: TaskPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    run, gate = Run(), asyncio.Event()
    for name in "abcde":
        pool.run(run.one(name, gate))
    await settle()
    gate.set()
    await settle()
    tasks = [task for task in run.tasks.values() if task is not None]
    assert sorted(run.ended) == [*"abcde"]
    assert sum(not task.done() for task in tasks) == 2


async def test_the_end_waits_for_what_runs() -> None:
    pool, run, gate = TaskPool(), Run(), asyncio.Event()
    pool.run(run.one("quick"))
    pool.run(run.one("slow", gate))
    await settle()
    end = asyncio.ensure_future(pool.finish(10))
    await settle()
    assert not end.done()
    gate.set()
    await end
    assert run.ended == ["quick", "slow"]
    await settle()
    assert all(task is not None and task.done() for task in run.tasks.values())


async def test_the_end_does_not_wait_for_ever() -> None:
    pool, run = TaskPool(), Run()
    pool.run(run.one("stuck", asyncio.Event()))
    await settle()
    await pool.finish(0.01)
    await settle()
    assert (run.ended, pool.in_flight) == ([], 0)


async def test_after_a_cancel_nothing_goes_on_and_all_know(recwarn: pytest.WarningsRecorder) -> None:
    pool, run, gate = TaskPool(), Run(), asyncio.Event()
    pool.run(run.one("idle"))
    pool.run(run.one("waits", gate))
    await settle()
    pool.run(run.one("has no task yet", gate))
    pool.cancel()
    pool.run(run.one("comes later", gate))
    gate.set()
    await settle()
    assert run.begun == ["idle", "waits", "has no task yet", "comes later"]
    assert (run.ended, pool.in_flight) == (["idle"], 0)
    assert all(task is not None and task.done() for task in (run.tasks["idle"], run.tasks["waits"]))
    assert [str(warning.message) for warning in recwarn] == []


class Arrivals:
    """Coroutines that wait for arrivals, and what they noted about them."""

    def __init__(self) -> None:
        self.arrivals: dict[str, Arrival[str]] = {}
        self.log: list[str] = []

    async def one(self, name: str) -> None:
        self.arrivals[name] = Arrival()
        self.log.append(name)
        try:
            self.log.append(f"{name} got {await self.arrivals[name]}")
        except ValueError as error:
            self.log.append(f"{name} failed: {error}")
        finally:
            self.log.append(f"{name} over")


async def test_one_that_waits_for_an_arrival_holds_no_task(pool: TaskPool) -> None:
    waits, run = Arrivals(), Run()
    for name in "abc":
        pool.run(waits.one(name))
    pool.run(run.one("d"))
    await settle()
    assert (waits.log, run.ended, pool.in_flight) == ([*"abc"], ["d"], 3)
    assert len(pool._tasks) == 1
    waits.arrivals["c"].bring("x")
    waits.arrivals["a"].fail(ValueError("y"))
    assert waits.log == [*"abc"]
    await settle()
    assert (waits.log[3:], pool.in_flight) == (["c got x", "c over", "a failed: y", "a over"], 1)


async def test_one_that_has_a_task_waits_for_arrivals_as_any_task_does(pool: TaskPool) -> None:
    waits, timed_out = Arrivals(), []

    async def both() -> None:
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(0):
                await waits.one("first")
        except TimeoutError:
            timed_out.append(True)
        await waits.one("second")

    pool.run(both())
    await settle()
    waits.arrivals["second"].bring("x")
    await settle()
    assert waits.log == ["first", "first over", "second", "second got x", "second over"]
    assert (timed_out, pool.in_flight) == ([True], 0)


async def test_the_end_waits_for_arrivals_too() -> None:
    pool, waits = TaskPool(), Arrivals()
    pool.run(waits.one("a"))
    await settle()
    end = asyncio.ensure_future(pool.finish(10))
    await settle()
    assert not end.done()
    waits.arrivals["a"].bring("x")
    await end
    assert waits.log == ["a", "a got x", "a over"]


async def test_after_a_cancel_no_arrival_matters() -> None:
    pool, waits = TaskPool(), Arrivals()
    for name in "ab":
        pool.run(waits.one(name))
    await settle()
    waits.arrivals["a"].bring("x")
    pool.cancel()
    waits.arrivals["b"].bring("x")
    await settle()
    assert (sorted(waits.log), pool.in_flight) == (["a", "a over", "b", "b over"], 0)
    assert waits.arrivals["b"].cancelled()


async def test_one_that_cancels_all_may_still_wait() -> None:
    """As *loop* does: its query goes on to an upstream while the process ends."""
    pool, waits = TaskPool(), Arrivals()
    problems: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context["message"]))

    async def cancels() -> None:
        pool.cancel()
        await waits.one("a")

    for coroutine in (cancels(), waits.one("b")):
        pool.run(coroutine)
    await settle()
    waits.arrivals["a"].fail(ValueError("too late"))
    await settle()
    assert (waits.log, pool.in_flight) == (["b", "b over", "a", "a over"], 0)
    waits.arrivals.clear()
    gc.collect()
    assert problems == []
