"""What is printed while a run goes on, and at its end."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from conformance.report.summary import NAMED, summary
from conformance.report.terminal import FULL, Bar, line
from conformance.results import Outcome, Verdict
from tests.conformance.report import sample


def broken(problems: int) -> Outcome:
    found = [Verdict("a/b", f"b.case:{number}", "web A", {"pydns": ("rcode: NXDOMAIN",)}) for number in range(problems)]
    return Outcome("a/b", verdicts=found)


def printed(*outcomes: Outcome, terminal: bool = False) -> list[str]:
    output = io.StringIO()
    console = Console(file=output, force_terminal=terminal, color_system=None, soft_wrap=True, width=200)
    with Bar(len(outcomes), console) as bar:
        for outcome in outcomes:
            bar.began(outcome.name)
            bar.done(outcome)
    assert bar.outcomes == list(outcomes)
    return output.getvalue().splitlines()


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome("a/b", verdicts=[Verdict("a/b", "1", "?", {"pydns": ()})]), "a/b: 1 checks, ok"),
        (Outcome("a/b", api="real"), "a/b: 0 checks on a real API, ok"),
        (Outcome("a/b", waits="pydns does not serve file"), "a/b: 0 checks, ok (pydns does not serve file)"),
        (Outcome("a/b", skipped="no Go"), "a/b: skipped: no Go"),
        (broken(2), "a/b: 2 checks, 2 PROBLEMS"),
    ],
)
def test_a_job_in_one_line(outcome: Outcome, text: str) -> None:
    assert line(outcome) == text


def test_without_a_terminal_each_job_has_a_line_and_each_problem_its_lines() -> None:
    assert printed(Outcome("a/a"), broken(1)) == [
        "a/a: 0 checks, ok",
        "a/b: 1 checks, 1 PROBLEMS",
        "  b.case:0: web A",
        "      pydns: rcode: NXDOMAIN",
    ]


def test_in_a_terminal_only_what_must_be_looked_at_has_a_line() -> None:
    text = "\n".join(printed(Outcome("a/a"), broken(1), Outcome("a/c", skipped="no Go"), terminal=True))
    assert "a/a: 0 checks" not in text
    assert "a/b: 1 checks, 1 PROBLEMS" in text
    assert "a/c: skipped: no Go" in text


def test_many_problems_are_named_after_the_first() -> None:
    lines = printed(broken(FULL + 2))
    assert lines.count("      pydns: rcode: NXDOMAIN") == FULL
    assert lines[-1] == f"  b.case:{FULL + 1}: web A"


def test_the_summary_of_the_sample() -> None:
    assert [text for text, _ in summary(sample.run())] == [
        "checks: change 3, ci 1, clients 6, kubernetes 3, spec 4",
        "requirements, pydns: 9 looked at: 1 fail, 6 pass, 1 wait, 1 skipped",
        "requirements, coredns: 9 looked at: 1 depart as CoreDNS, 7 pass, 1 skipped",
        "differences: client-options-not-echoed 1",
        "departures, coredns: srv-for-unnamed-ports 1",
        "changes, pydns: 3 answers right after 26 ms (median), 34 ms (90 %), 34 ms (longest)",
        "changes, coredns: 3 answers right after 48 ms (median), 62 ms (90 %), 62 ms (longest)",
        "waits: ci/autopath: pydns does not serve autopath",
        "skipped: clients/musl: musl-gcc is not installed (musl-tools)",
        "problem: spec/general: R2: WEB.shop A",
        "does not hold: 1 problem (17 checks), 83 s",
    ]


def test_jobs_skipped_for_one_reason_share_a_line() -> None:
    found = sample.run(outcomes=tuple(Outcome(f"a/{name}", skipped="no Go") for name in "bcd"))
    assert ("skipped: a/b, a/c, a/d: no Go", "yellow") in list(summary(found))


def test_a_summary_names_a_bounded_number_of_problems() -> None:
    lines = [text for text, _ in summary(sample.run(outcomes=(broken(NAMED + 3),)))]
    assert sum(text.startswith("problem: ") for text in lines) == NAMED
    assert "… and 3 more" in lines
