"""What is read the short way is what `parse` reads, and goes on as the octets that `pack` makes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.dns import common as reading
from pydns.dns import name as names
from pydns.dns.common import parse_query, parse_reply
from pydns.dns.edns import Edns
from pydns.dns.message import RR, Message, Question, WireError, pack, parse, uncompressed_size
from pydns.dns.name import BadName, plain_name, to_wire
from pydns.dns.rdata import address, soa, target, txt
from pydns.dns.types import Class, Flag, Type

ASKED = Question("www.Example.org.", Type.A)
A = RR(ASKED.name, Type.A, 300, address("192.0.2.1"))
OPTS = [None, Edns(1232), Edns(4096, 0x8000, 1, ((10, b"12345678"),))]
SOA = RR("org.", Type.SOA, 60, soa(mname="a.", rname="b.", serial=1, refresh=1, retry=1, expire=1, minimum=1))
SOME_TEXT = RR(ASKED.name, Type.TXT, 2**31, txt("some text"))


def query(question: Question = ASKED, edns: Edns | None = None) -> bytes:
    return pack(Message(4711, Flag.RD | Flag.AD, question=question, edns=edns))


def reply(
    *answer: RR,
    question: Question = ASKED,
    authority: tuple[RR, ...] = (),
    additional: tuple[RR, ...] = (),
    edns: Edns | None = None,
) -> bytes:
    return pack(Message(4711, Flag.QR | Flag.RD | Flag.RA, 3, question, answer, authority, additional, edns))


def read_reply(data: bytes, question: Question = ASKED) -> Message | None:
    return parse_reply(data, question, len(to_wire(question.name)) + 16)


def assert_is_as_parsed(common: Message | None, data: bytes) -> None:
    """The same message, and the same octets whatever is done with it."""
    assert common == parse(data)._replace(forwarded=common is not None and common.forwarded)
    assert common is not None and common.packed is not None and common.packed.is_of(common)
    assert pack(common) == pack(parse(data))
    assert uncompressed_size(common) == uncompressed_size(parse(data))


@pytest.mark.parametrize("edns", OPTS)
@pytest.mark.parametrize("name", ["www.Example.org.", "org.", "_dns._udp.a-b.example.", f"{'x' * 63}.y."])
def test_common_queries(name: str, edns: Edns | None) -> None:
    data = query(Question(name, Type.AAAA, Class.CH), edns)
    for _ in range(2):  # the second time all but the ID is known
        assert_is_as_parsed(parse_query(data), data)
        data = b"\xff\xff" + data[2:]


def test_names_that_are_known_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WIRES", 4)
    for number in range(10):
        data = query(Question(f"n{number}.example.", Type.A))
        assert_is_as_parsed(parse_query(data), data)
    assert len(reading._names) <= 4


@pytest.mark.parametrize(
    "data",
    [
        query(Question(".", Type.NS)),
        query(Question(r"a\.b.example.", Type.A)),
        query(Question(r"a.b\.c.example.", Type.A)),
        query()[:12],
        query()[:-1],
        query() + b"\0",
        query(edns=Edns(1232))[:-1],
        query(edns=Edns(1232)) + b"\0",
        query()[:2] + b"\x08" + query()[3:],
        reply(A),
        pack(Message(1, Flag.RD, question=ASKED, additional=(A,))),
        bytes.fromhex("0001 0100 0001 0000 0000 0000 0161 c000 0001 0001"),
        bytes.fromhex("0001 0100 0001 0000 0000 0000 016e c010 0232 3207 6578 6100 0001 0001"),
    ],
    ids=[
        "root", "dot in a label", "dot in a parent", "no question", "cut", "garbage behind", "OPT cut",
        "garbage behind OPT", "another opcode", "a reply", "a record", "pointer to a zero", "pointer to a name as long",
    ],
)  # fmt: skip
def test_other_queries_are_left_to_parse(data: bytes) -> None:
    assert parse_query(data) is None


@pytest.mark.parametrize("length", [254, 255, 256])
def test_names_have_255_octets_at_most(length: int) -> None:
    last = length - 3 * 64 - 2
    data = b"\x3f" + b"a" * 63 + (b"\x3f" + b"b" * 63) * 2 + bytes((last,)) + b"c" * last + b"\0"
    assert len(data) == length
    if length <= 255:
        assert plain_name(data, 0) == names.from_wire(data, 0)
    else:
        with pytest.raises(BadName):
            plain_name(data, 0)


def test_parents_that_are_known_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "WIRES", 4)
    for number in range(10):
        data = to_wire(f"www.n{number}.example.")
        assert plain_name(data, 0) == (f"www.n{number}.example.", len(data))
    assert len(names._parents) <= 4


@pytest.mark.parametrize("edns", OPTS)
@pytest.mark.parametrize(
    ("answer", "authority", "additional"),
    [
        ((), (), ()),
        ((A,), (), ()),
        ((A, SOME_TEXT, A), (), ()),
        ((), (SOME_TEXT,), ()),
        ((), (), (A,)),
        ((A,), (SOME_TEXT, A), (A,)),
    ],
)
def test_common_replies(
    answer: tuple[RR, ...], authority: tuple[RR, ...], additional: tuple[RR, ...], edns: Edns | None
) -> None:
    data = reply(*answer, authority=authority, additional=additional, edns=edns)
    assert_is_as_parsed(read_reply(data), data)


@pytest.mark.parametrize(
    "data",
    [
        reply(RR(ASKED.name, Type.CNAME, 60, target("example.net."))),
        reply(RR("www.example.org.", Type.A, 60, address("192.0.2.1"))),
        reply(authority=(SOA,)),
        reply(A)[:-1],
        reply(A) + b"\0",
        reply(A, edns=Edns(1232)) + b"\0",
        reply(A)[:-6] + b"\0\3\xc0\0\2",
        reply(RR(ASKED.name, Type.A, 5, b"")),
        reply()[:7] + b"\1" + reply()[8:] + to_wire(ASKED.name) + reply(A)[-14:],
    ],
    ids=[
        "CNAME", "other case", "SOA", "cut", "garbage", "garbage behind OPT", "address of three", "no address",
        "no pointer",
    ],
)  # fmt: skip
def test_other_replies_are_left_to_parse(data: bytes) -> None:
    assert read_reply(data) is None


def test_the_root_takes_less_than_a_pointer() -> None:
    root = Question(".", Type.TXT)
    data = (
        reply(question=root)[:7] + b"\1" + reply(question=root)[8:] + bytes.fromhex("c00c 0010 0001 00000001 0001 00")
    )
    assert read_reply(data, root) is None


@pytest.mark.parametrize("ttl", [0, 30, 2**32 - 1])
def test_other_ttls_are_written_where_they_stand(ttl: int) -> None:
    common = read_reply(reply(A, SOME_TEXT, authority=(SOME_TEXT,)))
    assert common is not None and common.packed is not None
    sections = [tuple(record._replace(ttl=ttl) for record in section) for section in common[4:7]]
    changed = common.with_sections(*sections)
    packed = common.packed.with_ttl(ttl, *sections)
    assert pack(changed._replace(packed=packed)) == pack(changed)


def test_octets_of_other_sections_are_not_taken() -> None:
    common = read_reply(reply(A, SOME_TEXT))
    assert common is not None
    changed = common._replace(answer=common.answer[::-1])
    assert pack(changed) == pack(changed._replace(packed=None)) != pack(common)
    assert pack(common, len(pack(common)) - 1) == pack(common._replace(packed=None), len(pack(common)) - 1)


SAMPLES = [
    query(), query(edns=OPTS[1]), query(edns=OPTS[2]), reply(A), reply(A, SOME_TEXT, edns=OPTS[1]),
    reply(authority=(SOME_TEXT,), additional=(A,), edns=OPTS[2]),
]  # fmt: skip
octet = st.one_of(st.sampled_from([0, 1, 2, 3, 12, 41, 63, 64, 0xC0, 255]), st.integers(0, 255))


@given(st.sampled_from(SAMPLES), st.lists(st.tuples(st.integers(0, 80), octet), max_size=3), st.integers(0, 90))
def test_whatever_is_read_the_short_way_is_what_parse_reads(
    sample: bytes, changes: list[tuple[int, int]], end: int
) -> None:
    changed = bytearray(sample)
    for position, value in changes:
        changed[position % len(changed)] = value
    data = bytes(changed[: max(12, end)])
    asked = data[12 : 16 + len(to_wire(ASKED.name))]
    for common in (parse_query(data), read_reply(data) if asked == query()[12:] and data[4:6] == b"\0\1" else None):
        if common is not None:
            assert_is_as_parsed(common, data)


def test_octets_that_do_not_parse_are_no_query() -> None:
    data = query()[:-4]
    with pytest.raises(WireError):
        parse(data[:-1] + b"\x05")
    assert parse_query(data[:-1] + b"\x05") is None
