"""Answers watched while something changes: when each became right, and whether a name was ever denied meanwhile.

Knows one server at a time and the questions of a case; what the changes are is no business of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from conformance.table.case import Ask, Never, Step, Write
from conformance.table.changes import Change
from conformance.table.stage import Stage
from conformance.wire.message import TIMEOUT, Reply
from conformance.wire.question import Question

SETTLE_TIME = 10.0
"""Seconds within which a change of the objects or files must show in the answers."""

AWAY_TIME = 40.0
"""The same once the API was away: clients wait before they try again, client-go up to 30 seconds."""

LATE_TIME = 2.0
"""The same in a case that has failed already by a change that did not show: it shall come to an end."""

PAUSE = 0.002
"""Seconds between two looks at first; they grow with the time that went by, so that times stay exact to a fiftieth."""

GUARD_PAUSE = 0.005
"""Seconds between two looks at a name that must never be denied."""


@dataclass(frozen=True)
class Passage:
    """Changes and the questions that show them; a question alone where nothing changed before it."""

    changes: tuple[Change | Write, ...]
    asks: tuple[Ask, ...]


def passages(steps: Sequence[Step]) -> Iterator[Passage | Step]:
    """The steps with each run of changes and the questions below it made one passage.

    A question with `heard` or `log` is asked by itself: what others cause would mix with what it does.
    """
    changes: list[Change | Write] = []
    asks: list[Ask] = []
    for step in steps:
        if (changes or asks) and not _belongs(step, changes, asks):
            yield Passage(tuple(changes), tuple(asks))
            changes, asks = [], []
        if isinstance(step, Change | Write):
            changes.append(step)
        elif isinstance(step, Ask):
            asks.append(step)
        else:
            yield step
    if changes or asks:
        yield Passage(tuple(changes), tuple(asks))


def _belongs(step: Step, changes: list[Change | Write], asks: list[Ask]) -> bool:
    if isinstance(step, Change | Write):
        return not asks
    return isinstance(step, Ask) and (not asks or (bool(changes) and not any(map(_has_remarks, (*asks, step)))))


def _has_remarks(step: Ask) -> bool:
    return step.heard is not None or step.log is not None


@dataclass
class Watch:
    """One question to one server while something changes. Times are the event loop's, in seconds.

    `turned` is when the reply became right after it was not; `denials` are the times and rcodes of replies that deny
    what was there before and is there afterwards.
    """

    stage: Stage
    step: Ask
    is_right: Callable[[Reply], bool]
    lasting: bool
    reply: Reply = TIMEOUT
    right: bool = False
    there: bool = False
    turned: float | None = None
    denials: list[tuple[float, str]] = field(default_factory=list)

    async def before(self) -> None:
        """The reply before the change."""
        await self.look()
        self.turned = None
        self.there = not denies(self.reply)

    async def look(self) -> None:
        """One more reply."""
        self.stage.take_heard()
        self.reply = await self.stage.ask(self.step.question)
        now = asyncio.get_running_loop().time()
        right = self.is_right(self.reply)
        if right and not self.right:
            self.turned = now
        self.right = right
        if self.there and self.lasting and denies(self.reply):
            self.denials.append((now, denial(self.reply)))


def denies(reply: Reply) -> bool:
    """Whether a reply says that there is nothing, or nothing at all."""
    return reply.rcode != "NOERROR" or not reply.answer


def denial(reply: Reply) -> str:
    """NXDOMAIN, NODATA, SERVFAIL, TIMEOUT, …"""
    return "NODATA" if reply.rcode == "NOERROR" else reply.rcode


async def follow(watches: Sequence[Watch], done: asyncio.Event, patience: float) -> None:
    """Looks at the questions to one server until all are right in one round after the change is done.

    Gives up `patience` seconds after that.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    deadline = None
    while True:
        over = done.is_set()
        if over and deadline is None:
            deadline = loop.time() + patience
        for watch in watches:
            await watch.look()
        if over and (all(watch.right for watch in watches) or loop.time() >= (deadline or 0)):
            return
        if any(watch.stage.running and watch.stage.running.ended for watch in watches):
            return
        await asyncio.sleep(max(PAUSE, (loop.time() - started) / 50))


class Guard:
    """Asks one question again and again, and notes when it is denied."""

    def __init__(self, stage: Stage, step: Never) -> None:
        self.stage, self.step = stage, step
        self.denials: list[tuple[float, str]] = []
        self.asked = 0
        self._started = asyncio.get_running_loop().time()
        self._task = asyncio.create_task(self._run(step.question))

    async def _run(self, question: Question) -> None:
        while True:
            reply = await self.stage.ask(question)
            self.asked += 1
            if denies(reply):
                self.denials.append((asyncio.get_running_loop().time(), denial(reply)))
            await asyncio.sleep(GUARD_PAUSE)

    async def end(self) -> tuple[str, ...]:
        """Stops asking; the faults, one of them when it could not ask, or not to the end."""
        self._task.cancel()
        (ended,) = await asyncio.gather(self._task, return_exceptions=True)
        faults = denied(self.denials, self._started)
        if isinstance(ended, Exception):
            return (*faults, f"could not be asked any more: {ended}")
        return faults or (() if self.asked else ("no reply by the end of the case",))


def denied(denials: Sequence[tuple[float, str]], since: float) -> tuple[str, ...]:
    """The fault that denials are, in words; none where there are none."""
    if not denials:
        return ()
    moment, rcode = denials[0]
    more = f" ({len(denials)} times)" if len(denials) > 1 else ""
    return (f"wrong denial after {(moment - since) * 1000:.0f} ms: {rcode}{more}",)
