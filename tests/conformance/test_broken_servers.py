"""A server that is broken in one way fails the suite, and the suite says how."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import subjects
from conformance.case import parse_cases
from conformance.plan import Plan
from conformance.results import Outcome
from conformance.runner import CaseJob
from conformance.setting import Setting
from conformance.suite import run_job

BROKEN = str(Path(__file__).with_name("broken_server.py"))

(CASE,) = parse_cases(
    """
corefile
    test:{PORT} {
        hosts {
            10.1.1.1 web.test
            10.1.1.2 web.test
            ttl 30
        }
    }

? Web.Test. A => NOERROR
    answer Web.Test. 30 A 10.1.1.1
    answer Web.Test. 30 A 10.1.1.2
? web.test. AAAA => NOERROR
? nosuch.test. A => REFUSED none
? web.test. A => NOERROR
    answer web.test. 30 A 10.1.1.1
    answer web.test. 30 A 10.1.1.2
""",
    "broken",
)


async def outcome(monkeypatch: pytest.MonkeyPatch, way: str) -> Outcome:
    monkeypatch.setenv("BREAK", way)
    async with Setting(Plan(BROKEN, "expected"), real_api=False) as setting:
        return await run_job(CaseJob(CASE), setting)


RECORDS = "Web.Test. 30 IN A 10.1.1.1 | Web.Test. 30 IN A 10.1.1.2"


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("wrong_rcode", "rcode: wanted NOERROR, got REFUSED"),
        ("dropped_record", f"answer: wanted {RECORDS}, got Web.Test. 30 IN A 10.1.1."),
        ("wrong_ttl", f"answer: wanted {RECORDS}, got {RECORDS.replace('30', '31')}"),
        ("lower_cased_question", "question: wanted Web.Test. IN A, got web.test. IN A"),
        ("garbage", "rcode: wanted NOERROR, got MALFORMED"),
    ],
)
async def test_each_kind_of_wrong_answer(monkeypatch: pytest.MonkeyPatch, way: str, fault: str) -> None:
    first = (await outcome(monkeypatch, way)).verdicts[0]
    assert [problem for problem in first.problems if problem.startswith(f"{BROKEN}: {fault}")]


async def test_a_server_that_dies_ends_its_case_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, lost = (await outcome(monkeypatch, "dies")).verdicts
    assert asked.faults[BROKEN][0] == "rcode: wanted NOERROR, got TIMEOUT"
    assert lost.faults[BROKEN][0].startswith("ended with status 3\n")
    assert lost.faults[BROKEN][0].endswith("broken_server: out of cheese")


async def test_a_server_that_hangs_ends_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = (await outcome(monkeypatch, "silence")).verdicts
    assert verdicts[-1].faults[BROKEN][0].startswith("no reply to 3 questions in turn\n")
    assert len(verdicts) == 4


async def test_a_server_that_never_starts_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "START_TIMEOUT", 0.5)
    (verdict,) = (await outcome(monkeypatch, "never_starts")).verdicts
    assert verdict.faults[BROKEN][0].startswith("no reply on port ")


async def test_the_same_server_in_one_piece_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not (await outcome(monkeypatch, "nothing")).problems
