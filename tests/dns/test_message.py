"""Messages: the codec against dnslib, truncation, and bytes that are no message."""

import dnslib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.dns import RR, Edns, Flag, Message, Question, Rcode, Type, WireError, pack, parse
from pydns.dns.replay import Replay
from pydns.dns.text import record, to_text

QUESTION = Question("web.shop.svc.cluster.local.", Type.A)
RECORDS = [
    "web.shop.svc.cluster.local. 5 IN A 10.96.1.1",
    "web.shop.svc.cluster.local. 5 IN AAAA fd00:10:96::6",
    "WEB.shop.svc.cluster.local. 5 IN CNAME target.example.org.",
    "cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 7 7200 1800 86400 5",
    "_http._tcp.web.shop.svc.cluster.local. 5 IN SRV 0 100 80 web.shop.svc.cluster.local.",
    "1.1.96.10.in-addr.arpa. 5 IN PTR web.shop.svc.cluster.local.",
    "example.org. 300 IN MX 10 mail.example.org.",
    'example.org. 300 IN TXT "one" "two"',
    "example.org. 300 IN NS ns1.example.org.",
    "example.org. 300 IN CAA 0 issue \"ca.example.net\"",
]  # fmt: skip


def message(*answer: str, edns: Edns | None = None, flags: int = Flag.QR | Flag.AA | Flag.RD) -> Message:
    return Message(4711, flags, Rcode.NOERROR, QUESTION, tuple(map(record, answer)), edns=edns)


@pytest.mark.parametrize("text", RECORDS)
def test_record_survives_and_dnslib_agrees(text: str) -> None:
    reply = message(text, text)
    wire = pack(reply)
    assert parse(wire) == reply
    oracle = dnslib.DNSRecord.parse(wire)
    assert [str(rr) for rr in oracle.rr] == [str(dnslib.RR.fromZone(text)[0])] * 2


@given(st.lists(st.sampled_from(RECORDS), max_size=12), st.sampled_from([None, Edns(1232), Edns(4096, 0x8000)]))
def test_what_is_packed_parses_the_same(answer: list[str], edns: Edns | None) -> None:
    reply = message(*answer, edns=edns)
    assert parse(pack(reply)) == reply


@given(st.lists(st.sampled_from(RECORDS), max_size=12))
def test_what_dnslib_packs_parses_the_same(answer: list[str]) -> None:
    oracle = dnslib.DNSRecord(dnslib.DNSHeader(id=1, qr=1), q=dnslib.DNSQuestion("example.org"))
    oracle.add_answer(*(dnslib.RR.fromZone(text)[0] for text in answer))
    assert parse(oracle.pack()).answer == tuple(map(record, answer))


def test_names_are_compressed_where_they_may_be() -> None:
    wire = pack(message(RECORDS[4], RECORDS[5]))
    owner_srv = 18 + 2 + 10 + 6 + len(QUESTION.name) + 1  # "_http._tcp" + pointer; the target is written in full
    owner_ptr = len("1.1.96.10.in-addr.arpa.") + 1 + 10 + 2  # the target is one pointer
    assert len(wire) == 12 + len(QUESTION.name) + 1 + 4 + owner_srv - 18 + len("\x05_http\x04_tcp") + owner_ptr


def test_an_owner_points_to_the_target_that_was_written_in_full() -> None:
    """The additional section of SRV replies: RFC 2782 forbids to compress the target, not to point to it."""
    srv = message("_http._tcp.web.shop.svc.cluster.local. 5 IN SRV 0 50 80 one.target.example.")
    both = srv.with_sections(srv.answer, (), (record("one.target.example. 5 IN A 10.244.0.1"),))
    assert len(pack(both)) - len(pack(srv)) == 2 + 10 + 4
    assert parse(pack(both)) == both


def test_letter_case_of_the_question_is_kept() -> None:
    question = Question("WeB.Shop.", Type.A)
    assert parse(pack(Message(1, 0, 0, question))).question == question


def test_compression_never_changes_letter_case() -> None:
    reply = message("Web.Shop.svc.cluster.local. 5 IN CNAME web.SHOP.svc.cluster.local.")
    assert parse(pack(reply)) == reply


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 1, 2), (0, 0, 4), (5, 0, 0)])
@pytest.mark.parametrize("edns", [None, Edns(512)])
def test_truncation_is_exact(sizes: tuple[int, int, int], edns: Edns | None) -> None:
    """At the full size nothing is cut; an octet less costs the last record and sets TC, wherever that record stood."""
    answer, authority, additional = (
        tuple(RR(QUESTION.name, Type.A, 5, bytes((10, section, 0, i))) for i in range(count))
        for section, count in enumerate(sizes)
    )
    whole = Message(1, Flag.QR, 0, QUESTION, answer, authority, additional, edns)
    wire = pack(whole)
    assert parse(pack(whole, len(wire))) == whole
    cut = parse(pack(whole, len(wire) - 1))
    assert cut.truncated
    assert cut.records() == whole.records()[:-1]
    assert cut.edns == edns


def test_cut_keeps_the_order_answer_authority_additional() -> None:
    soa = record(RECORDS[3])
    glue = RR("a.", Type.A, 5, bytes(4))
    reply = message(RECORDS[0])._replace(authority=(soa,), additional=(glue,))
    size = len(pack(message(RECORDS[0])))
    cut = parse(pack(reply, size + 5))
    assert (len(cut.answer), cut.authority, cut.additional, cut.truncated) == (1, (), (), True)


def test_extended_rcode() -> None:
    reply = Message(1, Flag.QR, Rcode.BADVERS, QUESTION, edns=Edns(0))
    assert parse(pack(reply)).rcode == Rcode.BADVERS


def test_edns_options() -> None:
    edns = Edns(1232, 0x8001, 0, ((3, b""), (10, b"12345678")))
    parsed = parse(pack(message(edns=edns))).edns
    assert parsed == edns
    assert parsed.do


HEADER = bytes.fromhex("000101000001000000000000")
ROOT_A = b"\0\0\1\0\1"


@pytest.mark.parametrize(
    ("wire", "question"),
    [
        pytest.param(HEADER + b"\x01a\0", Question("a.", 0, 0), id="no type, no class"),
        pytest.param(HEADER + b"\x01a\0\0\1", Question("a.", 1, 0), id="no class"),
        pytest.param(HEADER, None, id="no question at all"),
        pytest.param(HEADER + ROOT_A + b"garbage", Question(".", 1), id="trailing garbage"),
        pytest.param(HEADER[:10] + b"\0\2" + ROOT_A, Question(".", 1), id="promised records absent"),
    ],
)
def test_what_miekg_forgives(wire: bytes, question: Question | None) -> None:
    assert parse(wire).question == question


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(HEADER[:11], id="short header"),
        pytest.param(HEADER + b"\x01a", id="cut name"),
        pytest.param(HEADER + b"\x01a\0\0\1\0", id="cut question"),
        pytest.param(HEADER[:10] + b"\0\1" + ROOT_A + b"\0\0\x29", id="cut record"),
        pytest.param(HEADER[:10] + b"\0\1" + ROOT_A + b"\0\0\1\0\1\0\0\0\0\0\4ab", id="cut rdata"),
        pytest.param(HEADER[:10] + b"\0\1" + ROOT_A + b"\0\0\x29\0\0\0\0\0\0\0\3\0\3\0", id="cut option"),
        pytest.param(
            HEADER[:10] + b"\0\1" + ROOT_A + b"\0\0\5\0\1\0\0\0\0\0\2\xc0\xff", id="pointer out of the message"
        ),
    ],
)
def test_no_message(wire: bytes) -> None:
    with pytest.raises(WireError):
        parse(wire)


@pytest.mark.parametrize(
    ("rrtype", "rdata", "is_message"),
    [
        (Type.A, "c0000201", True),
        (Type.A, "c00002", False),
        (Type.A, "c000020100", False),
        (Type.A, "", True),  # as updates have it (RFC 2136 section 2.4)
        (Type.AAAA, "c0000201", False),
        (Type.CNAME, "016100", True),
        (Type.CNAME, "0161", False),
        (Type.CNAME, "01610000", False),
        (Type.MX, "000a", False),
        (Type.SRV, "00000000", False),
        (Type.SOA, "016100016200" + "00000001" * 5, True),
        (Type.SOA, "016100016200" + "00000001" * 4, False),
        (Type.SOA, "016100016200" + "00000001" * 6, False),
        (Type.NXT, "01610040", True),
        (Type.TXT, "ff", True),  # not looked into
    ],
)
def test_addresses_and_names_fill_their_rdata(rrtype: int, rdata: str, is_message: bool) -> None:
    octets = bytes.fromhex(rdata)
    fixed = b"\0" + rrtype.to_bytes(2, "big") + b"\0\1" + bytes(4) + len(octets).to_bytes(2, "big")
    wire = HEADER[:10] + b"\0\1" + ROOT_A + fixed + octets
    if is_message:
        assert parse(wire).additional == (RR(".", rrtype, 0, octets),)
    else:
        with pytest.raises(WireError):
            parse(wire)


@given(st.binary(max_size=80), st.integers(0, 3), st.integers(0, 3))
def test_random_bytes_are_a_message_or_a_wire_error(body: bytes, answers: int, additional: int) -> None:
    header = b"\0\1\0\0\0\1" + bytes((0, answers, 0, 0, 0, additional))
    try:
        found = parse(header + body)
    except WireError:
        return
    assert parse(pack(found)).records() == found.records()


def test_to_text() -> None:
    assert [to_text(record(text)) for text in RECORDS[:6]] == RECORDS[:6]


def test_a_message_with_something_else_is_the_same_otherwise() -> None:
    one, two = (RR("a.", 1, 5, bytes((10, 0, 0, number))) for number in (1, 2))
    whole = Message(1, Flag.QR, 3, Question("a.", 1), (one,), (two,), (one, two), Edns(1232), Replay(1.0), True)
    assert whole.with_replay(None) == whole._replace(replay=None)
    other = whole._replace(answer=(), authority=(one,), additional=(two,))
    assert whole.with_sections((), (one,), (two,)) == other
    told: list[int] = []
    assert Replay(1.0, ("a",), 2, (print,)).with_counters(told.append) == Replay(1.0, ("a",), 2, (print, told.append))


def test_no_pointer_leads_to_where_none_can() -> None:
    """Offsets have 14 bits (RFC 1035 section 4.1.4): of what stands behind them nothing is repeated by a pointer."""
    names = [f"n{number}.{'x' * 50}{number}.example." for number in range(300)]
    records = tuple(RR(name, Type.A, 5, bytes(4)) for name in (*names, *names))
    assert parse(pack(Message(1, Flag.QR, question=QUESTION, answer=records))).answer == records
