"""Which jobs a run has, and that each comes to an end."""

from __future__ import annotations

import asyncio

import pytest

from conformance.plan import Plan
from conformance.results import Outcome
from conformance.setting import Setting, Skipped, Waits
from conformance.suite import load_jobs, run_job
from conformance.table import runner
from conformance.table.case_file import parse_cases
from conformance.wire.blocks import CaseError


def test_filters_are_parts_of_names() -> None:
    jobs = load_jobs(Plan(), ["kubernetes/ttl"])
    assert {job.name.partition(":")[0] for job in jobs} == {"kubernetes/ttl"}


def test_filters_choose_by_any_part_of_a_name() -> None:
    names = [job.name for job in load_jobs(Plan(), ["kubernetes/ttl", "loop:none"])]
    assert names == ["kubernetes/ttl:zero", "kubernetes/ttl:thirty", "kubernetes/ttl:hour", "loop/loop:none"]


def test_a_filter_leaves_jobs_out() -> None:
    names = {job.name for job in load_jobs(Plan(), ["^kubernetes/ttl"])}
    assert {"kubernetes/ptr", "loop/loop:none"} <= names
    assert "kubernetes/ttl:zero" not in names
    assert [job.name for job in load_jobs(Plan(), ["kubernetes/ttl", "^zero", "^hour"])] == ["kubernetes/ttl:thirty"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kubernetes/ptx", r"^no job's name holds 'kubernetes/ptx' \(near it: kubernetes/ptr, "),
        ("zzz", r"^no job's name holds 'zzz'$"),
    ],
)
def test_a_filter_without_a_case_is_an_error(text: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        load_jobs(Plan(), ["loop", text])


@pytest.mark.parametrize("text", ["kubernetes/ptr", "loop:none"])
def test_a_case_asked_of_a_server_that_runs_already_is_told_what_it_needs(text: str) -> None:
    with pytest.raises(
        CaseError, match=f"^'{text}' names cases, which need a server that the suite starts .*clients/ and spec/$"
    ):
        load_jobs(Plan("127.0.0.1:53", "expected"), [text])


@pytest.mark.parametrize(
    "step", ["? a.test. A [R3 R99] => NODATA", "never denied a.test. A [R99]", "get 1 /metrics => 200 [R99]"]
)
def test_a_requirement_number_that_there_is_not_is_told(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    (case,) = parse_cases(f"corefile\n    .\n{step}\n", "a/x")
    monkeypatch.setattr(runner, "load_cases", lambda: [case])
    with pytest.raises(CaseError, match=r"^a/x\.case:3: there is no requirement R99 \(near it: R9"):
        load_jobs(Plan())


class Scripted:
    """A job that raises, or never ends."""

    name = "test/scripted"
    about = "does what it is told"
    tags = ("R1",)
    limit = 0.01

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    async def run(self, setting: Setting, outcome: Outcome) -> None:
        if self._error:
            raise self._error
        await asyncio.Event().wait()


async def outcome_of(error: Exception | None) -> Outcome:
    async with Setting(Plan(), real_api=False) as setting:
        return await run_job(Scripted(error), setting)


async def test_what_a_machine_lacks_is_told() -> None:
    assert (await outcome_of(Skipped("no musl"))).skipped == "no musl"


async def test_a_plugin_that_is_not_there_yet_is_told() -> None:
    assert (await outcome_of(Waits("no rewrite"))).waits == "no rewrite"


async def test_a_job_that_hangs_is_a_fault() -> None:
    (verdict,) = (await outcome_of(None)).problems
    assert verdict.problems == ["pydns: not done after 0 s"]


async def test_a_job_that_looks_at_nothing_and_does_not_say_why_is_a_fault() -> None:
    class Idle(Scripted):
        async def run(self, setting: Setting, outcome: Outcome) -> None:
            pass

    async with Setting(Plan(), real_api=False) as setting:
        (verdict,) = (await run_job(Idle(None), setting)).problems
    assert verdict.problems == ["pydns: nothing was looked at, and no reason is given"]


async def test_a_time_out_within_a_job_is_not_the_end_of_its_time() -> None:
    (verdict,) = (await outcome_of(TimeoutError("the sandbox says nothing"))).problems
    assert verdict.problems[0].endswith("TimeoutError: the sandbox says nothing\n")


async def test_a_job_with_a_fault_of_its_own_does_not_end_the_others() -> None:
    (verdict,) = (await outcome_of(KeyError("nosuch"))).problems
    assert verdict.problems[0].endswith("KeyError: 'nosuch'\n")


async def test_what_a_job_covers_is_known_though_it_was_skipped() -> None:
    assert (await outcome_of(Skipped("no musl"))).tags == ("R1",)
