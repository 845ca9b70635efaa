"""Answers kept until their data change."""

import pytest

from pydns.dns.message import RR, Message, Question
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
        (change(Kind.SLICE, "web"), {"web.", "api."}),
        (change(Kind.SERVICE, "other"), {"web.", "x.web.", "api."}),
        (change(Kind.SLICE, "other"), {"web.", "x.web.", "api."}),
        (change(Kind.POD, "web"), {"web.", "x.web.", "api."}),
        (change(Kind.NAMESPACE, "other"), set()),
    ],
)
def test_a_change_drops_what_it_touches(told: Change, left: set[str]) -> None:
    memo = Memo()
    for service, name in (("web", "web."), ("web", "x.web."), ("api", "api.")):
        memo.keep(("shop", service), Question(name, Type.A), KNOWN, of_endpoints=name.startswith("x."))
    memo.forget(told)
    assert {name for name in ("web.", "x.web.", "api.") if memo.get(Question(name, Type.A))} == left


def test_types_are_apart() -> None:
    memo = Memo()
    memo.keep(("shop", "web"), Question("web.", Type.A), KNOWN, of_endpoints=False)
    assert memo.get(Question("web.", Type.AAAA)) is None


@pytest.mark.parametrize("of_endpoints", [False, True])
def test_what_went_with_its_namespace_is_not_dropped_again(of_endpoints: bool) -> None:
    memo, question = Memo(), Question("web.", Type.A)
    memo.keep(("shop", "web"), question, KNOWN, of_endpoints=of_endpoints)
    assert memo.forget(change(Kind.NAMESPACE, "other")) == []
    assert memo.forget(change(Kind.SERVICE, "web")) == []
    memo.keep(("shop", "web"), question, KNOWN, of_endpoints=of_endpoints)
    assert memo.forget(change(Kind.SERVICE, "web")) == [(question, KNOWN)]


ADDRESS, OTHER = (RR("web.", Type.A, 5, bytes([10, 0, 0, last])) for last in (1, 2))
WEB = Question("web.", Type.A)


@pytest.mark.parametrize(
    "answer, additional, is_packed",
    [((), (), False), ((ADDRESS,), (), False), ((ADDRESS,), (OTHER,), True), ((ADDRESS, OTHER), (), True)],
)
def test_several_records_have_octets(answer: tuple[RR, ...], additional: tuple[RR, ...], is_packed: bool) -> None:
    """Of one address alone they are made in less time than it takes to look them up."""
    known = Known(ZONE, Outcome(True, None, answer, additional))
    packed = known.packed(WEB)
    assert (packed is not None) is is_packed
    if packed is not None:
        again = known.packed(Question("web.", Type.A))
        assert again is not None and again.body is packed.body
        assert packed.is_of(Message(question=WEB, answer=answer, additional=additional))
