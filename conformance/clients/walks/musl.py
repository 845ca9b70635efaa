"""musl's getaddrinfo (reference: resolvers, sections 2, 4 and 7).

After src/network/lookup_name.c and res_msend.c of musl 1.2.3 and 1.2.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.clients.candidates import MUSL, MUSL_OLD, Rules, candidates, nameservers, number
from conformance.clients.model import Answer, Failure, Kind, Lookup, ResolvConf, World, got
from conformance.clients.walks.expectation import Expectation, Question
from conformance.clients.walks.wire import Wire, types_of, whole


@dataclass(frozen=True)
class Version:
    """What differs: how the file is read, TCP after a truncated reply, and the word for a name without addresses."""

    rules: Rules
    tcp: bool
    empty: Failure


OLD = Version(MUSL_OLD, tcp=False, empty=Failure.NOT_FOUND)
"""1.2.1 to 1.2.3, which take a truncated reply for the answer."""
NEW = Version(MUSL, tcp=True, empty=Failure.NO_DATA)
"""1.2.4 and later."""


def musl_old(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """getaddrinfo of musl 1.2.3."""
    return _Search(OLD, conf, types_of(lookup.want), Wire(world)).search(lookup.name)


def musl(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """getaddrinfo of musl 1.2.5."""
    return _Search(NEW, conf, types_of(lookup.want), Wire(world)).search(lookup.name)


class _Search:
    """`name_from_dns_search`: only NXDOMAIN leads to the next candidate."""

    def __init__(self, version: Version, conf: ResolvConf, types: Sequence[str], wire: Wire) -> None:
        self._version = version
        self._conf = conf
        self._types = types
        self._wire = wire
        self._servers = nameservers(version.rules, conf)
        self._attempts = number(conf, "attempts", 2, most=10)
        timeout = 1000 * number(conf, "timeout", 5, most=60)
        self._intervals = -(-timeout // (timeout // self._attempts))

    def search(self, name: str) -> Expectation:
        """Tries the candidates until one ends it."""
        for candidate in candidates(self._version.rules, name, self._conf):
            result = self._try(candidate)
            if result is not None:
                return self._wire.end(result)
        return self._wire.end(Failure.NOT_FOUND)

    def _try(self, name: str) -> str | None:
        """What one candidate ends the look-up with; None where the next is tried."""
        answers = self._wire.over_udp_each(name, self._types)
        if ".." in name:
            answers = [Answer(Kind.TIMEOUT) for _ in answers]
        self._send(name, answers)
        return self._read(self._after_tcp(name, answers))

    def _send(self, name: str, answers: Sequence[Answer]) -> None:
        """To all servers at once, again while there is no reply that counts; SERVFAIL is asked again at once.

        There are twice as many of the latter in each interval as there are questions, whichever of them it meets.
        """
        at_once = 2 * len(answers) * self._intervals
        spare = len(answers) * self._servers * (self._intervals - self._attempts)
        questions = [self._question(name, *pair, at_once) for pair in zip(self._types, answers, strict=True)]
        self._wire.wave(*questions, resends=at_once + spare)

    def _question(self, name: str, qtype: str, answer: Answer, at_once: int) -> Question:
        """An interval is a whole number of milliseconds: three in a second leave room for a fourth sending."""
        if _counts(answer):
            return Question(name, qtype, least=self._servers, most=self._servers)
        most = self._servers * self._intervals + (at_once if answer.kind is Kind.SERVFAIL else 0)
        return Question(name, qtype, least=self._servers * self._attempts, most=most)

    def _after_tcp(self, name: str, answers: Sequence[Answer]) -> list[Answer]:
        """The answers as they are read: whole where TCP fetched them, otherwise what came over UDP."""
        if not self._version.tcp:
            return list(answers)
        truncated = [
            Question(name, qtype, "tcp")
            for qtype, answer in zip(self._types, answers, strict=True)
            if answer.kind is Kind.TRUNCATED
        ]
        self._wire.wave(*truncated, ordered=False)
        return [whole(answer) for answer in answers]

    def _read(self, answers: Sequence[Answer]) -> str | None:
        """Looks at A first: no reply that counts, then NXDOMAIN, then addresses. Answers beside an error are lost."""
        for answer in answers:
            if not _counts(answer):
                return Failure.TRY_AGAIN
            if answer.kind is Kind.NXDOMAIN:
                return None
        found = [found for answer in answers if answer.kind is Kind.ANSWER for found in answer.found]
        return got(found) or self._version.empty


def _counts(answer: Answer) -> bool:
    """Whether it is NOERROR or NXDOMAIN; other replies are as good as none."""
    return answer.kind not in {Kind.SERVFAIL, Kind.REFUSED, Kind.NOTIMP, Kind.FORMERR, Kind.TIMEOUT}
