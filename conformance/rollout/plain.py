"""python -m conformance.rollout.plain udp|tcp ADDRESS PAUSE NAME…: asks for A records for ever, each question once.

No query is sent again, so each that is lost is seen; each has a port of its own, so each is a new flow. One line for
each, in the form of programs/steady.c: THREAD STARTED TOOK NAME RESULT.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import Sequence

from conformance.wire.client import ask
from conformance.wire.message import MalformedReply, decode
from conformance.wire.question import Question

PORTS = range(20000, 60000)
"""Its own ports, in turn: a flow is never taken for an earlier one's."""

PATIENCE = 3.0
"""Seconds for a reply."""


async def look_up(transport: str, address: str, name: str, source: int, port: int = 53) -> str:
    """The addresses with commas between them, or the word of getaddrinfo(3) that says as much."""
    question = Question(name, name=name, transport=transport, server=address, source=source, timeout=PATIENCE)
    try:
        packet = await ask(question, port)
        reply = decode(packet) if packet else None
    except (MalformedReply, OSError):
        reply = None
    if reply is None or reply.rcode not in ("NOERROR", "NXDOMAIN"):
        return "EAI_AGAIN"
    return ",".join(record.rdata for record in reply.answer if record.rtype == "A") or "EAI_NONAME"


async def main(words: Sequence[str]) -> None:
    """Does not wait for a reply before the next question."""
    transport, address, pause, *names = words
    asked: set[asyncio.Task[None]] = set()
    for port, name in zip(itertools.cycle(PORTS), itertools.cycle(names), strict=True):
        task = asyncio.create_task(_told(transport, address, name, port))
        asked.add(task)
        task.add_done_callback(asked.discard)
        await asyncio.sleep(float(pause) / 1000)


async def _told(transport: str, address: str, name: str, port: int) -> None:
    started, begun = time.time(), time.monotonic()
    result = await look_up(transport, address, name, port)
    took = time.monotonic() - begun
    print(0, round(started * 1000), round(took * 1000), name, result, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
