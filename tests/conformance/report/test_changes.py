"""How long changes took, over a run."""

from __future__ import annotations

from conformance.report.changes import Times, summary, times
from conformance.results import Verdict


def settled(**milliseconds: float) -> Verdict:
    return Verdict("change/x", "x:1", "a A", settled=milliseconds)


TEN = [settled(pydns=number, coredns=10 * number) for number in range(1, 11)]


def test_times_by_server() -> None:
    assert times(TEN) == {"pydns": Times(10, 5, 9, 10), "coredns": Times(10, 50, 90, 100)}


def test_only_what_both_showed_counts() -> None:
    assert times([*TEN, settled(pydns=9999)])["pydns"].count == 10


def test_one_server_alone() -> None:
    assert times([settled(pydns=3), Verdict("x", "x", "x")]) == {"pydns": Times(1, 3, 3, 3)}


def test_lines() -> None:
    assert [text for text, _ in summary(TEN)] == [
        "changes, pydns: 10 answers right after 5 ms (median), 9 ms (90 %), 10 ms (longest)",
        "changes, coredns: 10 answers right after 50 ms (median), 90 ms (90 %), 100 ms (longest)",
    ]
    assert list(summary([Verdict("x", "x", "x")])) == []
