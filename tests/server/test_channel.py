"""Messages between a parent and a worker, over a real socket pair."""

from __future__ import annotations

import asyncio
import socket

from pydns.server.channel import Channel, Complete, Count, Counted, Data, Finish, Recipe, ToParent, ToWorker
from pydns.server.tally import Portion
from tests.server.parts import until


class Ends:
    """Both ends of a channel, what each has received, and which were lost."""

    def __init__(self) -> None:
        self.at_worker: list[ToWorker] = []
        self.at_parent: list[ToParent] = []
        self.lost: list[str] = []
        self.parent: Channel[ToParent] = Channel(ToParent, self.at_parent.append, lambda: self.lost.append("parent"))
        self.worker: Channel[ToWorker] = Channel(ToWorker, self.at_worker.append, lambda: self.lost.append("worker"))

    async def open(self) -> Ends:
        ours, theirs = socket.socketpair()
        await self.parent.open(ours)
        await self.worker.open(theirs)
        return self

    async def close(self) -> None:
        self.parent.close()
        await until(lambda: len(self.lost) == 2)


async def test_messages_arrive_whole_and_in_order() -> None:
    ends = await Ends().open()
    sent = [
        Recipe(b"recipe", 1 << 63, [("", 53, [[1], [2, 3], []]), ("::1", 53, [[4], [5], []])]),
        Data(0, "kubernetes", b"x" * 300_000),
        Complete(),
        Count(1),
        Finish(),
    ]
    for message in sent:
        ends.parent.send(message)
    counted = Counted(1, [Portion("counter", "a_total", "A.", ("b",), [(("c",), [1.0])])])
    ends.worker.send(counted)
    await until(lambda: len(ends.at_worker) == 5 and bool(ends.at_parent))
    assert (ends.at_worker, ends.at_parent) == (sent, [counted])
    await ends.close()


async def test_what_the_other_side_does_not_take_is_a_backlog() -> None:
    ends = await Ends().open()
    ends.worker._transport.pause_reading()
    for _ in range(20):
        ends.parent.send(Data(0, "kubernetes", b"x" * 100_000))
    draining = asyncio.create_task(ends.parent.drain())
    await asyncio.sleep(0)
    assert ends.parent.backlog > 1_000_000
    assert not draining.done()
    ends.worker._transport.resume_reading()
    await draining
    await until(lambda: len(ends.at_worker) == 20)
    assert ends.parent.backlog == 0
    await ends.close()


async def test_the_end_of_one_side_is_the_end_of_the_other() -> None:
    ends = await Ends().open()
    ends.worker.close()
    await until(lambda: len(ends.lost) == 2)
    ends.parent.send(Finish())  # to nobody
    await ends.parent.drain()
    assert ends.at_worker == []
