"""Kinds of replies (CoreDNS ``response.Typify``), whether they are kept, and what their records agree to."""

from __future__ import annotations

import pytest

from pydns.dns.edns import Edns
from pydns.dns.message import Message, Question
from pydns.dns.types import Class, Flag, Opcode, Rcode, Type, type_number
from pydns.plugins.cache.classify import Kind, answers_question, classify, is_about, is_storable, lowest_ttl, ttls_of
from tests.support import make_query, sections

NOW = 1_700_000_000
A = "www.example.org. 300 IN A 192.0.2.1"
CNAME = "www.example.org. 300 IN CNAME web.example.org."
WEB = "web.example.org. 300 IN A 192.0.2.1"
SOA = "authority: example.org. 600 IN SOA ns.example.org. host.example.org. 1 7200 1800 86400 60"
NS = "authority: example.org. 600 IN NS ns.example.org."
GLUE = "additional: ns.example.org. 600 IN A 192.0.2.53"


def reply(*records: str, rcode: int = 0, question: str = "www.example.org. A", flags: int = 0) -> Message:
    return make_query(question).reply(rcode, flags=flags, **sections(*records))


@pytest.mark.parametrize(
    ("message", "kind", "is_kept"),
    [
        (reply(A), Kind.ANSWER, True),
        (reply(A, NS, GLUE), Kind.ANSWER, True),
        (reply(CNAME, WEB), Kind.ANSWER, True),
        (reply(WEB, CNAME), Kind.ANSWER, True),
        (reply(CNAME), Kind.ANSWER, False),
        (reply(CNAME, SOA), Kind.DENIAL, True),
        (reply(WEB), Kind.ANSWER, False),
        (reply(SOA), Kind.DENIAL, True),
        (reply(SOA, NS), Kind.DENIAL, True),
        (reply(), Kind.ANSWER, True),
        (reply(GLUE), Kind.ANSWER, True),
        (reply(NS), Kind.REFERRAL, True),
        (reply(NS, GLUE), Kind.REFERRAL, True),
        (reply(SOA, rcode=Rcode.NXDOMAIN), Kind.DENIAL, True),
        (reply(rcode=Rcode.NXDOMAIN), Kind.DENIAL, False),
        (reply(NS, rcode=Rcode.NXDOMAIN), Kind.DENIAL, False),
        (reply(CNAME, SOA, rcode=Rcode.NXDOMAIN), Kind.OTHER, False),
        (reply(rcode=Rcode.SERVFAIL), Kind.FAILURE, True),
        (reply(rcode=Rcode.NOTIMP), Kind.FAILURE, True),
        (reply(rcode=Rcode.REFUSED), Kind.OTHER, False),
        (reply(rcode=Rcode.FORMERR), Kind.OTHER, False),
        (reply(rcode=Rcode.YXDOMAIN), Kind.OTHER, False),
        (reply(A, flags=Flag.TC), Kind.ANSWER, False),
        (reply(SOA, flags=Flag.TC), Kind.DENIAL, False),
        (reply(A, question="www.example.org. AXFR"), Kind.OTHER, False),
        (reply(A, question="www.example.org. IXFR"), Kind.OTHER, False),
        (reply(flags=Opcode.NOTIFY << 11), Kind.OTHER, False),
        (reply(flags=Opcode.UPDATE << 11), Kind.OTHER, False),
    ],
    ids=str,
)
def test_kind(message: Message, kind: Kind, is_kept: bool) -> None:
    assert classify(message, NOW) is kind
    assert is_storable(message, kind) is is_kept


def rrsig(inception: str, expiration: str) -> str:
    return f"www.example.org. 300 IN RRSIG A 8 3 300 {expiration} {inception} 1 example.org. AAAA"


@pytest.mark.parametrize(
    ("inception", "expiration", "kind"),
    [
        ("20231101000000", "20231201000000", Kind.ANSWER),
        ("20231001000000", "20231101000000", Kind.OTHER),
        ("20231201000000", "20240101000000", Kind.OTHER),
    ],
)
def test_signatures_count_where_do_is_set(inception: str, expiration: str, kind: Kind) -> None:
    """NOW is 2023-11-14."""
    message = reply(A, rrsig(inception, expiration))
    assert classify(message._replace(edns=Edns(1232, 0x8000)), NOW) is kind
    assert classify(message._replace(edns=Edns(1232)), NOW) is Kind.ANSWER
    assert classify(message, NOW) is Kind.ANSWER


@pytest.mark.parametrize(
    ("qtype", "records", "expected"),
    [
        ("A", [A], True),
        ("A", ["WWW.example.ORG. 300 IN A 192.0.2.1"], True),
        ("AAAA", [A], False),
        ("A", [CNAME, WEB], True),
        ("AAAA", [CNAME, WEB], False),
        ("CNAME", [CNAME], True),
        ("CNAME", [A], False),
        ("CNAME", [CNAME, CNAME], True),
        ("CNAME", [CNAME, "www.example.org. 300 IN CNAME other.example.org."], False),
        ("A", [CNAME, "www.example.org. 300 IN CNAME other.example.org.", WEB], False),
        ("A", [CNAME, "web.example.org. 300 IN CNAME www.example.org.", A], False),
        ("A", ["web.example.org. 300 IN CNAME end.example.org.", "end.example.org. 300 IN A 192.0.2.1", CNAME], True),
        ("ANY", ["www.example.org. 300 IN MX 10 mail.example.org."], True),
        ("ANY", [WEB], False),
        ("A", [], False),
    ],
)
def test_answers_question(qtype: str, records: list[str], expected: bool) -> None:
    assert answers_question(reply(*records, question=f"www.example.org. {qtype}")) is expected


def test_the_class_counts_too() -> None:
    chaos = Question("www.example.org.", Type.A, Class.CH)
    assert not answers_question(reply(A)._replace(question=chaos))
    assert answers_question(reply(A)._replace(question=chaos._replace(cls=Class.ANY)))


def test_a_cname_without_rdata_leads_nowhere() -> None:
    message = reply(CNAME, A)
    empty = message.answer[0]._replace(rdata=b"")
    assert answers_question(message._replace(answer=(empty, message.answer[1])))


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        (reply(A), 300),
        (reply(A, "www.example.org. 20 IN A 192.0.2.2"), 20),
        (reply(A, "authority: example.org. 10 IN NS ns.example.org."), 10),
        (reply(A, "additional: ns.example.org. 7 IN A 192.0.2.53"), 7),
        (reply("www.example.org. 0 IN A 192.0.2.1"), 0),
        (reply("www.example.org. 86400 IN A 192.0.2.1"), 86400),
        (reply(), 5),
        (reply(GLUE), 600),
        (reply(NS), 5),
        (reply(rcode=Rcode.SERVFAIL), 5),
        (reply(A, rcode=Rcode.REFUSED), 5),
        (reply(SOA, rcode=Rcode.NXDOMAIN), 60),
        (reply(SOA), 60),
        (reply(SOA.replace(" 600 ", " 30 ")), 30),
        (reply(CNAME.replace(" 300 ", " 20 "), SOA), 20),
        (reply(A, SOA), 300),
    ],
    ids=str,
)
def test_lowest_ttl(message: Message, seconds: int) -> None:
    assert lowest_ttl(message, classify(message, NOW), ttls_of(message)) == seconds


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("WWW.Example.org. A", True), ("www.example.org. AAAA", False), ("example.org. A", False)],
)
def test_is_about(asked: str, expected: bool) -> None:
    name, qtype = asked.split()
    assert is_about(reply(A), Question(name, type_number(qtype))) is expected


def test_a_reply_without_question_is_about_nothing() -> None:
    assert not is_about(reply(A)._replace(question=None), Question("www.example.org.", Type.A))
    assert not answers_question(reply(A)._replace(question=None))
