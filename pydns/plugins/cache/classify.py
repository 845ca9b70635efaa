"""What kind of reply a message is, and whether and for how long such a reply may be kept (RFC 2308, CoreDNS).

Pure: it knows neither the bounds that a Corefile sets nor what is in the cache.
"""

from __future__ import annotations

from enum import Enum
from operator import itemgetter

from pydns.dns.message import RR, Message, Question
from pydns.dns.rdata import soa_minimum, target_of
from pydns.dns.signatures import has_expired_signature
from pydns.dns.types import OPCODE_MASK, Class, Flag, Opcode, Rcode, Type, direct

FALLBACK = 5
"""Seconds that a reply lasts whose records say nothing about it."""
_TRANSFERS = frozenset((int(Type.AXFR), int(Type.IXFR)))
_CNAME = int(Type.CNAME)
_TTL = itemgetter(RR._fields.index("ttl"))
_NOERROR = int(Rcode.NOERROR)


@direct
class Kind(Enum):
    """Kinds of replies, as far as *cache* treats them differently."""

    ANSWER = "answer"
    DENIAL = "denial"
    """NXDOMAIN, or NODATA with an SOA record."""
    REFERRAL = "referral"
    FAILURE = "failure"
    """SERVFAIL or NOTIMP."""
    OTHER = "other"
    """Never kept."""


def classify(reply: Message, now: float) -> Kind:
    """The kind of ``reply``; ``now`` is Unix seconds, to judge signatures."""
    _, flags, rcode, question, _, _, _, edns, _, _, _ = reply
    if question is not None and question.type in _TRANSFERS:
        return Kind.OTHER
    if flags & OPCODE_MASK and reply.opcode in (Opcode.UPDATE, Opcode.NOTIFY):
        return Kind.OTHER
    if edns is not None and has_expired_signature(reply, now):
        return Kind.OTHER
    if rcode == _NOERROR:
        return _classify_success(reply)
    if rcode == Rcode.NXDOMAIN:
        return Kind.OTHER if reply.answer else Kind.DENIAL
    return Kind.FAILURE if rcode in (Rcode.SERVFAIL, Rcode.NOTIMP) else Kind.OTHER


def _classify_success(reply: Message) -> Kind:
    if not reply.authority:
        return Kind.ANSWER
    has_soa = _has(Type.SOA, reply.authority)
    if reply.answer:
        return Kind.DENIAL if has_soa and not answers_question(reply) else Kind.ANSWER
    if has_soa:
        return Kind.DENIAL
    return Kind.REFERRAL if _has(Type.NS, reply.authority) else Kind.ANSWER


def is_storable(reply: Message, kind: Kind) -> bool:
    """Whether a reply of this kind may be kept at all: whole, and not a denial without an SOA record."""
    if reply.flags & Flag.TC or kind is Kind.OTHER:
        return False
    if kind is Kind.DENIAL:
        return _has(Type.SOA, reply.authority)
    return kind is not Kind.ANSWER or not reply.answer or answers_question(reply)


def ttls_of(reply: Message) -> set[int]:
    """The TTLs of all records."""
    return set(map(_TTL, reply.answer + reply.authority + reply.additional))


def lowest_ttl(reply: Message, kind: Kind, ttls: set[int]) -> int:
    """Seconds that the records of ``reply``, which have ``ttls``, agree to.

    A denial lasts no longer than the SOA record's MINIMUM (RFC 2308 section 5; CoreDNS looks at its TTL alone).
    """
    if kind is not Kind.ANSWER and kind is not Kind.DENIAL:
        return FALLBACK
    if kind is Kind.DENIAL:
        ttls = ttls.union([soa_minimum(record.rdata) for record in reply.authority if record.type == Type.SOA])
    return min(ttls, default=FALLBACK)


def answers_question(reply: Message) -> bool:
    """Whether the answer has the type asked for, at the end of the CNAME chain that starts at the name asked for."""
    question = reply.question
    if question is None:
        return False
    if _is_all_asked_for(reply.answer, question):
        return True
    answer = [record for record in reply.answer if question.cls in (Class.ANY, record.cls)]
    name = question.name.lower()
    if question.type == Type.ANY:
        return any(record.name.lower() == name for record in answer)
    targets = _cname_targets(answer)
    if question.type == Type.CNAME:
        return bool(targets.get(name))
    end = _end_of_chain(targets, name)
    return any(record.type == question.type and record.name.lower() == end for record in answer)


def _is_all_asked_for(answer: tuple[RR, ...], question: Question) -> bool:
    """Whether there is an answer that is just what was asked for: most are.  One of CNAME records may be none."""
    asked_name, asked_type, asked_class = question
    for name, rrtype, _, _, cls in answer:
        if rrtype != asked_type or cls != asked_class or name != asked_name:
            return False
    return bool(answer) and asked_type != _CNAME


def _cname_targets(answer: list[RR]) -> dict[str, str]:
    """Owner to target, in lower case; an owner with two different targets leads nowhere: to an empty string."""
    targets: dict[str, str] = {}
    for record in answer:
        if record.type == Type.CNAME and record.rdata:
            target = (target_of(record.type, record.rdata) or "").lower()
            if targets.setdefault(record.name.lower(), target) != target:
                targets[record.name.lower()] = ""
    return targets


def _end_of_chain(targets: dict[str, str], name: str) -> str | None:
    """Where the CNAME records lead from ``name``; None for a loop."""
    for _ in range(len(targets) + 1):
        if name not in targets:
            return name
        name = targets[name]
    return None


def is_about(reply: Message, question: Question) -> bool:
    """Whether ``reply`` repeats ``question``, letter case aside."""
    asked = reply.question
    return asked is question or (
        asked is not None
        and (asked.type, asked.cls) == (question.type, question.cls)
        and asked.name.lower() == question.name.lower()
    )


def _has(rrtype: int, records: tuple[RR, ...]) -> bool:
    return rrtype in [record.type for record in records]
