"""Questions asked one by one, to see whether and when a server has the right answers. Blocking: for use in a thread."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from ipaddress import IPv4Address

from conformance.bench.processes import BenchError
from conformance.bench.questions import Asked
from conformance.wire.message import RCODES, Edns, Reply, read_reply
from conformance.wire.question import Question

PATIENCE = 120.0
"""Seconds a server has from its start to its first right answers, and a change to show."""

SETTLE = 10.0
"""Seconds that a server has until all its answers are right, once the first ones are."""

ONE_REPLY = 0.25
"""Seconds for one reply; a question that stays without one is asked again."""

TRIES = 20
"""How often a question is asked for whose answers two servers are compared."""

HEADER = 12

AGAIN = 0.002
"""Seconds after a refused question: nobody listens there yet."""

EDNS = Edns(4096)
"""So that every answer is whole."""


def packet(asked: Asked, edns: Edns | None = None) -> bytes:
    """The query packet."""
    return Question("", asked.name, asked.qtype, edns=edns).wire()


def is_right(asked: Asked, reply: bytes) -> bool:
    """Whether rcode and number of answers are the right ones."""
    rcode = RCODES[reply[3] & 15]
    return rcode == asked.rcode and int.from_bytes(reply[6:8], "big") == asked.answers


def has_addresses(addresses: Sequence[IPv4Address], reply: bytes) -> bool:
    """Whether these, and no more, are the answer's records."""
    return int.from_bytes(reply[6:8], "big") == len(addresses) and all(one.packed in reply for one in addresses)


def answers(reply: bytes, query: bytes) -> bool:
    """Whether ID and question are the query's."""
    end = query.index(b"\0", HEADER) + 5  # the root label, type and class
    return reply[:2] == query[:2] and reply[HEADER:end] == query[HEADER:end]


class Client:
    """One UDP client of a server on this machine."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(ONE_REPLY)
        self._socket.connect(("127.0.0.1", port))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, query: bytes) -> bytes | None:
        """The reply to this query; None where none comes, or nobody listens."""
        try:
            self._socket.send(query)
            while not answers(reply := self._socket.recv(65535), query):
                pass  # it is late, and to a query of before
            return reply
        except TimeoutError:
            return None
        except ConnectionRefusedError:
            time.sleep(AGAIN)
            return None

    def ask_again(self, query: bytes) -> bytes | None:
        """The reply to this query or a copy of it; None where there is none after many."""
        return next(filter(None, (self.ask(query) for _ in range(TRIES))), None)


def until_right(
    port: int, questions: Iterable[Asked], check: Callable[[], None] = lambda: None, patience: float = PATIENCE
) -> None:
    """Asks each question until its answer is right. Raises as `until` does."""
    for asked in questions:
        until(port, packet(asked, EDNS), partial(is_right, asked), check, patience, asked.name)


def until(
    port: int,
    query: bytes,
    right: Callable[[bytes], bool],
    check: Callable[[], None] = lambda: None,
    patience: float = PATIENCE,
    name: str = "",
) -> None:
    """Asks one query until `right(reply)`. Raises `BenchError`, or what `check` does, which is called now and then."""
    end = time.monotonic() + patience
    with Client(port) as client:
        while (reply := client.ask(query)) is None or not right(reply):
            if reply is None:
                check()
            if time.monotonic() > end:
                raise BenchError(f"no right answer for {name or query.hex()} after {patience:g} s")


def compare(asked: Sequence[Asked], port: int, reference: int) -> list[str]:
    """What is wrong with a server's answers: rcode and number, and, beside the reference, the records but for TTLs.

    Where the reference itself is wrong, nothing is said of the records.
    """
    faults = []
    with Client(port) as client, Client(reference) as other:
        for question in asked:
            query = packet(question, EDNS)
            ours, theirs = (read_reply(one.ask_again(query)) for one in (client, other))
            if not _right(question, ours):
                found = f"{ours.rcode} with {len(ours.answer)} records"
                faults.append(f"{question.name} {question.qtype}: {found}")
            elif _right(question, theirs) and _records(ours) != _records(theirs):
                faults.append(f"{question.name} {question.qtype}: other records than the reference")
    return faults


def settled(asked: Sequence[Asked], port: int, reference: int, patience: float = SETTLE) -> list[str]:
    """What is still wrong after `patience`: servers answer while they read a large cluster's lists."""
    end = time.monotonic() + patience
    while (faults := compare(asked, port, reference)) and time.monotonic() < end:
        time.sleep(0.1)
    return faults


def _right(asked: Asked, reply: Reply) -> bool:
    return (reply.rcode, len(reply.answer)) == (asked.rcode, asked.answers)


def _records(reply: Reply) -> set[tuple[str, str, str]]:
    return {(record.owner.lower(), record.rtype, record.rdata.lower()) for record in reply.answer}
