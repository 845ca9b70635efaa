"""A server that is broken in one way fails the suite, and the suite says how."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from conformance.plan import Plan
from conformance.results import Outcome, Verdict
from conformance.servers import subjects
from conformance.setting import Setting
from conformance.suite import run_job
from conformance.table.case_file import parse_cases
from conformance.table.runner import CaseJob

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

? Web.Test. A +timeout=1 => NOERROR
    answer web.test. 30 A 10.1.1.1
    answer web.test. 30 A 10.1.1.2
? web.test. AAAA +timeout=1 => NOERROR
? nosuch.test. A +timeout=1 => SERVFAIL rd
? web.test. A +timeout=1 => NOERROR
    answer web.test. 30 A 10.1.1.1
    answer web.test. 30 A 10.1.1.2
""",
    "broken",
)


Judge = Callable[[str], Awaitable[Outcome]]
"""Runs the case on a server that is broken in one way."""


@pytest.fixture
def server(tmp_path: Path) -> str:
    """A program like any other."""
    program = tmp_path / "server"
    program.write_text(f"#!{sys.executable}\nfrom tests.conformance.broken_server import main\nmain()\n")
    program.chmod(0o700)
    return str(program)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, server: str) -> Judge:
    async def outcome(way: str) -> Outcome:
        monkeypatch.setenv("BREAK", way)
        async with Setting(Plan(server, "expected"), real_api=False) as setting:
            return await run_job(CaseJob(CASE), setting)

    return outcome


def faults(verdict: Verdict) -> list[str]:
    (found,) = verdict.faults.values()
    return list(found)


RECORDS = "web.test. 30 IN A 10.1.1.1 | web.test. 30 IN A 10.1.1.2"


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("wrong_rcode", "rcode: wanted NOERROR, got REFUSED"),
        ("dropped_record", f"answer: wanted {RECORDS}, got web.test. 30 IN A 10.1.1."),
        ("wrong_ttl", f"answer: wanted {RECORDS}, got {RECORDS.replace('30', '31')}"),
        ("lower_cased_question", "question: wanted Web.Test. IN A, got web.test. IN A"),
        ("garbage", "rcode: wanted NOERROR, got MALFORMED"),
    ],
)
async def test_each_kind_of_wrong_answer(judge: Judge, way: str, fault: str) -> None:
    first = (await judge(way)).verdicts[0]
    assert any(text.startswith(fault) for text in faults(first)), faults(first)


async def test_a_server_that_dies_ends_its_case_with_its_last_words(judge: Judge) -> None:
    asked, lost = (await judge("dies")).verdicts
    assert faults(asked)[0] == "rcode: wanted NOERROR, got TIMEOUT"
    assert faults(lost)[0].startswith("ended with status 3\n")
    assert "\nbroken_server: out of cheese" in faults(lost)[0]


async def test_a_server_that_hangs_ends_its_case(judge: Judge) -> None:
    verdicts = (await judge("silence")).verdicts
    assert faults(verdicts[-1])[0].startswith("no reply to 3 questions in turn\n")
    assert len(verdicts) == 4


async def test_a_server_that_never_starts_is_a_fault(monkeypatch: pytest.MonkeyPatch, judge: Judge) -> None:
    monkeypatch.setattr(subjects, "START_TIMEOUT", 0.5)
    (verdict,) = (await judge("never_starts")).verdicts
    assert faults(verdict)[0].startswith("no reply on port ")


async def test_the_same_server_in_one_piece_passes(judge: Judge) -> None:
    assert not (await judge("nothing")).problems


async def test_a_question_to_which_any_reply_will_do_must_have_one(
    monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    text = "corefile\n    test:{PORT} {\n        whoami\n    }\n? a.test. A +timeout=0.2\n"
    (case,) = parse_cases(text, "broken")
    monkeypatch.setenv("BREAK", "silence")
    async with Setting(Plan(server, "expected"), real_api=False) as setting:
        (verdict,) = (await run_job(CaseJob(case), setting)).verdicts
    assert faults(verdict) == ["any reply would do, got TIMEOUT"]
