"""Background tasks: kept while they run, cancelled with their owner."""

import asyncio

from pydns.tasks import Tasks


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
