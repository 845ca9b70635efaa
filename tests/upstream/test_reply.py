"""Which octets count as the reply to a question."""

from __future__ import annotations

import pytest

from pydns.dns.message import RR, Message, Question, pack
from pydns.dns.rdata import address
from pydns.dns.types import Class, Flag, Rcode, Type
from pydns.upstream.reply import answers, read_datagram

ASKED = Question("www.Example.org.", Type.A)
RECORD = RR(ASKED.name, Type.A, 60, address("192.0.2.1"))
REPLY = Message(7, Flag.QR | Flag.RA, 0, ASKED, (RECORD,), forwarded=True)


def without_question(rcode: int) -> bytes:
    return pack(Message(7, Flag.QR, rcode))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (Question("www.example.ORG.", Type.A), True),
        (Question("ww.example.org.", Type.A), False),
        (Question("www.example.org.", Type.AAAA), False),
        (Question("www.example.org.", Type.A, Class.CH), False),
        (None, False),
    ],
)
def test_a_reply_repeats_the_question(question: Question | None, expected: bool) -> None:
    assert answers(REPLY._replace(question=question), ASKED) is expected


def test_a_query_is_no_reply() -> None:
    assert not answers(REPLY._replace(flags=Flag.RD), ASKED)


def test_the_right_reply_is_taken_whole() -> None:
    assert read_datagram(pack(REPLY), ASKED, 512) == REPLY


@pytest.mark.parametrize(
    "data",
    [
        b"",
        pack(REPLY)[:11],
        pack(REPLY._replace(flags=Flag.RD)),
        pack(REPLY._replace(question=Question("other.example.org.", Type.A))),
        pack(REPLY)[:4] + b"\0\2" + pack(REPLY)[6:],
        pack(REPLY)[:12] + b"\x81garbage",
        without_question(Rcode.NOERROR),
        without_question(Rcode.NXDOMAIN),
    ],
    ids=["empty", "short", "query", "question", "two questions", "garbage", "no question", "no question, NXDOMAIN"],
)
def test_anything_else_is_ignored(data: bytes) -> None:
    assert read_datagram(data, ASKED, 512) is None


@pytest.mark.parametrize("rcode", [Rcode.FORMERR, Rcode.SERVFAIL, Rcode.NOTIMP, Rcode.REFUSED])
def test_an_error_may_lack_the_question(rcode: int) -> None:
    reply = read_datagram(without_question(rcode), ASKED, 512)
    assert reply is not None
    assert (reply.rcode, reply.question) == (rcode, None)


@pytest.mark.parametrize(
    ("data", "limit"),
    [
        (pack(REPLY), len(pack(REPLY)) - 1),
        (pack(REPLY)[:-1], 512),
        (pack(REPLY)[:-6] + b"\0\3\xc0\0\2", 512),
        (pack(REPLY)[:-6] + b"\0\5\xc0\0\2\1\0", 512),
    ],
    ids=["too large", "cut", "address of three octets", "address of five octets"],
)
def test_what_the_client_cannot_take_becomes_truncated(data: bytes, limit: int) -> None:
    assert read_datagram(data, ASKED, limit) == REPLY._replace(flags=REPLY.flags | Flag.TC, answer=())
