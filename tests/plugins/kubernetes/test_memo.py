"""Answers kept until their data change."""

import pytest

from pydns.dns.message import RR, Message, Question, pack, uncompressed_size
from pydns.dns.types import Type
from pydns.k8s.objects import Kind, Namespace, Object
from pydns.k8s.store import Change
from pydns.plugins.kubernetes.memo import Known, Memo
from pydns.plugins.kubernetes.records import Outcome

ZONE = "z."
KNOWN = Known(ZONE, Outcome(True, None))


def change(kind: Kind, name: str) -> Change:
    item: Object = Namespace(name)
    return Change(kind, "" if kind is Kind.NAMESPACE else "shop", name, None, item)


@pytest.mark.parametrize(
    "told, left",
    [
        (change(Kind.SERVICE, "web"), {"api."}),
        (change(Kind.SLICE, "web"), {"api."}),
        (change(Kind.SERVICE, "other"), {"web.", "x.web.", "api."}),
        (change(Kind.POD, "web"), {"web.", "x.web.", "api."}),
        (change(Kind.NAMESPACE, "other"), set()),
    ],
)
def test_a_change_drops_what_it_touches(told: Change, left: set[str]) -> None:
    memo = Memo()
    for service, name in (("web", "web."), ("web", "x.web."), ("api", "api.")):
        memo.keep(("shop", service), Question(name, Type.A), KNOWN)
    memo.forget(told)
    assert {name for name in ("web.", "x.web.", "api.") if memo.get(Question(name, Type.A))} == left


def test_types_are_apart() -> None:
    memo = Memo()
    memo.keep(("shop", "web"), Question("web.", Type.A), KNOWN)
    assert memo.get(Question("web.", Type.AAAA)) is None


def address(last: int) -> RR:
    return RR("web.z.", Type.A, 30, bytes((10, 0, 0, last)))


def soa(serial: int) -> tuple[RR, ...]:
    names = b"\x02ns\x03dns\x01z\0" + b"\x0ahostmaster\x01z\0"
    return (RR(ZONE, Type.SOA, 30, names + serial.to_bytes(4, "big") + bytes(16)),)


@pytest.mark.parametrize(
    "answer, authority",
    [((address(1),), ()), ((), soa(1)), ((), soa(2)), ((), ())],
    ids=["a record", "no data", "another serial", "nothing"],
)
def test_octets_are_those_of_the_reply(answer: tuple[RR, ...], authority: tuple[RR, ...]) -> None:
    known = Known(ZONE, Outcome(True, None, answer))
    known.packed(Question("web.z.", Type.A), soa(1))
    question = Question("web.z.", Type.A)
    packed = known.packed(question, authority)
    assert packed is not None
    reply = Message(7, 0x8400, 0, question, answer, authority)
    assert packed.is_of(reply)
    assert pack(reply._replace(packed=packed)) == pack(reply)
    assert packed.size == uncompressed_size(reply)


def test_records_in_an_order_have_no_octets() -> None:
    known = Known(ZONE, Outcome(True, None, (address(1), address(2))))
    assert known.packed(Question("web.z.", Type.A), ()) is None
