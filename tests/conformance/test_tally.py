"""What counts as right, wrong, lost; what is required of the counts."""

from __future__ import annotations

import pytest

from conformance.tally import Count, LookUp, Phase, count, most_lost, parse, problems, silent

ONE = frozenset({"10.96.1.10"})
TWO = frozenset({"10.244.0.5", "10.244.0.6"})
NOBODY: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("result", "took", "right", "verdict"),
    [
        ("10.96.1.10", 0.01, ONE, "right"),
        ("10.96.1.10", 5.01, ONE, "right"),
        ("10.244.0.6,10.244.0.5", 0.01, TWO, "right"),
        ("10.244.0.6", 0.01, TWO, "wrong"),
        ("10.96.1.11", 0.01, ONE, "wrong"),
        ("10.96.1.10", 0.01, NOBODY, "wrong"),
        ("EAI_NONAME", 0.01, NOBODY, "right"),
        ("EAI_NODATA", 0.01, NOBODY, "right"),
        ("EAI_NONAME", 0.01, ONE, "wrong"),
        ("EAI_NONAME", 5.01, ONE, "lost"),
        ("EAI_AGAIN", 10.0, ONE, "lost"),
        ("EAI_AGAIN", 10.0, NOBODY, "lost"),
        ("EAI_FAIL", 0.01, ONE, "lost"),
    ],
)
def test_verdict(result: str, took: float, right: frozenset[str], verdict: str) -> None:
    assert LookUp("a", 0, 1.0, took, "name", result).verdict(right) == verdict


def test_lines_of_a_container_log() -> None:
    lines = [
        "2026-01-02T03:04:05.6Z stdout F 3 1700000000250 12 web.shop 10.96.1.10",
        "2026-01-02T03:04:05.6Z stdout P 3 170000",  # cut off by a rotation
        "2026-01-02T03:04:05.6Z stderr F something else",
    ]
    assert list(parse("none/musl", lines)) == [
        LookUp("none/musl", 3, 1700000000.25, 0.012, "web.shop", "10.96.1.10")
    ]  # fmt: skip


def test_look_ups_count_in_the_phase_they_began_in() -> None:
    phases = [Phase("a", "CoreDNS", 10.0, 20.0), Phase("b", "pydns", 21.0, 30.0)]
    look_ups = [
        LookUp("c", 0, 9.9, 0.0, "web", "10.96.1.10"),
        LookUp("c", 0, 10.0, 2.0, "web", "10.96.1.10"),
        LookUp("c", 0, 19.9, 5.0, "web", "EAI_AGAIN"),
        LookUp("c", 0, 20.0, 0.0, "web", "10.96.1.11"),
        LookUp("c", 0, 21.5, 0.1, "web", "10.96.1.11"),
    ]
    first, second = count(phases, look_ups, {"c": {"web": ONE}})
    assert (first.right, first.wrong, first.lost, first.late, first.longest) == (1, 0, 1, 1, 5.0)
    assert (second.right, second.wrong, second.lost, second.late) == (0, 1, 0, 0)
    assert first.examples == ["lost after 9.9 s, in 5.0 s: c: web: EAI_AGAIN"]


def test_a_thread_that_says_nothing_any_more() -> None:
    look_ups = [LookUp("a", 0, 90.0, 9.0, "web", ""), LookUp("a", 1, 80.0, 1.0, "web", "")]
    assert silent(look_ups, [("a", 0), ("a", 1), ("b", 0)], 100.0, 2.0) == ["a, thread 1", "b, thread 0"]


def phase(name: str, server: str = "pydns", kills: int = 0) -> Phase:
    return Phase(name, server, 0.0, 1.0, kills)


@pytest.mark.parametrize(
    ("counted", "wanted"),
    [
        (Count(right=5), []),
        (Count(right=5, late=2), []),
        (Count(), ["swap in: nobody looked anything up"]),
        (Count(right=5, wrong=1), ["swap in: 1 wrong answers"]),
        (Count(right=5, lost=2), ["swap in: 2 look-ups lost"]),
    ],
)
def test_nothing_may_be_wrong_or_lost(counted: Count, wanted: list[str]) -> None:
    assert problems([phase("swap in")], [counted]) == wanted


@pytest.mark.parametrize(
    ("lost", "reference", "wanted"),
    [
        (40, 40, []),
        (66, 40, []),
        (67, 40, [], ),
        (68, 40, ["pydns lost 68 look-ups when replicas were killed, CoreDNS 40"]),
        (0, 0, []),
        (6, 0, ["pydns lost 6 look-ups when replicas were killed, CoreDNS 0"]),
    ],
)  # fmt: skip
def test_after_kills_no_more_than_coredns_but_for_chance(lost: int, reference: int, wanted: list[str]) -> None:
    """40 + 3 × √(2 × 40) = 66.8; 0 + 3 × √2 = 4.2."""
    phases = [phase("kill", "CoreDNS", 4), phase("kill", "pydns", 4)]
    assert problems(phases, [Count(right=1, lost=reference), Count(right=1, lost=lost)]) == wanted


def test_most_lost() -> None:
    assert [most_lost(reference) for reference in (0, 1, 8, 50)] == [5, 6, 20, 80]
