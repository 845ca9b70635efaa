"""Plain queries and replies against `parse` and `pack`, which are the definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pydns.dns import Edns, Flag, Message, Question, Rcode
from pydns.dns.message import HEADER, RR, pack, parse
from pydns.dns.packed import Packed
from pydns.dns.plain import MAX_SHAPES, Shapes, parse_plain
from pydns.dns.types import Type

RDATA = {Type.A: bytes((192, 0, 2, 1)), Type.AAAA: bytes(range(16))}


def ask(qtype: int = Type.A, flags: int = Flag.RD, edns: Edns | None = None) -> Message:
    return Message(4711, flags, question=Question("www.Example.org.", qtype), edns=edns)


@pytest.mark.parametrize("qtype", RDATA)
@pytest.mark.parametrize("edns", [None, Edns(1232), Edns(512, 0xFFFF)], ids=["plain", "EDNS", "flags"])
@pytest.mark.parametrize("flags", [0, Flag.RD, Flag.RD | Flag.AD, Flag.RD | Flag.CD | 0x40])
def test_plain_messages_are_read_and_made_as_others_are(qtype: int, flags: int, edns: Edns | None) -> None:
    message = ask(qtype, flags, edns)
    assert message.question is not None
    wire = pack(message)
    end = len(wire) - 4 - (11 if edns else 0)
    shape, asked = Shapes().of(wire, end), wire[HEADER.size : end + 4]
    assert shape is not None
    read = shape.query(4711, message.question, asked)
    assert (read, pack(read)) == (parse(wire), wire)
    assert read.packed is not None and read.packed.is_of(read) and len(read.packed) == len(Packed._fields)
    said = Flag.QR | Flag.RA | Flag.AD | flags
    record = RR("www.Example.org.", qtype, 300, RDATA[Type(qtype)])
    reply = message._replace(flags=said, answer=(record,), edns=edns and Edns(4096))
    assert parse_plain(pack(reply), asked, shape) == (said, 300, [record.rdata])
    shown = said if edns == Edns(512, 0xFFFF) or flags & Flag.AD else said & ~Flag.AD
    due = reply._replace(flags=shown, edns=edns and Edns(edns.size, edns.flags & 0xFF00))
    assert shape.reply(wire[:2], said, asked, 300, [record.rdata]) == pack(due)


OTHERS: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda wire: wire[:-1],
    "octets behind": lambda wire: wire + b"\0",
    "a query": lambda wire: wire[:2] + bytes((wire[2] & 0x7F,)) + wire[3:],
    "TC": lambda wire: wire[:2] + bytes((wire[2] | 2,)) + wire[3:],
    "an opcode": lambda wire: wire[:2] + bytes((wire[2] | 8,)) + wire[3:],
    "an rcode": lambda wire: wire[:3] + bytes((wire[3] | Rcode.NXDOMAIN,)) + wire[4:],
    "other letters": lambda wire: wire.replace(b"Example", b"example"),
    "more records promised": lambda wire: wire[:7] + b"\2" + wire[8:],
    "the question alone": lambda wire: wire[:6] + bytes(6) + wire[12:34],
    "a header cut short": lambda wire: wire[:3],
    "another length": lambda wire: wire[:-5] + b"\3" + wire[-4:],
    "another owner": lambda wire: wire[:-15] + b"\x0d" + wire[-14:],
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_anything_else_is_no_plain_reply(change: Callable[[bytes], bytes]) -> None:
    wire = pack(ask())
    end = len(wire) - 4
    shape, asked = Shapes().of(wire, end), wire[HEADER.size :]
    assert shape is not None
    reply = pack(ask(flags=Flag.QR)._replace(answer=(RR("www.Example.org.", Type.A, 9, bytes(4)),)))
    assert parse_plain(reply, asked, shape) == (Flag.QR, 9, [bytes(4)])
    assert parse_plain(change(reply), asked, shape) is None


def read_reply(name: str, edns: Edns | None, records: list[RR]) -> tuple[int, int, list[bytes]] | None:
    """What is read of a reply without an OPT record."""
    query = Message(4711, Flag.RD, question=Question(name, Type.A), edns=edns)
    wire = pack(query)
    end = len(wire) - 4 - (11 if edns else 0)
    shape = Shapes().of(wire, end)
    assert shape is not None
    reply = pack(query._replace(flags=Flag.QR, answer=tuple(records), edns=None))
    return parse_plain(reply, wire[HEADER.size : end + 4], shape)


def records(name: str, count: int) -> list[RR]:
    return [RR(name, Type.A, 9, bytes((192, 0, 2, number))) for number in range(count)]


@pytest.mark.parametrize("count", [2, 28])
def test_records_of_one_set_are_plain(count: int) -> None:
    some = records("www.example.org.", count)
    assert read_reply("www.example.org.", None, some) == (Flag.QR, 9, [record.rdata for record in some])


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize(
    "change", [{"ttl": 8}, {"type": Type.TXT}, {"cls": 3}, {"rdata": bytes(5)}, {"name": "web.example.org."}], ids=str
)
def test_records_of_which_one_differs_are_not(change: dict[str, Any], at: int) -> None:
    some = records("www.example.org.", 3)
    some[at] = some[at]._replace(**change)
    assert read_reply("www.example.org.", None, some) is None


@pytest.mark.parametrize(("edns", "is_plain"), [(None, True), (Edns(512), False), (Edns(1232), True)])
def test_a_reply_that_fits_must_do_so_with_the_client_s_opt_record(edns: Edns | None, is_plain: bool) -> None:
    name = "host.www.example.org."
    assert (read_reply(name, edns, records(name, 29)) is not None) is is_plain  # 502 octets


def test_shapes_are_bounded() -> None:
    shapes = Shapes()
    for size in range(MAX_SHAPES * 2):
        wire = pack(ask(edns=Edns(size)))
        assert shapes.of(wire, len(wire) - 15) is not None
    assert len(shapes._shapes) <= MAX_SHAPES
