"""What each named difference accounts for in a pair of replies: the reference's and the server's under test.

A predicate gives the parts (`flags`, `answer`, …) that it explains where the pair shows exactly its difference, and no
part where it does not, so that nothing else hides behind a name. Knows replies and questions, no servers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from conformance.wire.message import SECTIONS, Record, Reply, encode_name
from conformance.wire.question import Question

Parts = frozenset[str]
"""Names of parts as `compare` uses them."""

NOTHING: Parts = frozenset()
WHOLE: Parts = frozenset({"rcode", "opcode", "question", "flags", "opt", *SECTIONS})
"""All of a reply: one server answers and the other refuses, or is silent."""

LONGEST_NAME = 255
"""Octets of a name on the wire (RFC 1035 section 2.3.4)."""

UDP_BUFFER = 512
"""Octets of a UDP query that CoreDNS reads."""

MIRRORED = frozenset({"3", "9", "10", "11", "12"})
"""Options CoreDNS sends back as they came: NSID, EXPIRE, COOKIE, KEEPALIVE, PADDING."""

CHECKED = frozenset({"18", "19"})
"""Options whose data CoreDNS checks in queries: REPORTING (RFC 9567), ZONEVERSION (RFC 9660)."""


@dataclass(frozen=True)
class Pair:
    """Two replies to one question."""

    question: Question
    reference: Reply
    reply: Reply

    @property
    def answered(self) -> bool:
        """Whether only the server under test has records in the answer."""
        return bool(self.reply.answer) and not self.reference.answer

    @property
    def emptied(self) -> bool:
        """Whether only the reference has records in the answer."""
        return bool(self.reference.answer) and not self.reply.answer


Predicate = Callable[[Pair], Parts]


def _if(condition: bool, parts: Parts = WHOLE) -> Parts:
    return parts if condition else NOTHING


def apex_letter_case(pair: Pair) -> Parts:
    """The reference denies NS or addresses of the server itself, asked in capitals."""
    asked = pair.question.name != pair.question.name.lower() and pair.question.qtype in ("NS", "A", "AAAA")
    return _if(asked and pair.answered and pair.reply.rcode == "NOERROR", WHOLE - {"question", "opt"})


def authority_cleared(pair: Pair) -> Parts:
    """Of the flags only AA differs: the reference alone sets it."""
    return _if(pair.reference.flags == pair.reply.flags | {"aa"} != pair.reply.flags, frozenset({"flags"}))


def options_not_echoed(pair: Pair) -> Parts:
    """The OPT records are the same, but for options of the client that the reference sends back."""
    mirrored, kept = pair.reference.opt, pair.reply.opt
    if mirrored is None or kept is None or pair.question.edns is None:
        return NOTHING
    echoed = [option for option in mirrored.options if option not in kept.options]
    own = set(pair.question.edns.options)
    codes = {option.partition(":")[0] for option in echoed}
    same = replace(mirrored, options=kept.options) == kept
    return _if(bool(echoed) and same and set(echoed) <= own and codes <= MIRRORED, frozenset({"opt"}))


def cut_data(pair: Pair) -> Parts:
    """The reference passes on what the server under test takes for malformed."""
    refused = pair.reply.rcode in ("FORMERR", "SERVFAIL") or "tc" in pair.reply.flags
    return _if(pair.reference.rcode == "NOERROR" and pair.emptied and refused, frozenset({"rcode", "flags", "answer"}))


def long_query(pair: Pair) -> Parts:
    """The reference cannot read a query that is longer than its buffer."""
    long = pair.question.transport == "udp" and len(pair.question.wire()) > UDP_BUFFER
    return _if(long and pair.reference.rcode == "FORMERR" != pair.reply.rcode)


def malformed_truncated(pair: Pair) -> Parts:
    """An error of the reference, over UDP, is an empty truncated reply."""
    empty = not any(pair.reply.sections.values()) and "tc" in pair.reply.flags and pair.reply.rcode == "NOERROR"
    over_udp = pair.question.transport == "udp"
    return _if(over_udp and empty and pair.reference.rcode == "SERVFAIL", frozenset({"rcode", "flags"}))


def negative_ttl(pair: Pair) -> Parts:
    """The same SOA alone in authority, with a lower TTL where its MINIMUM is lower."""
    both = zip(pair.reference.authority, pair.reply.authority, strict=False)
    lowered = [
        wanted.rtype == "SOA"
        and replace(wanted, ttl=got.ttl) == got
        and int(wanted.rdata.split()[-1]) <= got.ttl < wanted.ttl
        for wanted, got in both
    ]
    alone = len(pair.reference.authority) == len(pair.reply.authority) == 1
    return _if(alone and all(lowered) and not pair.reference.answer, frozenset({"authority"}))


def data_unread(pair: Pair) -> Parts:
    """The reference gives an error, or an empty truncated reply, where the other answers."""
    stopped = pair.reference.rcode in ("FORMERR", "SERVFAIL") or "tc" in pair.reference.flags
    whole = pair.reply.rcode == "NOERROR" and "tc" not in pair.reply.flags
    return _if(stopped and whole and pair.answered, WHOLE - {"question"})


def records_once(pair: Pair) -> Parts:
    """Sections that are the same once each record is taken once."""
    sections = zip(SECTIONS, pair.reference.sections.values(), pair.reply.sections.values(), strict=True)
    return frozenset(name for name, wanted, got in sections if _doubled(wanted, got))


def _doubled(wanted: tuple[Record, ...], got: tuple[Record, ...]) -> bool:
    return len(wanted) > len(got) == len(set(got)) and set(wanted) == set(got)


def root_names(pair: Pair) -> Parts:
    """PTR, or ns.dns., of a zone that is the root: silence or NXDOMAIN against an answer."""
    silent = pair.reference.rcode == "TIMEOUT" and pair.question.qtype == "PTR"
    absent = pair.reference.rcode == "NXDOMAIN" and pair.question.name.lower() == "ns.dns."
    return _if((silent or absent) and pair.answered)


def without_service(pair: Pair) -> Parts:
    """PTR of an address: silence against NXDOMAIN."""
    silent = pair.reference.rcode == "TIMEOUT" and pair.question.qtype == "PTR"
    return _if(silent and pair.reply.rcode == "NXDOMAIN" and not pair.reply.answer)


def wrong_question(pair: Pair) -> Parts:
    """The reference gives up with FORMERR, the other waits and answers."""
    return _if(pair.reference.rcode == "FORMERR" and pair.reply.rcode == "NOERROR", WHOLE - {"question"})


def unknown_options(pair: Pair) -> Parts:
    """FORMERR against an answer, to a query with an option that the reference checks."""
    options = pair.question.edns.options if pair.question.edns else ()
    checked = any(option.partition(":")[0] in CHECKED for option in options)
    return _if(checked and pair.reference.rcode == "FORMERR" != pair.reply.rcode, WHOLE - {"question"})


def names_too_long(pair: Pair) -> Parts:
    """The additional sections are the same, but for SRV records whose owner is too long."""
    kept = [record for record in pair.reference.additional if not _too_long(record)]
    less = len(kept) < len(pair.reference.additional)
    return _if(less and sorted(kept) == sorted(pair.reply.additional), frozenset({"additional"}))


def _too_long(record: Record) -> bool:
    return record.rtype == "SRV" and len(encode_name(record.owner)) > LONGEST_NAME


def old_owner(pair: Pair) -> Parts:
    """The answers are the same, but for owners: those of the reference are not the name that was asked."""
    asked = pair.question.name.lower()
    renamed = tuple(replace(record, owner=pair.question.name) for record in pair.reference.answer)
    stale = any(record.owner.lower() != asked for record in pair.reference.answer)
    return _if(stale and sorted(renamed) == sorted(pair.reply.answer), frozenset({"answer"}))
