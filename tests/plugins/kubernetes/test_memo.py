"""Answers kept until their data change."""

import pytest

from pydns.dns.message import Question
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
