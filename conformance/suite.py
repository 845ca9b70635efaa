"""The suite as one list of jobs, run some at a time. Prints nothing."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Collection, Coroutine, Sequence
from difflib import get_close_matches
from typing import Protocol

from conformance import spec_jobs
from conformance.clients import jobs as clients
from conformance.plan import Plan
from conformance.results import Outcome
from conformance.setting import Absent, Job, Setting, Skipped, Waits
from conformance.spec.requirements import REQUIREMENTS
from conformance.table import generated, runner
from conformance.table.case import Case
from conformance.wire.blocks import CaseError


def load_jobs(plan: Plan, filters: Sequence[str] = ()) -> list[Job]:
    """The jobs of a run whose name holds one of the filters, and none of those with a `^` in front.

    Of a server that runs already those of `clients/` must be asked for.
    Raises `CaseError`, also for a requirement number that there is not and for a filter no name holds.
    """
    cases = runner.jobs(plan)
    for job in cases:
        _check_numbers(job.case)
    jobs: list[Job] = [*cases, *generated.jobs(plan), *spec_jobs.jobs(plan), *clients.jobs(plan)]
    for text in filters:
        _check_filter(text.removeprefix("^"), [job.name for job in jobs], plan)
    without = [text[1:] for text in filters if text.startswith("^")]
    wanted = [text for text in filters if not text.startswith("^")]
    if plan.outside and not wanted:  # a server that runs already must be set up for real resolvers
        jobs = [job for job in jobs if not isinstance(job, clients.ClientJob)]
    jobs = [job for job in jobs if not any(text in job.name for text in without)]
    return [job for job in jobs if not wanted or any(text in job.name for text in wanted)]


def _check_numbers(case: Case) -> None:
    """A number that stands for nothing would be counted nowhere."""
    for place, tags in case.tagged:
        for tag in tags:
            if tag not in REQUIREMENTS:
                raise CaseError(f"{place}: there is no requirement {tag}{_near(tag, REQUIREMENTS)}")


def _check_filter(text: str, names: Sequence[str], plan: Plan) -> None:
    if any(text in name for name in names):
        return
    if plan.outside and any(text in job.name for job in runner.jobs(Plan())):
        raise CaseError(
            f"{text!r} names cases, which need a server that the suite starts with their Corefile; a server that runs"
            f" already is judged by {' and '.join(sorted({name.partition('/')[0] + '/' for name in names}))}"
        )
    raise CaseError(f"no job's name holds {text!r}{_near(text, {name.partition(':')[0] for name in names})}")


def _near(word: str, words: Collection[str]) -> str:
    near = get_close_matches(word, words)
    return f" (near it: {', '.join(near)})" if near else ""


async def run_job(job: Job, setting: Setting) -> Outcome:
    """One job to its end, or to the end of its time."""
    outcome = Outcome(job.name, job.about, job.tags)
    started = time.monotonic()
    try:
        await _within(job.limit, job.run(setting, outcome))
        if not outcome.verdicts and not outcome.waits:
            outcome.fail(setting.plan.subject, "the job itself", "nothing was looked at, and no reason is given")
    except Skipped as reason:
        outcome.skipped = str(reason)
    except Waits as reason:
        outcome.waits = str(reason)
    except Absent as reason:
        outcome.absent = str(reason)
    except _LimitError:
        outcome.fail(setting.plan.subject, "time", f"not done after {job.limit:.0f} s")
    except Exception:  # noqa: BLE001  a job with a fault of its own must not end the others
        outcome.fail(setting.plan.subject, "the job itself", traceback.format_exc())
    outcome.seconds = time.monotonic() - started
    return outcome


class _LimitError(Exception):
    """A job's time is up; a `TimeoutError` of its own is another matter."""


async def _within(seconds: float, running: Coroutine[None, None, None]) -> None:
    try:
        async with asyncio.timeout(seconds) as limit:
            await running
    except TimeoutError:
        if limit.expired():
            raise _LimitError from None
        raise


class Watcher(Protocol):
    """Who follows a run."""

    def began(self, name: str) -> None:
        """A job starts."""

    def done(self, outcome: Outcome) -> None:
        """A job has come to its end."""


async def run_jobs(jobs: Sequence[Job], setting: Setting, at_once: int, watcher: Watcher) -> list[Outcome]:
    """Runs the jobs, `at_once` at a time, and tells the watcher; gives the outcomes in the jobs' order."""
    slots = asyncio.Semaphore(at_once)

    async def run(job: Job) -> Outcome:
        async with slots:
            watcher.began(job.name)
            outcome = await run_job(job, setting)
        watcher.done(outcome)
        return outcome

    return list(await asyncio.gather(*(run(job) for job in jobs)))
