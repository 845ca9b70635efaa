"""One demand: a question, the requirements it tests, and what must hold of the reply. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.spec.wants import Got, Want
from conformance.wire.message import MALFORMED, TIMEOUT
from conformance.wire.question import Question, parse_question


@dataclass(frozen=True)
class Demand:
    """`departing` is what a reply is that shows the departure of that name (see `DEPARTURES`).

    `follow` are addresses that the targets of the SRV records in the reply must lead to, asked one by one.
    """

    area: str
    question: Question
    tags: tuple[str, ...]
    want: Want
    departure: str = ""
    departing: Want | None = None
    follow: frozenset[str] = field(default=frozenset())


Departure = tuple[str, Want]
"""The name of a departure, and what a reply is that shows it."""


@dataclass(frozen=True)
class Judgement:
    """What a reply is: faults in words, or well, perhaps by a departure."""

    faults: tuple[str, ...] = ()
    departure: str = ""


def question(*words: str) -> Question:
    """A question as one would ask it of dig: `NAME TYPE +OPTION…`."""
    return parse_question(" ".join(words), ".")


def demand(
    area: str, name: str, rtype: str, tags: str, want: Want, *options: str, but: Departure | None = None
) -> Demand:
    """A demand of an area by its question's words and its tags in one text; `but` is a departure that passes, too."""
    name_of_departure, departing = but or ("", None)
    return Demand(area, question(name, rtype, *options), tuple(tags.split()), want, name_of_departure, departing)


def judge(demand: Demand, got: Got) -> Judgement:
    """By the demand, or else by the departure that it names."""
    if broken := _broken(demand.question, got):
        return Judgement((broken,))
    faults = demand.want.faults(got)
    if faults and demand.departing and not demand.departing.faults(got):
        return Judgement(departure=demand.departure)
    return Judgement(tuple(faults))


def _broken(question: Question, got: Got) -> str:
    """What is wrong with a reply whatever was asked: none came, it does not parse, or it answers something else."""
    reply = got.reply
    if reply == TIMEOUT:
        return f"no reply in {question.timeout:g} s"
    if reply.rcode == MALFORMED:
        return f"not a DNS message: {reply.question}"
    if "qr" not in reply.flags or reply.opcode != "QUERY":
        return "the reply is no response to a query"
    wanted = f"{question.name} {question.qclass} {question.qtype}"
    return "" if reply.question.lower() == wanted.lower() else f"the reply is about {reply.question!r}"


def tags(demands: Iterable[Demand]) -> tuple[str, ...]:
    """All requirement numbers that demands have."""
    found = {tag for demand in demands for tag in demand.tags}
    return tuple(sorted(found, key=lambda tag: (tag[0], int(tag[1:]))))
