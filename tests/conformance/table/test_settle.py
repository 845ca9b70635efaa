"""Answers watched while something changes: passages, the moment an answer is right, denials in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest

from conformance.table import settle
from conformance.table.case import Ask, Get, Never, Step, Wait, Write
from conformance.table.case_file import parse_cases
from conformance.table.changes import Delete
from conformance.table.settle import Guard, Passage, Watch, denied, denies, follow, passages
from conformance.table.stage import Stage
from conformance.wire.message import TIMEOUT, Reply, parse_record
from conformance.wire.question import Question

CHANGE = Delete("Service", "shop", "web")
A, B = (Ask(Question(name, name)) for name in ("a.", "b."))
LOGGED = replace(A, log=("...",))
GET = Get(1, "/", 200)
WRITE = Write("f", "")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([A, B], [Passage((), (A,)), Passage((), (B,))]),
        ([CHANGE, A, B], [Passage((CHANGE,), (A, B))]),
        ([CHANGE, WRITE, A, CHANGE, B], [Passage((CHANGE, WRITE), (A,)), Passage((CHANGE,), (B,))]),
        ([CHANGE, LOGGED, B], [Passage((CHANGE,), (LOGGED,)), Passage((), (B,))]),
        ([CHANGE, A, LOGGED], [Passage((CHANGE,), (A,)), Passage((), (LOGGED,))]),
        ([CHANGE, GET, A], [Passage((CHANGE,), ()), GET, Passage((), (A,))]),
        ([CHANGE, A, Wait(1), B], [Passage((CHANGE,), (A,)), Wait(1), Passage((), (B,))]),
        ([A, CHANGE], [Passage((), (A,)), Passage((CHANGE,), ())]),
    ],
)
def test_passages(steps: list[Step], expected: list[object]) -> None:
    assert list(passages(steps)) == expected


ANSWER = Reply("NOERROR", answer=(parse_record("a. 5 A 10.0.0.1"),))
OTHER = Reply("NOERROR", answer=(parse_record("a. 5 A 10.0.0.2"),))
NODATA = Reply("NOERROR")
NXDOMAIN, SERVFAIL = Reply("NXDOMAIN"), Reply("SERVFAIL")


@pytest.mark.parametrize(
    ("reply", "is_denial"),
    [(ANSWER, False), (NODATA, True), (NXDOMAIN, True), (SERVFAIL, True), (TIMEOUT, True)],
)
def test_what_a_denial_is(reply: Reply, is_denial: bool) -> None:
    assert denies(reply) is is_denial


class Scripted:
    """A stage that replies one after the other, the last for ever."""

    running = None

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.replies = list(replies)

    async def ask(self, question: Question) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def take_heard(self) -> list[str]:
        return []


async def followed(replies: Sequence[Reply], wanted: Reply, lasting: bool = True, patience: float = 5) -> Watch:
    """A watch after a change that was done at once; the first reply is from before it."""
    watch = Watch(cast(Stage, Scripted(replies)), A, lambda reply: reply == wanted, lasting and not denies(wanted))
    await watch.before()
    done = asyncio.Event()
    done.set()
    await follow([watch], done, patience)
    return watch


@pytest.mark.parametrize(
    ("replies", "wanted", "turned", "denials"),
    [
        ([NXDOMAIN, NXDOMAIN, ANSWER], ANSWER, True, []),
        ([ANSWER, ANSWER, NXDOMAIN], NXDOMAIN, True, []),
        ([ANSWER, ANSWER, OTHER], OTHER, True, []),
        ([ANSWER, NXDOMAIN, OTHER], OTHER, True, ["NXDOMAIN"]),
        ([ANSWER, NODATA, SERVFAIL, TIMEOUT, OTHER], OTHER, True, ["NODATA", "SERVFAIL", "TIMEOUT"]),
        ([ANSWER, NXDOMAIN, ANSWER], ANSWER, True, ["NXDOMAIN"]),
        ([NXDOMAIN, NODATA, ANSWER], ANSWER, True, []),
        ([ANSWER, ANSWER], ANSWER, False, []),
    ],
)
async def test_what_a_watch_sees(replies: list[Reply], wanted: Reply, turned: bool, denials: list[str]) -> None:
    watch = await followed(replies, wanted)
    assert (watch.right, watch.turned is not None, [rcode for _, rcode in watch.denials]) == (True, turned, denials)


async def test_a_gap_that_is_meant_to_be_is_no_denial() -> None:
    assert (await followed([ANSWER, NXDOMAIN, OTHER], OTHER, lasting=False)).denials == []


async def test_what_never_turns_right_comes_to_an_end() -> None:
    assert not (await followed([NXDOMAIN], ANSWER, patience=0)).right


async def test_all_questions_must_be_right_in_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "PAUSE", 0)
    done = asyncio.Event()
    done.set()
    flapping = Watch(cast(Stage, Scripted([ANSWER, NXDOMAIN, ANSWER])), A, lambda reply: reply == ANSWER, True)
    slow = Watch(cast(Stage, Scripted([NXDOMAIN, ANSWER])), B, lambda reply: reply == ANSWER, True)
    await follow([flapping, slow], done, 5)
    assert flapping.right and slow.right
    assert len(cast(Scripted, flapping.stage).replies) == 1, "asked as long as the other was not right"


def test_denials_in_words() -> None:
    assert denied([], 0) == ()
    assert denied([(2.5, "NXDOMAIN")], 2) == ("wrong denial after 500 ms: NXDOMAIN",)
    assert denied([(2.5, "NODATA"), (3, "SERVFAIL")], 2) == ("wrong denial after 500 ms: NODATA (2 times)",)


class Failing:
    """A stage that cannot ask, or that never has a reply."""

    def __init__(self, error: OSError | None) -> None:
        self.error = error
        self.asked = asyncio.Event()

    async def ask(self, question: Question) -> Reply:
        self.asked.set()
        if self.error:
            raise self.error
        await asyncio.Event().wait()
        return TIMEOUT


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (OSError("address in use"), "could not be asked any more: address in use"),
        (None, "no reply by the end of the case"),
    ],
)
async def test_a_guard_that_sees_nothing_is_a_fault(error: OSError | None, fault: str) -> None:
    stage = Failing(error)
    guard = Guard(cast(Stage, stage), Never(Question("a.", "a.")))
    await stage.asked.wait()
    assert await guard.end() == (fault,)


async def test_a_guard_that_was_answered_has_no_fault() -> None:
    guard = Guard(cast(Stage, Scripted([ANSWER])), Never(Question("a.", "a.")))
    await asyncio.sleep(0)
    assert await guard.end() == ()


def test_a_gap_is_written_with_the_question() -> None:
    (case,) = parse_cases("corefile\n    .\n? a. A +gap\n", "x")
    assert case.questions[0].question.gap
