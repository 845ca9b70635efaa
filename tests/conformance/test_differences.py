"""The named differences: their page, their cases, and what each accounts for in a pair of replies."""

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.differences import CONFIGURATION, DIFFERENCES, UNSEEN, unexplained
from conformance.report.run import waiting
from conformance.results import Outcome
from conformance.table.case import Ask, Case, Get
from conformance.table.case_file import load_cases, parse_cases
from conformance.wire.message import TIMEOUT, Reply

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


@pytest.mark.parametrize(
    ("section", "reasons"),
    [
        ("Replies, metrics and logs", {name: each.reason for name, each in DIFFERENCES.items()}),
        ("Configuration", CONFIGURATION),
        ("Behind the replies", UNSEEN),
    ],
)
def test_the_page_has_the_same_names_and_reasons(section: str, reasons: dict[str, str]) -> None:
    text = PAGE.read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {reason} |" for name, reason in reasons.items()]
    assert list(reasons) == sorted(reasons)


def test_a_name_stands_for_one_difference() -> None:
    assert not DIFFERENCES.keys() & CONFIGURATION.keys() | DIFFERENCES.keys() & UNSEEN.keys()


def test_every_difference_in_replies_is_shown_by_a_case() -> None:
    steps = [step for case in load_cases() for step in case.steps if isinstance(step, Ask | Get)]
    shown = {name for step in steps for name in step.differences}
    assert shown == set(DIFFERENCES)


def differing() -> list[tuple[Case, Ask]]:
    """The questions of all cases on which the two servers differ."""
    cases = load_cases()
    return [(case, step) for case in cases for step in case.questions if step.differing and step.expected]


@pytest.mark.parametrize(("case", "step"), differing(), ids=lambda value: getattr(value, "place", ""))
def test_the_names_of_a_case_account_for_what_differs_there(case: Case, step: Ask) -> None:
    assert step.expected is not None
    assert step.differing is not None
    assert not unexplained(step.question, step.expected, step.differing, step.differences, case.order)


@pytest.mark.parametrize("name", [name for name, each in DIFFERENCES.items() if each.explains])
def test_a_name_needs_its_difference(name: str) -> None:
    for _, step in differing():
        if name in step.differences and step.expected:
            found = unexplained(step.question, step.expected, step.expected, [name])
            assert found == [f"{name} explains no part of this"]


def pair(question: str, reference: str, reply: str) -> tuple[Ask, Reply]:
    """A question with what the reference said, and another reply to it."""
    text = "corefile\n    .:{PORT}\n"
    (first,), (second,) = (
        parse_cases(f"{text}? {question} => {words}\n", "test")[0].questions for words in (reference, reply)
    )
    assert second.expected is not None
    return first, second.expected


ONE = "answer a.test. 60 A 192.0.2.1"
TWO = "answer a.test. 60 A 192.0.2.2"
SOA = "SOA ns.test. admin.test. 1 2 3 4"


@pytest.mark.parametrize(
    ("name", "question", "reference", "reply", "left"),
    [
        # the flags are accounted for, another address is not
        ("cached-aa-cleared", "a.test. A", f"NOERROR aa rd\n    {ONE}", f"NOERROR rd\n    {TWO}", ["answer"]),
        # AA and another flag, AA on the other side
        ("cached-aa-cleared", "a.test. A", "NOERROR aa rd", "NOERROR ra", ["idle", "flags"]),
        ("cached-aa-cleared", "a.test. A", "NOERROR rd", "NOERROR aa rd", ["idle", "flags"]),
        # an option the client did not send, and one that is not mirrored
        ("client-options-not-echoed", "a.test. A +opt=3:", "NOERROR\n    opt udp=1232 3:ab",
         "NOERROR", ["idle", "opt"]),
        ("client-options-not-echoed", "a.test. A +opt=8:ab", "NOERROR\n    opt udp=1232 8:ab",
         "NOERROR", ["idle", "opt"]),
        ("client-options-not-echoed", "a.test. A +opt=3:", "NOERROR\n    opt udp=1232 3:",
         "NOERROR\n    opt udp=512", ["idle", "opt"]),
        # a higher TTL, one below the minimum, another SOA
        ("negative-ttl-minimum", "a.test. A", f"NXDOMAIN\n    authority test. 60 {SOA} 30",
         f"NXDOMAIN\n    authority test. 90 {SOA} 30", ["idle", "authority"]),
        ("negative-ttl-minimum", "a.test. A", f"NXDOMAIN\n    authority test. 60 {SOA} 30",
         f"NXDOMAIN\n    authority test. 20 {SOA} 30", ["idle", "authority"]),
        ("negative-ttl-minimum", "a.test. A", f"NXDOMAIN\n    authority test. 60 {SOA} 30",
         f"NXDOMAIN\n    authority test. 30 {SOA} 31", ["idle", "authority"]),
        # a record that is lost is no double
        ("records-once", "a.test. A", f"NOERROR\n    {ONE}\n    {TWO}", f"NOERROR\n    {ONE}", ["idle", "answer"]),
        # another owner is right only when it is the name that was asked
        ("cached-owner-reverted", "a.test. A", f"NOERROR\n    {ONE}", f"NOERROR\n    {TWO}", ["idle", "answer"]),
        # another rcode than FORMERR
        ("udp-wrong-question-ignored", "a.test. A", "SERVFAIL", f"NOERROR\n    {ONE}", ["idle", "rcode", "answer"]),
        # a short query
        ("long-udp-query-read-whole", "a.test. A", "FORMERR rd", "NOERROR rd", ["idle", "rcode"]),
        # no capitals in the name
        ("apex-ns-letter-case", "test. NS", "NOERROR", "NOERROR\n    answer test. 5 NS ns.test.", ["idle", "answer"]),
        # a name of proper length
        ("whoami-names-too-long", "a.test. A", "NOERROR\n    additional a.test. 0 SRV 0 0 1 .", "NOERROR",
         ["idle", "additional"]),
    ],
)  # fmt: skip
def test_a_name_accounts_for_nothing_else(
    name: str, question: str, reference: str, reply: str, left: list[str]
) -> None:
    step, got = pair(question, reference, reply)
    assert step.expected is not None
    found = unexplained(step.question, step.expected, got, [name])
    parts = [line.removeprefix("unexplained: ").partition(":")[0] for line in found]
    assert parts == [f"{name} explains no part of this" if part == "idle" else part for part in left]


def test_two_names_each_account_for_a_part() -> None:
    step, got = pair("a.test. A", f"NOERROR aa rd\n    {ONE}\n    {ONE}", f"NOERROR rd\n    {ONE}")
    assert step.expected is not None
    assert not unexplained(step.question, step.expected, got, ["cached-aa-cleared", "records-once"])


def test_what_shows_in_logs_accounts_for_no_part_of_a_reply() -> None:
    step, got = pair("a.test. A", "NOERROR", "NXDOMAIN")
    assert step.expected is not None
    assert len(unexplained(step.question, step.expected, got, ["log-local-address"])) == 1
    assert not unexplained(step.question, got, got, ["log-local-address"])


def test_ttls_may_be_apart_by_the_slack_of_the_question() -> None:
    step, got = pair("a.test. A +slack=1", f"NOERROR\n    {ONE}", f"NOERROR\n    {ONE.replace('60', '59')}")
    assert step.expected is not None
    assert not unexplained(step.question, step.expected, got, [])
    assert unexplained(replace(step.question, slack=0), step.expected, got, [])
    assert unexplained(step.question, step.expected, TIMEOUT, [])


def test_a_difference_waits_with_the_cases_that_show_it() -> None:
    (case,) = (case for case in load_cases() if case.name == "cache/rewrite:spelling")
    assert waiting([Outcome(case.name, case=case, waits="pydns does not serve rewrite")]) == {
        "cached-aa-cleared",
        "cached-owner-reverted",
    }
    assert not waiting([Outcome(case.name, case=case)])
