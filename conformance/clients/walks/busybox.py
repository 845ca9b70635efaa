"""`nslookup` of busybox 1.35 (reference: resolvers, sections 1, 2 and 5). After networking/nslookup.c."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from conformance.clients.candidates import BUSYBOX, candidates, nameservers
from conformance.clients.model import Answer, Failure, Kind, Lookup, ResolvConf, World, got
from conformance.clients.walks.expectation import Expectation, Question
from conformance.clients.walks.wire import FAILING, Wire, types_of

SENDINGS = 2
"""To a server that says nothing, 2.5 seconds apart, whatever the file says."""


def busybox(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """All candidates and types at once, and every reply is printed; a truncated one is taken as it is.

    Seen on the wire: `.` among other search domains makes a question that cannot be sent, and none after it is.
    """
    wire = Wire(world)
    names = candidates(BUSYBOX, lookup.name, conf)
    asked = [(name, qtype) for qtype in types_of(lookup.want) for name in names]
    sendable = list(takewhile(lambda question: ".." not in question[0], asked))
    servers = nameservers(BUSYBOX, conf)
    if sendable != asked:
        wire.wave(*(Question(name, qtype, least=servers, most=servers) for name, qtype in sendable))
        return wire.end(Failure.TRY_AGAIN)
    return _ask(asked, wire, servers)


def _ask(asked: Sequence[tuple[str, str]], wire: Wire, servers: int) -> Expectation:
    """All questions to the first server, to the next one only if no reply comes; doubles are sent as such."""
    answers = {question: wire.over_udp(*question) for question in asked}
    silent = all(answer.kind is Kind.TIMEOUT for answer in answers.values())
    sendings = SENDINGS * (servers if silent else 1)
    again = 2 * len(asked)
    questions = [
        _question(*question, answer, asked.count(question), sendings, again) for question, answer in answers.items()
    ]
    wire.wave(*questions, resends=again)
    return wire.end(Failure.TRY_AGAIN if silent else _result(list(answers.values())))


def _question(name: str, qtype: str, answer: Answer, copies: int, sendings: int, again: int) -> Question:
    """SERVFAIL is asked again at once, twice as often as there are questions, all of them together."""
    if answer.kind is Kind.SERVFAIL:
        return Question(name, qtype, least=copies, most=copies + again)
    times = copies * (sendings if answer.kind is Kind.TIMEOUT else 1)
    return Question(name, qtype, least=times, most=times)


def _result(answers: Sequence[Answer]) -> str:
    """What was found, or else the worst of what was printed; no reply and no record print nothing."""
    kinds = {answer.kind for answer in answers}
    if found := got(found for answer in answers if answer.kind is Kind.ANSWER for found in answer.found):
        return found
    if Kind.SERVFAIL in kinds:
        return Failure.TRY_AGAIN
    if kinds & FAILING:
        return Failure.REFUSED
    return Failure.NOT_FOUND if Kind.NXDOMAIN in kinds else Failure.NO_DATA
