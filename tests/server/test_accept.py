"""What is a query, and what is turned away with a bare header; expectations from CoreDNS (miekg/dns 1.1.72)."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.dns.edns import Edns
from pydns.dns.message import Message, Question
from pydns.dns.types import Flag, Opcode, Rcode
from pydns.server.accept import Rejected, accept

QUESTION = b"\3foo\3bar\0\0\1\0\1"
RECORD = b"\3foo\3bar\0\0\1\0\1\0\0\0\5\0\4\1\2\3\4"
OPT = b"\0\0\x29\4\xd0\0\0\0\0\0\0"


def query(rest: bytes = QUESTION, *, flags: int = Flag.RD, counts: tuple[int, int, int, int] = (1, 0, 0, 0)) -> bytes:
    return struct.pack("!6H", 4711, flags, *counts) + rest


def with_option(code: int, data: bytes) -> bytes:
    option = struct.pack("!HH", code, len(data)) + data
    opt = OPT[:-2] + len(option).to_bytes(2, "big") + option
    return query(QUESTION + opt, counts=(1, 0, 0, 1))


def rejection(data: bytes) -> Message:
    with pytest.raises(Rejected) as rejected:
        accept(data)
    return rejected.value.reply


@pytest.mark.parametrize("length", range(12))
def test_less_than_a_header_gets_no_reply(length: int) -> None:
    assert accept(query()[:length]) is None


@pytest.mark.parametrize("flags", [Flag.QR, Flag.QR | Flag.RD, Flag.QR | Opcode.STATUS << 11])
def test_responses_get_no_reply(flags: int) -> None:
    assert accept(query(flags=flags)) is None


@pytest.mark.parametrize("opcode", [code for code in range(16) if code not in (Opcode.QUERY, Opcode.NOTIFY)])
def test_other_opcodes_are_not_implemented(opcode: int) -> None:
    reply = rejection(query(flags=opcode << 11 | 0x7FF))
    kept = Flag.TC | Flag.RD | Flag.RA | Flag.AD | Flag.CD
    assert reply == Message(4711, Flag.QR | opcode << 11 | kept, Rcode.NOTIMP)


@pytest.mark.parametrize(
    "counts",
    [(0, 0, 0, 0), (2, 0, 0, 0), (1, 2, 0, 0), (1, 0, 2, 0), (1, 0, 0, 3), (0xFFFF, 0, 0, 0), (0, 0xFFFF, 0, 0)],
)
def test_odd_counts_are_format_errors_without_a_question(counts: tuple[int, int, int, int]) -> None:
    assert rejection(query(counts=counts)) == Message(4711, Flag.QR | Flag.RD, Rcode.FORMERR)


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(b"\3fo", id="label cut short"),
        pytest.param(b"\3foo", id="name without end"),
        pytest.param(b"\3foo\0\0", id="type cut short"),
        pytest.param(b"\3foo\0\0\1\0", id="class cut short"),
        pytest.param(b"\xc0\x0c\0\1\0\1", id="pointer to itself"),
        pytest.param(b"\x40a\0\0\1\0\1", id="reserved label type"),
    ],
)
def test_questions_that_do_not_parse_are_format_errors(rest: bytes) -> None:
    assert rejection(query(rest)) == Message(4711, Flag.QR | Flag.RD, Rcode.FORMERR)


@pytest.mark.parametrize(
    "data",
    [
        query(QUESTION + RECORD[:-1], counts=(1, 1, 0, 0)),
        query(QUESTION + RECORD[:-1], counts=(1, 0, 1, 0)),
        query(QUESTION + OPT[:-1], counts=(1, 0, 0, 1)),
        query(QUESTION + OPT[:-2] + b"\0\5" + b"\0\3\0\5a", counts=(1, 0, 0, 1)),
    ],
)
def test_a_question_before_broken_records_comes_back(data: bytes) -> None:
    assert rejection(data) == Message(4711, Flag.QR | Flag.RD, Rcode.FORMERR, Question("foo.bar.", 1))


@pytest.mark.parametrize("flags", [Flag.RD, Flag.RD | Flag.CD | Flag.AD, Opcode.NOTIFY << 11 | Flag.RD])
def test_a_question_promised_but_not_there_is_servfail(flags: int) -> None:
    kept = Opcode.NOTIFY << 11 if flags & Opcode.NOTIFY << 11 else flags & (Flag.RD | Flag.CD)
    assert rejection(query(b"", flags=flags)) == Message(4711, Flag.QR | kept, Rcode.SERVFAIL)


def test_an_odd_opcode_does_not_survive_a_format_error() -> None:
    reply = rejection(query(flags=Opcode.NOTIFY << 11 | Flag.RD, counts=(2, 0, 0, 0)))
    assert reply.flags == Flag.QR | Flag.RD


@pytest.mark.parametrize(
    "data",
    [
        query(flags=Opcode.NOTIFY << 11),
        query(flags=0x7F),
        query(counts=(1, 1, 1, 2)),  # promised, and forgiven
        query(QUESTION + b"trailing garbage"),
        query(QUESTION[:-2]),
        query(QUESTION[:-4]),
        query(QUESTION + RECORD, counts=(1, 1, 0, 0)),
        query(QUESTION + OPT + OPT, counts=(1, 0, 0, 2)),
    ],
)
def test_what_coredns_takes_is_taken(data: bytes) -> None:
    message = accept(data)
    assert message is not None
    assert message.question is not None
    assert message.question.name == "foo.bar."


def test_of_two_opt_records_the_last_counts() -> None:
    message = accept(query(QUESTION + OPT + OPT[:3] + b"\2\x58" + OPT[5:], counts=(1, 0, 0, 2)))
    assert message is not None
    assert message.edns == Edns(600)


@pytest.mark.parametrize("counts", [(1, 1, 0, 0), (1, 0, 1, 0)])
def test_an_opt_record_elsewhere_has_no_meaning(counts: tuple[int, int, int, int]) -> None:
    message = accept(query(QUESTION + OPT, counts=counts))
    assert message is not None
    assert message.edns is None


@pytest.mark.parametrize(
    "code, data, taken",
    [
        (1, bytes(17), False),
        (1, bytes(18), True),
        (2, bytes(4), True),
        (2, bytes(5), False),
        (2, bytes(8), True),
        (3, b"", True),
        (8, b"\0\1\x18\0\xc0\0\2", True),
        (8, b"\0\1\x20\x20\1\2\3\4", True),
        (8, b"\0\1\x21\0", False),
        (8, b"\0\1\x20\x21", False),
        (8, b"\0\2\x80\x80", True),
        (8, b"\0\2\x81\0", False),
        (8, b"\0\3\0\0", False),
        (8, b"\0\0\0\0", True),
        (8, b"\0\0\0\7", True),
        (8, b"\0\0\1\0", False),
        (8, b"\0\1\x18", False),
        (9, b"", True),
        (9, b"\1", False),
        (9, bytes(4), True),
        (10, b"12345678", True),
        (10, b"123", True),
        (11, b"", True),
        (11, b"\0\1", True),
        (11, b"\1", False),
        (15, b"\0", False),
        (15, b"\0\1x", True),
        (65001, b"", True),
    ],
)
def test_options_whose_data_cannot_be_are_format_errors(code: int, data: bytes, taken: bool) -> None:
    packet = with_option(code, data)
    if taken:
        message = accept(packet)
        assert message is not None
        assert message.edns is not None
        assert message.edns.options == ((code, data),)
    else:
        assert rejection(packet) == Message(4711, Flag.QR | Flag.RD, Rcode.FORMERR, Question("foo.bar.", 1))


@given(st.binary(max_size=600))
def test_no_octets_raise_anything_else(data: bytes) -> None:
    try:
        message = accept(data)
    except Rejected as rejected:
        assert rejected.reply.rcode in (Rcode.FORMERR, Rcode.NOTIMP, Rcode.SERVFAIL)
    else:
        assert message is None or not message.flags & Flag.QR


@given(st.binary(max_size=120), st.tuples(*[st.integers(0, 3)] * 4))
def test_no_octets_behind_a_fair_header_raise_anything_else(rest: bytes, counts: tuple[int, int, int, int]) -> None:
    try:
        message = accept(query(rest, counts=counts))
    except Rejected as rejected:
        assert rejected.reply.rcode in (Rcode.FORMERR, Rcode.SERVFAIL)
    else:
        assert message is not None
