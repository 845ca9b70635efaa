"""Go's own resolver: LookupIP and LookupSRV (reference: resolvers, sections 2, 3 and 4).

After net/dnsclient_unix.go of Go 1.26.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.clients.candidates import GO, candidates, nameservers, number
from conformance.clients.model import Answer, Failure, Kind, Lookup, ResolvConf, World, got
from conformance.clients.walks.expectation import Expectation, Question
from conformance.clients.walks.wire import EDNS, FAILING, Wire, types_of, whole


def go(conf: ResolvConf, lookup: Lookup, world: World) -> Expectation:
    """Walks past every error; each type has its own socket, and both run at once."""
    wire = Wire(world, EDNS)
    types = types_of(lookup.want)
    times = number(conf, "attempts", 2) * nameservers(GO, conf)
    errors: list[tuple[str, Failure]] = []
    for candidate in candidates(GO, lookup.name, conf):
        answers = wire.over_udp_each(candidate, types)
        wire.wave(*_questions(candidate, types, answers, times), ordered=False)
        found = [found for answer in answers for found in whole(answer).found]
        if found:
            return wire.end(got(found))
        errors += [(candidate, _failure(answer)) for answer in answers]
    return wire.end(_overall(lookup, errors))


def _questions(name: str, types: Sequence[str], answers: Sequence[Answer], times: int) -> list[Question]:
    """What is sent for one candidate, over UDP first; a reply that is no answer and no denial is asked for again."""
    questions = []
    for qtype, answer in zip(types, answers, strict=True):
        again = times if answer.kind in FAILING | {Kind.TIMEOUT} else 1
        questions.append(Question(name, qtype, least=again, most=again))
        questions += [Question(name, qtype, "tcp")] if answer.kind is Kind.TRUNCATED else []
    return questions


def _failure(answer: Answer) -> Failure:
    """A referral to nowhere is a denial too, as long as the reply has an OPT record."""
    if answer.kind in {Kind.SERVFAIL, Kind.TIMEOUT}:
        return Failure.TRY_AGAIN
    return Failure.REFUSED if answer.kind in FAILING else Failure.NOT_FOUND


def _overall(lookup: Lookup, errors: Sequence[tuple[str, Failure]]) -> Failure:
    """For addresses the error of the name as typed, or else the first one; for SRV the last."""
    if not errors:
        return Failure.NOT_FOUND
    if types_of(lookup.want) == ("SRV",):
        return errors[-1][1]
    as_typed = [failure for name, failure in errors if name == f"{lookup.name}."]
    return as_typed[-1] if as_typed else errors[0][1]
