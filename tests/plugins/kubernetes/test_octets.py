"""Octets of the common shapes of replies: those that `pack` makes."""

import pytest

from pydns.dns.edns import Edns
from pydns.dns.message import RR, Message, Question, pack, parse, ring_of, uncompressed_size
from pydns.dns.rdata import srv
from pydns.dns.types import Type
from pydns.plugins.kubernetes.octets import Denials, of_address, of_records
from tests.plugins.kubernetes.test_apex import make_apex

WEB = "web.shop.svc.cluster.local."
ADDRESS = RR(WEB, Type.A, 30, bytes((10, 96, 0, 1)))
ADDRESS6 = RR(WEB, Type.AAAA, 30, bytes(16))


def soa(origin: str = "cluster.local.") -> tuple[RR, ...]:
    return make_apex().soa(origin)


def is_as_packed(reply: Message) -> bool:
    """Whether size and octets are what they are without the octets, at each TTL."""
    plain = reply._replace(packed=None)
    assert reply.packed is not None
    assert reply.packed.is_of(reply)
    late = [tuple(record._replace(ttl=7) for record in section) for section in reply[4:7]]
    packed = reply.packed.with_ttl(7, *late)
    assert pack(plain.with_sections(*late)._replace(packed=packed)) == pack(plain.with_sections(*late))
    return pack(reply) == pack(plain) and uncompressed_size(reply) == uncompressed_size(plain)


@pytest.mark.parametrize("record", [ADDRESS, ADDRESS6], ids=["A", "AAAA"])
def test_one_address(record: RR) -> None:
    question = Question(WEB, record.type)
    answer = (record,)
    assert is_as_packed(Message(7, 0x8400, 0, question, answer, packed=of_address(question, answer)))


@pytest.mark.parametrize(
    "record",
    [
        RR("other.", Type.A, 30, bytes(4)),
        RR(WEB, Type.CNAME, 30, b"\\x03web\\0"),
        RR(WEB.upper(), Type.A, 30, bytes(4)),
    ],
    ids=["another name", "another type", "other letter case"],
)
def test_another_record_is_left_to_pack(record: RR) -> None:
    assert of_address(Question(WEB, Type.A), (record,)) is None


def test_denials_of_many_names_and_serials() -> None:
    denials = Denials()
    for authority in (soa(), soa(), soa("Cluster.local.")):
        zone = authority[0].name
        for label in (
            "",
            "web.",
            "web.shop.svc.",
            "bew.shop.svc.",
            "x.example.com.",
            "hostmaster.x.",
            "ns.dns.svc.",
            "a\\.b.",
        ):
            question = Question(label + zone, Type.AAAA)
            reply = Message(7, 0x8403, 3, question, (), authority, packed=denials.packed(question, authority))
            assert is_as_packed(reply), question


@pytest.mark.parametrize("name", ["dns.", "ns.dns.", "x.dns.", "hostmaster.", "x.hostmaster."])
def test_a_name_that_the_record_points_into_is_left_to_pack(name: str) -> None:
    assert Denials().packed(Question(f"{name}cluster.local.", Type.A), soa()) is None


def test_the_root_is_left_to_pack() -> None:
    assert Denials().packed(Question("x.", Type.A), soa(".")) is None


POD = RR("db-0." + WEB, Type.A, 30, bytes((10, 244, 0, 1)))
SRV = tuple(RR(WEB, Type.SRV, 30, srv(port=port, target=POD.name)) for port in (80, 443))
ADDRESSES = tuple(ADDRESS._replace(rdata=bytes((10, 96, 0, last))) for last in range(5))
PODS = tuple(POD._replace(rdata=bytes((10, 244, 0, last))) for last in range(4))
AGAIN = tuple(ADDRESS6._replace(rdata=bytes((last, *bytes(15)))) for last in range(4))
DUAL = (*ADDRESSES, ADDRESS6)


@pytest.mark.parametrize(
    "answer, additional, moves",
    [
        (ADDRESSES, (), True),
        (SRV, PODS, True),
        (SRV, (POD,), True),
        (SRV, (), False),
        (DUAL, (), False),
        (ADDRESSES, AGAIN, True),
        (ADDRESSES, PODS, False),
    ],
    ids=[
        "addresses",
        "SRV with addresses",
        "SRV with one",
        "SRV alone",
        "both families",
        "two sections",
        "a name in full",
    ],
)
@pytest.mark.parametrize("edns", [None, Edns(1232)])
def test_several_records_in_any_order_and_cut_anywhere(
    answer: tuple[RR, ...], additional: tuple[RR, ...], moves: bool, edns: Edns | None
) -> None:
    question = Question(WEB, answer[0].type)
    known = of_records(Question(WEB, answer[0].type), answer, additional)
    assert known is not None
    packed = known.of(question)
    reply = Message(7, 0x8400, 0, question, answer, (), additional, edns, packed=packed)
    assert is_as_packed(reply)
    moved = reply.with_order(answer, (), additional[::-1]) if additional else reply.with_order(answer[::-1], (), ())
    assert (moved.packed is not None) is moves
    for message in (reply, moved):
        for limit in range(len(question.name), len(pack(message)) + 1):
            assert pack(message, limit) == pack(message._replace(packed=None), limit)


def test_order_of_two_sections_is_left_to_pack() -> None:
    question = Question(WEB, Type.A)
    reply = Message(7, 0x8400, 0, question, ADDRESSES, (), AGAIN, packed=of_records(question, ADDRESSES, AGAIN))
    assert reply.with_order(ADDRESSES, (), AGAIN[::-1]).packed is not None
    assert reply.with_order(ADDRESSES[::-1], (), AGAIN[::-1]).packed is None
    assert reply._replace(answer=ADDRESSES[:2]).with_order(ADDRESSES[:2], (), AGAIN).packed is None


@pytest.mark.parametrize(
    "edns", [None, Edns(1232), Edns(1232, options=((10, b"12345678"),))], ids=["", "opt", "cookie"]
)
@pytest.mark.parametrize("limit", [4096, 512, 300, 200, 90])
def test_the_ring_of_a_reply_is_where_its_records_are(limit: int, edns: Edns | None) -> None:
    answer = tuple(RR(WEB, Type.A, 30, bytes((10, 244, 0, number))) for number in range(30))
    question = Question(WEB, Type.A)
    reply = Message(7, 0x8400, 0, question, answer, edns=edns, packed=of_records(question, answer, ()))
    octets = pack(reply, limit)
    ring = ring_of(reply, len(octets))
    assert ring is not None
    assert [parse(octets[: ring.start] + record).answer for record in ring.records] == [(record,) for record in answer]
    shown = b"".join(ring.records)[: ring.end - ring.start]
    assert octets[ring.start : ring.end] == shown
    assert octets[ring.end :] == (b"" if edns is None else edns.pack())
    assert len(parse(octets).answer) * len(ring.records[0]) == len(shown)


@pytest.mark.parametrize("answer", [(ADDRESS, POD), (POD, ADDRESS6)], ids=["no octets", "of two lengths"])
def test_without_records_that_can_change_places_there_is_no_ring(answer: tuple[RR, ...]) -> None:
    question = Question(WEB, Type.A)
    packed = of_records(question, answer, ()) if ADDRESS6 in answer else None
    assert ring_of(Message(7, 0x8400, 0, question, answer, packed=packed), 512) is None


def test_a_message_that_was_changed_has_no_ring() -> None:
    answer = tuple(RR(WEB, Type.A, 30, bytes((10, 244, 0, number))) for number in range(3))
    question = Question(WEB, Type.A)
    reply = Message(7, 0x8400, 0, question, answer, packed=of_records(question, answer, ()))
    assert ring_of(reply._replace(answer=answer[:2]), 512) is None


def test_there_are_no_octets_of_more_records_than_a_message_holds() -> None:
    many = tuple(RR(WEB, Type.A, 30, number.to_bytes(4, "big")) for number in range(4200))
    assert of_records(Question(WEB, Type.A), many[:4000], ()) is not None
    assert of_records(Question(WEB, Type.A), many, ()) is None
