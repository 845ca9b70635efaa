"""Background tasks: kept while they run, cancelled with their owner."""

import asyncio

import pytest

from pydns.tasks import Arrival, Tasks


async def test_stop_cancels_and_waits() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    tasks = Tasks()
    tasks.run(forever())
    await asyncio.sleep(0)
    await tasks.stop()
    assert ended == ["ended"]


async def test_a_task_that_stops_its_owner_finishes() -> None:
    tasks = Tasks()
    finished: list[bool] = []

    async def stops() -> None:
        await tasks.stop()
        await asyncio.sleep(0)
        finished.append(True)

    await tasks.run(stops())
    assert finished == [True]


async def test_an_arrival_is_a_future_that_tells_its_waiter_at_once() -> None:
    resumed: list[str] = []
    came, failed = Arrival[str](), Arrival[str]()
    came.resume = lambda: resumed.append("came")
    failed.resume = lambda: resumed.append("failed")
    came.bring("it")
    failed.fail(ValueError("not"))
    assert resumed == ["came", "failed"]
    assert await came == "it"
    with pytest.raises(ValueError, match="not"):
        await failed


async def test_an_arrival_that_nobody_waits_for_any_more_is_left_alone() -> None:
    arrival = Arrival[str]()
    arrival.cancel()
    arrival.bring("it")
    arrival.fail(ValueError("not"))
    assert arrival.cancelled()
