"""What is printed while a run goes on, and at its end."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from conformance.report.summary import JOBS, summary
from conformance.report.terminal import FULL, GROUPS, Bar, line, rest
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
        (Outcome("a/b", verdicts=[Verdict("a/b", "1", "?", {"pydns": ()})]), "a/b: 1 check, ok"),
        (Outcome("a/b", api="real"), "a/b: 0 checks on a real API, ok"),
        (Outcome("a/b", waits="pydns does not serve file"), "a/b: 0 checks, ok (pydns does not serve file)"),
        (Outcome("a/b", skipped="no Go"), "a/b: skipped: no Go"),
        (Outcome("a/b", absent="no Services"), "a/b: not covered: no Services"),
        (broken(2), "a/b: 2 checks, 2 PROBLEMS"),
    ],
)
def test_a_job_in_one_line(outcome: Outcome, text: str) -> None:
    assert line(outcome) == text


def test_without_a_terminal_each_job_has_a_line_and_each_problem_its_lines() -> None:
    assert printed(Outcome("a/a"), broken(1)) == [
        "a/a: 0 checks, ok",
        "a/b: 1 check, 1 PROBLEM",
        "  b.case:0: web A",
        "      pydns: rcode: NXDOMAIN",
    ]


def test_in_a_terminal_only_what_must_be_looked_at_has_a_line() -> None:
    text = "\n".join(printed(Outcome("a/a"), broken(1), Outcome("a/c", skipped="no Go"), terminal=True))
    assert "a/a: 0 checks" not in text
    assert "a/b: 1 check, 1 PROBLEM" in text
    assert "a/c" not in text, "the summary has it"


def test_a_reason_for_skipping_is_told_once() -> None:
    jobs = [Outcome(f"a/{name}", skipped=reason) for name, reason in (("b", "no Go"), ("c", "no Go"), ("d", "no C"))]
    assert printed(*jobs) == ["a/b: skipped: no Go", "a/c: skipped", "a/d: skipped: no C"]


def test_many_problems_are_gathered_after_the_first() -> None:
    lines = printed(broken(FULL + 2), broken(1))
    assert lines.count("      pydns: rcode: NXDOMAIN") == FULL
    assert lines[-2:] == [
        "3 more problems, by their first faults (--html FILE shows each whole):",
        f"  3 more: pydns: rcode: NXDOMAIN (first b.case:{FULL}: web A)",
    ]


def test_nothing_is_gathered_where_all_were_shown() -> None:
    assert printed(broken(FULL))[-1] == "      pydns: rcode: NXDOMAIN"


def test_the_most_frequent_fault_is_the_first_and_the_list_has_an_end() -> None:
    faults = ["a", "b", "b", *(f"other {number}" for number in range(GROUPS))]
    found = list(rest([Verdict("a/b", "1", "?", {"pydns": (fault,)}) for fault in faults]))
    assert found[1:3] == ["  2 more: pydns: b (first 1: ?)", "  1: ?: pydns: a"]
    assert found[-1] == "  … and 2 others"


def test_the_summary_of_the_sample() -> None:
    assert [text for text, _ in summary(sample.run(), sample.TEXTS)] == [
        "checks: change 3, ci 1, clients 6, kubernetes 3, spec 4",
        "requirements, pydns: 7 of 11 looked at: 1 fail, 6 pass; 1 wait, 1 skipped, 2 not covered",
        "requirements, coredns: 8 of 11 looked at: 1 depart as CoreDNS, 7 pass; 1 skipped, 2 not covered",
        "differences: client-options-not-echoed 1",
        "departures, coredns: srv-for-unnamed-ports 1",
        "changes, pydns: 3 answers right after 26 ms (median), 34 ms (90 %), 34 ms (longest)",
        "changes, coredns: 3 answers right after 48 ms (median), 62 ms (90 %), 62 ms (longest)",
        "waits: ci/autopath: pydns does not serve autopath",
        "skipped: clients/musl: musl-gcc is not installed (musl-tools)",
        "problems: spec/general 1",
        "does not hold: 1 problem (17 checks), 83 s",
    ]


def test_jobs_skipped_for_one_reason_share_a_line() -> None:
    found = sample.run(outcomes=tuple(Outcome(f"a/{name}", skipped="no Go") for name in "bcd"))
    assert ("skipped: a/b, a/c, a/d: no Go", "yellow") in list(summary(found))


def test_what_a_cluster_has_none_of_is_told_and_fails_no_strict_run() -> None:
    outcomes = (
        Outcome("a/b", absent="no Services"),
        Outcome("a/c", verdicts=[Verdict("a/c", "1", "?", {"pydns": ()})]),
    )
    found = sample.run(outcomes=outcomes, strict=True)
    assert ("not covered: a/b: no Services", "yellow") in list(summary(found))
    assert found.status == 0


def test_of_many_jobs_skipped_for_one_reason_some_are_named() -> None:
    found = sample.run(outcomes=tuple(Outcome(f"a/{name}", skipped="no Go") for name in "bcdefg"))
    assert ("skipped: a/b, a/c, a/d, a/e and 2 more: no Go", "yellow") in list(summary(found))


def test_where_many_jobs_have_problems_areas_are_named() -> None:
    wrong = [Verdict(f"a/{number}", "1", "?", {"pydns": ("wrong",)}) for number in range(JOBS + 1)]
    found = sample.run(outcomes=(Outcome("a/all", verdicts=wrong),))
    assert (f"problems: a {JOBS + 1}", "red") in list(summary(found))


def test_requirements_that_no_job_has_to_do_with_have_no_line() -> None:
    texts = [text for text, _ in summary(sample.run(outcomes=(broken(1),)))]
    assert not [text for text in texts if text.startswith("requirements")]
