"""Where TTLs stand in a message."""

from __future__ import annotations

import pytest

from pydns.dns import Edns, Flag, Message, Question
from pydns.dns.message import RR, pack, parse
from pydns.dns.packed import overwritten
from pydns.dns.rdata import soa
from pydns.dns.ttls import TtlLease, ttl_places
from pydns.dns.types import Type

NAME, TARGET = "www.example.org.", "web.example.org."
CNAME = RR(NAME, Type.CNAME, 30, b"\3web\7example\3org\0")
ADDRESS = RR(TARGET, Type.A, 30, b"\0\0\0\x1e")
LOOKS_LIKE_A_TTL = RR(TARGET, Type.TXT, 30, b"\7\0\0\0\x1e\xc0\x0c\0")
SOA = RR(
    "example.org.",
    Type.SOA,
    30,
    soa(mname="ns.example.org.", rname="host.example.org.", serial=30, refresh=30, retry=30, expire=30, minimum=30),
)
MESSAGES = {
    "nothing": Message(1, Flag.QR, question=Question(NAME, 1)),
    "nothing but OPT": Message(1, Flag.QR, question=Question(NAME, 1), edns=Edns(1232, 0x8000)),
    "no question": Message(1, Flag.QR, answer=(ADDRESS,)),
    "an address": Message(1, Flag.QR, question=Question(TARGET, 1), answer=(ADDRESS,)),
    "the root": Message(1, Flag.QR, question=Question(".", 6), answer=(SOA._replace(name="."),)),
    "a chain": Message(1, Flag.QR, question=Question(NAME, 1), answer=(CNAME, ADDRESS, LOOKS_LIKE_A_TTL)),
    "a denial": Message(1, Flag.QR, 3, Question(NAME, 1), authority=(SOA,)),
    "all": Message(1, Flag.QR, 0, Question(NAME, 1), (CNAME, ADDRESS), (SOA,), (LOOKS_LIKE_A_TTL, ADDRESS), Edns(4096)),
}


def with_ttl(message: Message, ttl: int) -> Message:
    answer, authority, additional = (
        tuple(record._replace(ttl=ttl) for record in section)
        for section in (message.answer, message.authority, message.additional)
    )
    return message.with_sections(answer, authority, additional)


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
@pytest.mark.parametrize("ttl", [0, 1, 29, 0xFFFFFFFF])
def test_written_over_they_are_the_ttls_of_all_records(message: Message, ttl: int) -> None:
    wire = pack(message)
    places = TtlLease(wire[:4]).places(wire)
    assert len(places) == len(message.records())
    assert overwritten(wire, places, ttl.to_bytes(4, "big")) == pack(with_ttl(message, ttl))


def test_of_a_reply_that_is_cut() -> None:
    wire = pack(Message(1, Flag.QR, 0, Question(TARGET, 1), (ADDRESS,) * 100), 512)
    assert len(ttl_places(wire)) == len(parse(wire).answer) == 29
