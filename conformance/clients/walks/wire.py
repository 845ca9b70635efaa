"""The waves of one look-up as they come about, and what a server's answers are over UDP and over TCP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.clients.model import Answer, Kind, Want, World
from conformance.clients.walks.expectation import Expectation, Question, Wave

PLAIN = 512
"""Octets that a question without EDNS takes over UDP (RFC 1035 section 4.2.1)."""
EDNS = 1232

FAILING = frozenset({Kind.SERVFAIL, Kind.REFUSED, Kind.NOTIMP, Kind.FORMERR})
"""Rcodes other than NOERROR and NXDOMAIN."""


def types_of(want: Want) -> tuple[str, ...]:
    """The types that are asked for, A before AAAA."""
    return ("A", "AAAA") if want is Want.BOTH else (want.value,)


def whole(answer: Answer) -> Answer:
    """The same answer over TCP."""
    if answer.kind is not Kind.TRUNCATED:
        return answer
    return replace(answer, kind=Kind.ANSWER if answer.found else Kind.NODATA)


class Wire:
    """Notes what is sent to a server, and reads its answers; questions with EDNS take `room` octets over UDP."""

    def __init__(self, world: World, room: int = PLAIN) -> None:
        self._world = world
        self._room = room
        self._waves: list[Wave] = []

    def over_udp(self, name: str, qtype: str) -> Answer:
        """The answer to a question sent over UDP."""
        answer = self._world(name, qtype)
        return replace(answer, kind=Kind.TRUNCATED) if answer.size > self._room else answer

    def over_udp_each(self, name: str, types: Sequence[str]) -> list[Answer]:
        """The answers to the same name with several types."""
        return [self.over_udp(name, qtype) for qtype in types]

    def wave(self, *questions: Question, ordered: bool = True, resends: int | None = None) -> None:
        """Notes questions that go out together; none of them is no wave."""
        if questions:
            self._waves.append(Wave(questions, ordered, resends))

    def send(self, name: str, types: Sequence[str], times: int = 1, transport: str = "udp") -> None:
        """Notes the same number of sendings for each type."""
        self.wave(*(Question(name, qtype, transport, times, times) for qtype in types))

    def again(self, times: int) -> None:
        """Notes that all so far is sent again so many times."""
        self._waves *= 1 + times

    def end(self, got: str) -> Expectation:
        """All that was noted, and what the program reports."""
        return Expectation(tuple(self._waves), got)
