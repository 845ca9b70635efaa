"""Octets that are known before a message is packed: whose they are, and what becomes of them in a changed message."""

from __future__ import annotations

import pytest

from pydns.dns import Flag, Message, Question, Type
from pydns.dns.message import HEADER, RR, pack
from pydns.dns.packed import Packed, overwritten

QUESTION = Question("a.test.", Type.A)
ANSWER = (RR("a.test.", Type.A, 5, b"\x0a\0\0\1"), RR("a.test.", Type.A, 5, b"\x0a\0\0\2"))
AUTHORITY = (RR("test.", Type.NS, 5, b"\2ns\4test\0"),)
ADDITIONAL = (RR("ns.test.", Type.A, 5, b"\x0a\0\0\3"),)
WHOLE = Message(0, Flag.QR, 0, QUESTION, ANSWER, AUTHORITY, ADDITIONAL)


def packed(message: Message, ttls: tuple[int, ...] = (), movable: dict[int, bytes] | None = None) -> Packed:
    assert message.question is not None
    sections = (message.answer, message.authority, message.additional)
    return Packed(message.question, *sections, pack(message)[HEADER.size :], ttls, 0, movable)


@pytest.mark.parametrize(
    "changed, same",
    [
        (WHOLE, True),
        (WHOLE._replace(id=7, rcode=3), True),
        (WHOLE._replace(question=Question("A.test.", Type.A)), False),
        (WHOLE._replace(question=Question("a.test.", Type.A)), False),
        (WHOLE._replace(answer=ANSWER[::-1]), False),
        (WHOLE._replace(authority=()), False),
        (WHOLE._replace(additional=()), False),
    ],
    ids=["itself", "header", "letter case", "equal question", "answer", "authority", "additional"],
)
def test_they_are_those_of_the_very_objects(changed: Message, same: bool) -> None:
    assert packed(WHOLE).is_of(changed) is same


def test_an_aside_is_no_part_of_a_message() -> None:
    """Messages that differ in it alone are equal, and have one hash."""
    one, other = WHOLE._replace(packed=packed(WHOLE)), WHOLE._replace(packed=packed(WHOLE, (1,)))
    assert one == other == WHOLE
    assert (one.packed != other.packed) is False
    assert hash(one) == hash(other)


Records = tuple[RR, ...]


def older(section: Records) -> Records:
    return tuple([record._replace(ttl=9) for record in section])


def test_other_ttls_are_written_over_the_old_ones() -> None:
    sections = (older(ANSWER), older(AUTHORITY), older(ADDITIONAL))
    body = pack(WHOLE)[HEADER.size :]
    ttls = tuple([at for at in range(len(body)) if body[at : at + 4] == b"\0\0\0\5"])
    aside = packed(WHOLE, ttls).with_ttl(9, *sections)
    assert aside.is_of(WHOLE.with_sections(*sections))
    assert aside.body == pack(WHOLE.with_sections(*sections))[HEADER.size :]


@pytest.mark.parametrize(
    "sections",
    [
        (older(ANSWER), AUTHORITY, ADDITIONAL),
        (ANSWER, older(AUTHORITY), ADDITIONAL),
        (ANSWER, AUTHORITY, older(ADDITIONAL)),
    ],
    ids=["answer", "authority", "additional"],
)
def test_one_section_with_other_records_is_enough(sections: tuple[Records, Records, Records]) -> None:
    aside = packed(WHOLE).with_ttl(9, *sections)
    assert aside.is_of(WHOLE.with_sections(*sections))
    assert not aside.is_of(WHOLE)


def test_the_same_records_are_the_same_octets() -> None:
    aside = packed(WHOLE)
    assert aside.with_ttl(5, ANSWER, AUTHORITY, ADDITIONAL) is aside


BLOCKS = {id(record): b"\xc0\x0c\0\1\0\1\0\0\0\5\0\4" + record.rdata for record in ANSWER}


def test_records_change_places() -> None:
    message = WHOLE._replace(authority=(), additional=())
    turned = message._replace(answer=ANSWER[::-1])
    aside = packed(message, movable=BLOCKS).in_order(turned.answer, (), ())
    assert aside is not None and aside.is_of(turned)
    assert aside.body == pack(turned)[HEADER.size :]


def test_where_moving_octets_is_not_enough() -> None:
    """None can be moved; an answer in front of what can; another authority section."""
    assert packed(WHOLE).in_order(ANSWER, AUTHORITY, ADDITIONAL) is None
    last = packed(WHOLE, movable={id(record): b"" for record in ADDITIONAL})
    assert last.in_order(ANSWER[::-1], AUTHORITY, ADDITIONAL) is None
    assert packed(WHOLE._replace(additional=()), movable=BLOCKS).in_order(ANSWER, (), ()) is None


def test_a_question_that_is_equal_makes_it_that_messages() -> None:
    equal = Question("a.test.", Type.A)
    assert packed(WHOLE).of(equal).is_of(WHOLE._replace(question=equal))


@pytest.mark.parametrize("places, octets", [((), b"abcdef"), ((2,), b"abXYef"), ((4,), b"abcdXY"), ((0, 4), b"XYcdXY")])
def test_overwritten(places: tuple[int, ...], octets: bytes) -> None:
    assert overwritten(b"abcdef", places, b"XY") == octets
