"""How long a server is waited for that stayed silent before."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.table import patience
from conformance.table.patience import Patience
from conformance.table.stage import Stage
from conformance.wire.message import TIMEOUT, Reply
from conformance.wire.question import Question

UDP = Question("udp")
TCP = Question("tcp", transport="tcp")
BRIEF = replace(UDP, timeout=0.4)
ANSWER = Reply("NOERROR")


@pytest.mark.parametrize(
    ("before", "question", "seconds"),
    [
        ([(UDP, TIMEOUT)] * 2, UDP, 4.0),
        ([(UDP, TIMEOUT)] * 3, UDP, 0.5),
        ([(UDP, TIMEOUT)] * 3, BRIEF, 0.4),
        ([(UDP, TIMEOUT)] * 3, TCP, 4.0),
        ([(TCP, TIMEOUT)] * 3, TCP, 0.5),
        ([(TCP, TIMEOUT), (UDP, ANSWER)] * 3, TCP, 0.5),
        ([(UDP, TIMEOUT), (UDP, TIMEOUT), (UDP, ANSWER), (UDP, TIMEOUT)], UDP, 4.0),
        ([*[(UDP, TIMEOUT)] * 4, (UDP, ANSWER)], UDP, 4.0),
        ([(BRIEF, TIMEOUT)] * 3, UDP, 4.0),
    ],
)
def test_seconds_a_server_has(before: list[tuple[Question, Reply]], question: Question, seconds: float) -> None:
    waits = Patience()
    for asked, reply in before:
        waits.note("server", asked, reply)
    assert waits.bounded("server", question).timeout == seconds
    assert waits.bounded("other", question).timeout == question.timeout


async def test_a_silent_server_is_not_waited_for_again_in_the_next_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "SHORT", 0.01)
    waits = Patience()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        first, second = (
            Stage("server", tmp_path, {"PORT": str(silent.getsockname()[1])}, {}, patience=waits) for _ in range(2)
        )
        for _ in range(3):
            await first.ask(replace(UDP, timeout=0.02))
        async with asyncio.timeout(10):
            assert await second.ask(replace(UDP, timeout=60)) == TIMEOUT
