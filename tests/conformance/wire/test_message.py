"""The judge's own codec: presentation format and wire."""

import re

import pytest

from conformance.wire.message import (
    TIMEOUT,
    Edns,
    MalformedReply,
    Record,
    Reply,
    decode,
    encode,
    encode_name,
    parse_record,
    read_reply,
)

QUESTION = encode_name("Web.Shop.example.") + b"\x00\x01\x00\x01"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("web.shop 5 A 10.96.1.1", "web.shop.example. 5 IN A 10.96.1.1"),
        ("web.shop. A 10.96.1.1", "web.shop. 0 IN A 10.96.1.1"),
        ("_http._tcp.web 5 SRV 0 100 80 Web", "_http._tcp.web.example. 5 IN SRV 0 100 80 Web.example."),
        ("a 5 SRV 0 100 80 b.", "a.example. 5 IN SRV 0 100 80 b."),
        ("a 5 CNAME b", "a.example. 5 IN CNAME b.example."),
        ('v 5 TXT "1.1.0"', 'v.example. 5 IN TXT "1.1.0"'),
        ('a 5 CH TXT "x;y"', 'a.example. 5 CH TXT "x;y"'),
        ('any. 8482 HINFO "ANY obsoleted" "See RFC 8482"', 'any. 8482 IN HINFO "ANY obsoleted" "See RFC 8482"'),
        ("x. 5 AAAA fd00:244:0:0:0:0:0:1", "x. 5 IN AAAA fd00:244::1"),
        ("x. 5 TYPE65280 \\# 2 abcd", "x. 5 IN TYPE65280 \\# 2 ABCD"),
        ("x. 5 TYPE33 \\# 4 00000000", "x. 5 IN SRV \\# 4 00000000"),
    ],
)
def test_parse_record(text: str, wanted: str) -> None:
    assert str(parse_record(text, "example.")) == wanted


@pytest.mark.parametrize("text", ["", "web 5 A", "web 5 NOSUCH x", "web 5 A ten", "a. 5 A 1.2.3.4\nb. 5 A 1.2.3.4"])
def test_parse_record_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a record"):
        parse_record(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("web 5 A 10.0.0.999", "Octet 999 (> 255) not permitted in '10.0.0.999'"),
        ("web 5 A ten", "Expected 4 octets in 'ten'"),
        ("web 5 AAAA 10.0.0.1", "At least 3 parts expected in '10.0.0.1'"),
    ],
)
def test_what_is_no_address_is_told(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"not a record: {text!r} ({message})")):
        parse_record(text)


def test_a_message_survives_the_wire() -> None:
    reply = Reply(
        "NXDOMAIN",
        frozenset({"qr", "aa", "rd"}),
        question="Web.Shop.example. IN A",
        answer=(parse_record("Web.Shop.example. 5 CNAME b.example."),),
        authority=(parse_record("example. 5 SOA ns.example. admin.example. 7 7200 1800 86400 5"),),
        additional=(parse_record("b.example. 5 AAAA fd00::1"),),
        opt=Edns(1232, do=True, options=("10:0011aabb", "3:")),
    )
    assert decode(encode(reply, 7, QUESTION)) == reply


def test_octets_stand_for_data_that_is_not_what_its_type_says() -> None:
    packet = encode(Reply("NOERROR", answer=(parse_record("x. 5 TYPE1 \\# 3 c00002"),)), 7, QUESTION)
    assert packet.endswith(b"\x01x\x00" + b"\x00\x01\x00\x01" + b"\x00\x00\x00\x05" + b"\x00\x03\xc0\x00\x02")


def test_an_extended_rcode_is_in_the_opt_record() -> None:
    reply = Reply("BADVERS", frozenset({"qr"}), question="Web.Shop.example. IN A", opt=Edns(0))
    assert decode(encode(reply, 7, QUESTION)) == reply


def test_compressed_names_are_followed() -> None:
    packet = encode(Reply("NOERROR", frozenset({"qr"})), 7, QUESTION)
    packet = packet[:6] + b"\x00\x01" + packet[8:] + b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04\x0a\x60\x01\x01"
    assert decode(packet).answer == (Record("Web.Shop.example.", 5, "IN", "A", "10.96.1.1"),)


@pytest.mark.parametrize(
    "packet",
    [
        b"\x00\x07\x81",
        encode(Reply("NOERROR"), 7, QUESTION) + b"\x00",
        encode(Reply("NOERROR"), 7, b"\xc0\x0c\x00\x01\x00\x01"),
        encode(Reply("NOERROR"), 7, QUESTION)[:-1],
        encode(Reply("NOERROR", answer=(parse_record("a. 5 A 1.2.3.4"),)), 7, QUESTION)[:-1],
    ],
    ids=["short", "trailing octets", "pointer to itself", "cut question", "cut rdata"],
)
def test_what_does_not_parse_is_an_error(packet: bytes) -> None:
    with pytest.raises(MalformedReply):
        decode(packet)


@pytest.mark.parametrize("name", [".", "a.", "a\\.b.c.", "\\255\\000.", 'quote\\".x.', "*.svc."])
def test_names_keep_their_octets(name: str) -> None:
    packet = encode(Reply("NOERROR"), 7, encode_name(name) + b"\x00\x01\x00\x01")
    assert decode(packet).question == f"{name} IN A"


def test_whatever_came_is_a_reply() -> None:
    whole = bytes.fromhex("1234 8183 0000 0000 0000 0000")
    assert read_reply(None) == TIMEOUT
    assert read_reply(whole) == Reply("NXDOMAIN", frozenset({"qr", "rd", "ra"}))
    cut = read_reply(whole[:-1])
    assert (cut.rcode, cut.question.endswith(whole[:-1].hex())) == ("MALFORMED", True)
