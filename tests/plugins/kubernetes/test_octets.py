"""Octets of the common shapes of replies: those that `pack` makes."""

import pytest

from pydns.dns.message import RR, Message, Question, pack, uncompressed_size
from pydns.dns.types import Type
from pydns.plugins.kubernetes.octets import Denials, of_address
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
