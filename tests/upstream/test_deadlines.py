"""One timer for many waits."""

from __future__ import annotations

import asyncio

from pydns.upstream.deadlines import Deadlines


class Timed:
    """A wait that notes in ``ended`` when its time is up."""

    def __init__(self, name: str, ended: list[str]) -> None:
        self.name = name
        self.ended = ended
        self.over = asyncio.Event()

    def done(self) -> bool:
        return self.over.is_set()

    def expire(self) -> None:
        self.ended.append(self.name)
        self.over.set()


async def test_waits_end_in_the_order_in_which_they_began() -> None:
    deadlines, ended = Deadlines(0.01), list[str]()
    waits = [Timed(name, ended) for name in ("first", "second")]
    for wait in waits:
        deadlines.add(wait)
    await asyncio.gather(*(wait.over.wait() for wait in waits))
    assert ended == ["first", "second"]


async def test_a_wait_that_is_over_is_left_alone() -> None:
    deadlines, ended = Deadlines(0.01), list[str]()
    answered, late = Timed("answered", ended), Timed("late", ended)
    deadlines.add(answered)
    answered.over.set()
    deadlines.add(late)
    await late.over.wait()
    assert ended == ["late"]


async def test_waits_after_a_pause_end_too() -> None:
    deadlines, ended = Deadlines(0.01), list[str]()
    for name in ("one", "two"):
        wait = Timed(name, ended)
        deadlines.add(wait)
        await wait.over.wait()
    assert ended == ["one", "two"]
