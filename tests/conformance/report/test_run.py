"""When a run holds, and how it says so."""

from __future__ import annotations

import pytest

from conformance.differences import DIFFERENCES
from conformance.ending import INTERRUPTED
from conformance.plan import Plan
from conformance.report.run import Run
from conformance.results import Outcome, Verdict

GOOD = Verdict("a/b", "1", "?", {"pydns": ()})
BAD = Verdict("a/b", "2", "?", {"pydns": ("wrong",)})


def run(*verdicts: Verdict, skipped: bool = False, **fields: bool) -> Run:
    outcomes = (Outcome("a/b", verdicts=list(verdicts)), Outcome("a/c", skipped="no Go" if skipped else ""))
    return Run(Plan(), outcomes, jobs=3, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "status", "conclusion"),
    [
        (run(GOOD), 0, "holds: 1 check"),
        (run(GOOD, skipped=True), 0, "holds: 1 check"),
        (run(), 0, "nothing checked: 0 checks"),
        (run(GOOD, BAD), 1, "does not hold: 1 problem (2 checks)"),
        (run(GOOD, skipped=True, strict=True), 1, "does not hold: 1 job skipped (1 check)"),
        (run(GOOD, interrupted=True), INTERRUPTED, "interrupted: ended after 2 of 3 jobs (1 check)"),
        (run(BAD, interrupted=True), INTERRUPTED,
         "does not hold: 1 problem; ended after 2 of 3 jobs (1 check)"),
    ],
)  # fmt: skip
def test_status_and_conclusion(found: Run, status: int, conclusion: str) -> None:
    assert (found.status, found.conclusion) == (status, conclusion)


def test_a_whole_run_must_show_every_listed_difference() -> None:
    shown = [Verdict("a/b", "1", "?", {"pydns": ()}, differences=(name,)) for name in DIFFERENCES]
    assert run(*shown, whole=True).status == 0
    assert run(*shown[1:], whole=True).reasons == [f"listed and never shown: {next(iter(DIFFERENCES))}"]
    assert run(*shown[1:]).status == 0


def test_the_subject_is_the_first_of_the_servers() -> None:
    assert run(Verdict("a/b", "1", "?", {"coredns": (), "pydns": ()})).servers == ["pydns", "coredns"]
