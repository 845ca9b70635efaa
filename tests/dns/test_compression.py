"""Records written one by one and at once: the octets are the same."""

import pytest

from pydns.dns import RR, Message, Question, Type, pack, parse
from pydns.dns.compression import pointers_into, write_records
from pydns.dns.name import to_wire

WEB = "web.shop.svc.cluster.local."
HEAD = 10
"""Octets between a record's owner and its rdata."""


def address(last: int, name: str = WEB, ttl: int = 30, cls: int = 1, length: int = 4) -> RR:
    return RR(name, Type.A, ttl, bytes((10, 0, 0, last))[:length], cls)


ALIKE = (address(1), address(2), address(3))


def written(records: tuple[RR, ...], room: int = 65535) -> tuple[bytes, int]:
    """The records behind a question for their name, and how many they are."""
    question = to_wire(WEB)
    out = bytearray(12) + question
    count = write_records(out, pointers_into(question, 12), records, room)
    return bytes(out[12 + len(question) :]), count


def apart(records: tuple[RR, ...]) -> tuple[RR, ...]:
    """The same records with names that are equal but not the same object."""
    return tuple(record._replace(name=record.name[:1] + record.name[1:]) for record in records)


@pytest.mark.parametrize(
    "records",
    [
        ALIKE,
        (*ALIKE, address(4, ttl=31)),
        (*ALIKE, address(4, cls=3)),
        (*ALIKE, address(4, length=0)),
        (*ALIKE, address(4, name=WEB.upper())),
        (*ALIKE, RR(WEB, Type.AAAA, 30, bytes(16))),
        (*ALIKE, RR(WEB, Type.TXT, 30, b"\4text")),
        tuple(address(number, name="other.") for number in range(4)),
    ],
    ids=["alike", "TTL", "class", "empty", "letter case", "type", "text", "not the question's name"],
)
def test_records_of_one_name_are_what_they_are_one_by_one(records: tuple[RR, ...]) -> None:
    assert written(records) == written(apart(records))
    reply = Message(1, 0, 0, Question(WEB, Type.A), records)
    assert parse(pack(reply)) == reply


def test_addresses_of_the_questions_name_have_a_pointer_each() -> None:
    octets, count = written(ALIKE)
    assert (len(octets), count) == (3 * (2 + HEAD + 4), 3)


@pytest.mark.parametrize("missing, kept", [(0, 3), (1, 2), (16, 2), (17, 1), (48, 0)])
def test_what_does_not_fit_is_left_out(missing: int, kept: int) -> None:
    room = 12 + len(to_wire(WEB)) + len(written(ALIKE)[0]) - missing
    assert written(ALIKE, room) == written(apart(ALIKE), room) == written(ALIKE[:kept])
