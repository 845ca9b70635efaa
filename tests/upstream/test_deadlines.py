"""One timer for many waits."""

from __future__ import annotations

import asyncio

import pytest

from pydns.dns.message import Message, Question
from pydns.upstream.deadlines import Deadlines, Wait
from pydns.upstream.reply import ExchangeError

QUESTION = Question("www.example.org.", 1)


def make_wait(where: str = "read udp a->b") -> tuple[Wait, asyncio.Future[Message]]:
    waiter: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    return Wait(QUESTION, 512, where, waiter), waiter


async def test_waits_end_in_the_order_in_which_they_began() -> None:
    deadlines, ended = Deadlines(0.01), []
    waiters = []
    for name in ("first", "second"):
        wait, waiter = make_wait(name)
        waiter.add_done_callback(lambda done: ended.append(str(done.exception())))
        waiters.append(waiter)
        deadlines.add(wait)
    await asyncio.wait(waiters)
    assert ended == ["first: i/o timeout", "second: i/o timeout"]


async def test_a_wait_that_is_over_is_left_alone() -> None:
    deadlines = Deadlines(0.01)
    answered, waiter = make_wait()
    deadlines.add(answered)
    waiter.set_result(Message())
    answered.waiter = None
    late, other = make_wait()
    deadlines.add(late)
    with pytest.raises(ExchangeError):
        await other
    assert waiter.result() == Message()


async def test_waits_after_a_pause_end_too() -> None:
    deadlines = Deadlines(0.01)
    for _ in range(2):
        wait, waiter = make_wait()
        deadlines.add(wait)
        with pytest.raises(ExchangeError):
            await waiter
