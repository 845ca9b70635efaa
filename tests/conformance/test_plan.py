"""Who is judged: which servers the suite starts, and where those are that run already."""

from __future__ import annotations

import pytest

from conformance.plan import Plan


@pytest.mark.parametrize(
    ("subject", "started", "address"),
    [
        ("pydns", ["coredns", "pydns"], None),
        ("/usr/bin/my-dns", ["coredns", "/usr/bin/my-dns"], None),
        ("10.96.0.10:53", ["coredns"], ("10.96.0.10", 53)),
        ("[::1]:1053", ["coredns"], ("::1", 1053)),
        ("cluster", ["coredns"], None),
    ],
)
def test_a_subject(subject: str, started: list[str], address: tuple[str, int] | None) -> None:
    plan = Plan(subject)
    assert (plan.started, plan.address) == (started, address)
    assert plan.outside == (subject not in plan.started)
