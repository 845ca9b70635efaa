"""The table of requirements: what is counted where, and which state it makes."""

from __future__ import annotations

import pytest

from conformance.report.requirements import Cell, State, in_words, looked_at, numbers, states, table
from conformance.results import Outcome, Verdict
from tests.conformance.report import sample


@pytest.mark.parametrize(
    ("cell", "state"),
    [
        (Cell(passed=2, departed=1, failed=1, waits=1, skipped=1), State.FAILS),
        (Cell(passed=2, departed=1, waits=1, skipped=1), State.DEPARTS),
        (Cell(passed=2, waits=1, skipped=1), State.PASSES),
        (Cell(waits=1, skipped=1), State.WAITS),
        (Cell(skipped=1), State.SKIPPED),
        (Cell(), State.NONE),
    ],
)
def test_the_worst_of_what_was_seen_is_the_state(cell: Cell, state: State) -> None:
    assert cell.state is state


def test_numbers_are_in_the_order_people_count() -> None:
    assert numbers(["C1", "K9b", "R11", "K9", "X1", "R2", "search", "R2"]) == ["R2", "R11", "X1", "K9", "K9b", "C1"]


@pytest.mark.parametrize(
    ("number", "pydns", "coredns"),
    [
        ("R1", State.PASSES, State.PASSES),
        ("R2", State.FAILS, State.PASSES),
        ("R7", State.PASSES, State.DEPARTS),
        ("R13", State.PASSES, State.PASSES),
        ("C3", State.WAITS, State.PASSES),
        ("K5", State.NONE, State.NONE),
        ("K9", State.PASSES, State.PASSES),
        ("K11", State.SKIPPED, State.SKIPPED),
        ("K36", State.NONE, State.NONE),
    ],
)
def test_states_in_the_sample(number: str, pydns: State, coredns: State) -> None:
    rows = {row.number: row for row in table(sample.outcomes(), ["pydns", "coredns"], sample.TEXTS)}
    assert (rows[number].cells["pydns"].state, rows[number].cells["coredns"].state) == (pydns, coredns)


def test_checks_are_counted_over_all_jobs() -> None:
    rows = {row.number: row for row in table(sample.outcomes(), ["pydns"], {})}
    assert rows["K10"].cells["pydns"].passed == 6
    assert rows["K10"].jobs == ["clients/glibc", "clients/go"]


def test_a_check_that_fails_does_not_also_depart() -> None:
    verdict = Verdict("a/b", "1", "?", {"pydns": ("wrong",)}, ("R7",), departures={"pydns": ("srv",)})
    (row,) = table([Outcome("a/b", verdicts=[verdict])], ["pydns"], {})
    assert row.cells["pydns"] == Cell(failed=1)


def test_a_job_that_broke_off_has_failed_what_it_did_not_come_to() -> None:
    outcome = Outcome("a/b", tags=("R1",))
    outcome.fail("pydns", "start", "ended with status 1")
    (row,) = table([outcome], ["pydns", "coredns"], {})
    assert (row.cells["pydns"].state, row.cells["coredns"].state) == (State.FAILS, State.NONE)


def test_a_problem_elsewhere_in_a_job_fails_no_other_requirement() -> None:
    wrong = Verdict("a/b", "1", "?", {"pydns": ("wrong",)}, ("R2",))
    rows = table([Outcome("a/b", tags=("R1", "R2"), verdicts=[wrong])], ["pydns"], {})
    assert [row.cells["pydns"].state for row in rows] == [State.NONE, State.FAILS]


def test_states_are_counted_by_server() -> None:
    rows = table(sample.outcomes(), ["pydns"], sample.TEXTS)
    assert states(rows, "pydns") == {
        State.FAILS: 1,
        State.PASSES: 6,
        State.WAITS: 1,
        State.SKIPPED: 1,
        State.NONE: 2,
    }


@pytest.mark.parametrize(
    ("found", "count", "words"),
    [
        ({State.FAILS: 1, State.DEPARTS: 5, State.PASSES: 33}, 39, "1 fail, 5 depart as CoreDNS, 33 pass"),
        ({State.PASSES: 33, State.WAITS: 2, State.SKIPPED: 9, State.NONE: 62}, 33,
         "33 pass; 2 wait, 9 skipped, 62 not covered"),
        ({State.NONE: 109}, 0, "109 not covered"),
    ],
)  # fmt: skip
def test_what_was_not_looked_at_is_told_apart(found: dict[State, int], count: int, words: str) -> None:
    assert (looked_at(found), in_words(found)) == (count, words)
