"""Faults as people read them."""

from __future__ import annotations

import pytest

from conformance.report.problems import WIDTH, alike, called, lines, told
from conformance.results import Verdict

SILENT = [
    "rcode: wanted NOERROR, got TIMEOUT",
    "flags: wanted qr rd, got -",
    "answer: wanted a. 5 IN A 1.2.3.4\nb, got -",
]


@pytest.mark.parametrize(
    ("faults", "left"),
    [
        (SILENT, ["no reply, wanted NOERROR"]),
        ([f"unexplained: {fault}" for fault in SILENT], ["unexplained: no reply, wanted NOERROR"]),
        ([*SILENT, "ended with status 1"], ["no reply, wanted NOERROR", "ended with status 1"]),
        (SILENT[1:], SILENT[1:]),
        (["rcode: wanted TIMEOUT, got NOERROR"], ["rcode: wanted TIMEOUT, got NOERROR"]),
        ([], []),
    ],
)
def test_no_reply_is_one_fault(faults: list[str], left: list[str]) -> None:
    assert told(faults) == left


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ("/srv/dns/knot", "knot"),
        ("./prog", "prog"),
        ("/srv/dns/coredns", "/srv/dns/coredns"),
        ("pydns", "pydns"),
        ("[::1]:53", "[::1]:53"),
    ],
)
def test_what_a_server_is_called(server: str, name: str) -> None:
    assert called(server) == name


def test_each_fault_has_its_server_in_front() -> None:
    verdict = Verdict("a/b", "1", "?", {"/srv/prog": ("x", "y"), "coredns": (), "pydns": ("z",)})
    assert lines(verdict) == ["prog: x", "prog: y", "pydns: z"]


def test_problems_with_the_same_first_fault_are_together() -> None:
    found = [Verdict("a/b", place, "?", {"pydns": faults})
             for place, faults in (("1", ("x",)), ("2", ("y", "x")), ("3", ("y\nand more",)))]  # fmt: skip
    assert [(fault, [verdict.place for verdict in group]) for fault, group in alike(found)] == [
        ("pydns: y", ["2", "3"]),
        ("pydns: x", ["1"]),
    ]


def test_a_long_fault_is_cut() -> None:
    ((fault, _),) = alike([Verdict("a/b", "1", "?", {"pydns": ("x" * WIDTH,)})])
    assert (len(fault), fault[-1]) == (WIDTH, "…")
