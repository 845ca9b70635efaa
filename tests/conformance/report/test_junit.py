"""The JUnit file: its counts, and what CI systems show of it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.report import junit
from conformance.results import Outcome, Verdict
from tests.conformance.report import sample

ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped", "timestamp"},
    "testcase": {"name", "classname", "time"},
    "failure": {"type", "message"},
    "skipped": {"message"},
}
"""Of what Jenkins' schema (junit-10.xsd) allows, what is written."""


def test_only_elements_and_attributes_that_readers_know() -> None:
    for element in junit.suites(sample.run()).iter():
        assert set(element.attrib) <= ALLOWED[element.tag]


@pytest.mark.parametrize(
    ("suite", "tests", "failures", "skipped"),
    [
        ("kubernetes", "3", "0", "0"),
        ("spec", "4", "1", "0"),
        ("ci", "2", "0", "1"),
        ("clients", "7", "0", "1"),
    ],
)
def test_a_suite_for_each_area(suite: str, tests: str, failures: str, skipped: str) -> None:
    (found,) = [each for each in junit.suites(sample.run()) if each.get("name") == suite]
    assert (found.get("tests"), found.get("failures"), found.get("skipped")) == (tests, failures, skipped)


def test_all_together_are_counted() -> None:
    root = junit.suites(sample.run())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("19", "1", "0")


def test_a_problem_has_its_first_line_as_message_and_all_in_its_text() -> None:
    (failure,) = junit.suites(sample.run()).iter("failure")
    assert failure.get("message") == "pydns: answer: web.shop. 5 A 10.96.1.1, not <nothing> & more"
    assert (failure.text or "").endswith("\nand a second line")


def test_reasons_of_what_was_not_looked_at() -> None:
    reasons = [each.get("message") for each in junit.suites(sample.run()).iter("skipped")]
    assert reasons == ["waits: pydns does not serve autopath", "musl-gcc is not installed (musl-tools)"]


def test_a_run_that_does_not_hold_has_a_failure_for_it() -> None:
    (own,) = [each for each in junit.suites(sample.run(interrupted=True)) if each.get("name") == "the run"]
    assert [failure.get("message") for failure in own.iter("failure")] == ["ended after 7 of 7 jobs"]


def test_octets_that_xml_cannot_hold_do_not_break_the_file(tmp_path: Path) -> None:
    verdict = Verdict("a/b", "1", "\x00?", {"pydns": ("got \x1b\ufffe\ud800",)})
    junit.write(sample.run(outcomes=(Outcome("a/b", verdicts=[verdict]),)), tmp_path / "report.xml")
    (failure,) = ElementTree.parse(tmp_path / "report.xml").iter("failure")
    assert failure.text == "pydns: got \ufffd\ufffd\ufffd"
