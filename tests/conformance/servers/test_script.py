"""Scripted upstreams: which rule answers, and what goes out."""

import struct

import pytest

from conformance.servers.script import Script, parse_script
from conformance.servers.upstream import Upstream, read_query
from conformance.wire.blocks import split_blocks
from conformance.wire.message import decode, encode_name, type_number

TEXT = """\
upstream
    negative example. 300 SOA ns.example. admin.example. 1 2 3 4 60
    www.example. 300 A 192.0.2.7
    alias.example. 60 CNAME www.example.
    ? dead.example. * => SERVFAIL
    ? turn.example. A => NOERROR
        answer turn.example. 5 A 192.0.2.1
    ? turn.example. A => NOERROR
        answer turn.example. 5 A 192.0.2.2
    ? *.wild.example. A => NOERROR aa
        answer *.wild.example. 5 A 192.0.2.3
    ? drop.example. A +drop
    ? cut.example. A +truncate => NOERROR
        answer cut.example. 5 A 192.0.2.4
    ? liar.example. A +wrong-id => NOERROR
    ? other.example. A +wrong-question => NOERROR
    ? noise.example. A +garbage => NOERROR
"""


@pytest.fixture
def upstream() -> Upstream:
    (block,) = split_blocks("x", TEXT.splitlines())
    return Upstream(Script(parse_script(block)))


def query(name: str, qtype: str = "A") -> bytes:
    return struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + encode_name(name) + struct.pack("!2H", type_number(qtype), 1)


@pytest.mark.parametrize(
    ("name", "qtype", "rcode", "answer"),
    [
        ("www.example.", "A", "NOERROR", ["www.example. 300 IN A 192.0.2.7"]),
        ("WWW.example.", "A", "NOERROR", ["www.example. 300 IN A 192.0.2.7"]),
        ("www.example.", "AAAA", "NOERROR", []),
        ("alias.example.", "CNAME", "NOERROR", ["alias.example. 60 IN CNAME www.example."]),
        (
            "alias.example.",
            "A",
            "NOERROR",
            ["alias.example. 60 IN CNAME www.example.", "www.example. 300 IN A 192.0.2.7"],
        ),
        ("alias.example.", "MX", "NOERROR", ["alias.example. 60 IN CNAME www.example."]),
        ("nosuch.example.", "A", "NXDOMAIN", []),
        ("dead.example.", "TXT", "SERVFAIL", []),
        ("x.y.wild.example.", "A", "NOERROR", ["x.y.wild.example. 5 IN A 192.0.2.3"]),
    ],
)
async def test_answers(upstream: Upstream, name: str, qtype: str, rcode: str, answer: list[str]) -> None:
    (packet,) = await upstream.replies(query(name, qtype), "udp")
    reply = decode(packet)
    assert (reply.rcode, [str(record) for record in reply.answer]) == (rcode, answer)
    assert reply.question == f"{name} IN {qtype}"


async def test_rules_for_one_question_take_turns(upstream: Upstream) -> None:
    packets = [(await upstream.replies(query("turn.example."), "udp"))[0] for _ in range(3)]
    assert [decode(packet).answer[0].rdata for packet in packets] == ["192.0.2.1", "192.0.2.2", "192.0.2.2"]


async def test_misbehaviour(upstream: Upstream) -> None:
    assert await upstream.replies(query("drop.example."), "udp") == []
    (cut,) = await upstream.replies(query("cut.example."), "udp")
    assert ("tc" in decode(cut).flags, decode(cut).answer) == (True, ())
    (whole,) = await upstream.replies(query("cut.example."), "tcp")
    assert len(decode(whole).answer) == 1
    wrong, right = await upstream.replies(query("liar.example."), "udp")
    assert (wrong[:2], right[:2]) == (b"\x00\x06", b"\x00\x07")
    wrong, right = await upstream.replies(query("other.example."), "udp")
    assert decode(wrong).question == "wrong.other.example. IN A"
    (noise,) = await upstream.replies(query("noise.example."), "udp")
    assert len(noise) == 3


async def test_what_was_heard_leaves_out_health_probes(upstream: Upstream) -> None:
    await upstream.replies(query("www.example."), "tcp")
    await upstream.replies(query(".", "NS"), "udp")
    assert upstream.take_heard() == ["www.example. IN A tcp +rd"]
    assert upstream.take_heard() == []


def test_queries_in_words() -> None:
    opt = bytes.fromhex("00 0029 04d0 00008000 0006 000a 0002 0011")
    packet = query("a.")[:10] + b"\x00\x01" + query("a.")[12:] + opt
    assert read_query(packet, "udp").words == "a. IN A udp +rd +edns=1232 +do +opt=10:0011"
