"""Command line of the conformance suite: `python -m conformance --help`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from conformance.ending import INTERRUPTED, cancel_by_signals
from conformance.live import options as live
from conformance.options import API, arguments, check, make_plan, real_api_wanted
from conformance.plan import Plan
from conformance.report import files, listing
from conformance.report.run import Run, counted
from conformance.report.terminal import Bar, show
from conformance.results import Outcome
from conformance.servers import scratch, subjects
from conformance.setting import Job, Setting
from conformance.spec.ground import GroundError
from conformance.spec_jobs import opened
from conformance.suite import load_jobs, run_jobs
from conformance.table import recorded
from conformance.together import together
from conformance.tools.build import binary
from conformance.wire.blocks import CaseError

WRONG_USE = 2


async def run_all(jobs: Sequence[Job], plan: Plan, options: argparse.Namespace) -> Run:
    """Runs the jobs with a progress bar. Ctrl-C and SIGTERM end them, stop what was started, and lose nothing.

    Raises `subjects.StartError` for a program that does not start at all.
    """
    versions = await _versions(plan)
    begun, clock = datetime.now(UTC), time.monotonic()
    with Bar(len(jobs)) as bar:
        task = asyncio.create_task(_run_jobs(jobs, plan, options, bar))
        cancel_by_signals(task)
        await asyncio.wait({task})
    interrupted = task.cancelling() > 0
    outcomes = bar.outcomes if interrupted else task.result()
    return Run(
        plan=plan,
        outcomes=tuple(outcomes),
        jobs=len(jobs),
        seconds=time.monotonic() - clock,
        started=begun.isoformat(timespec="seconds").replace("+00:00", "Z"),
        filters=tuple(options.filters),
        whole=not options.filters and plan.subject == "pydns",
        strict=options.strict,
        interrupted=interrupted,
        versions=versions,
    )


async def _run_jobs(jobs: Sequence[Job], plan: Plan, options: argparse.Namespace, bar: Bar) -> list[Outcome]:
    real_api = not plan.outside and real_api_wanted(options.api)
    if options.api == "auto" and not plan.outside and not real_api:
        print("conformance: all cases have a fake API: etcd, kube-apiserver or openssl is not there", file=sys.stderr)
    async with Setting(plan, real_api) as setting, opened(jobs, setting):
        return await run_jobs(jobs, setting, options.jobs, bar)


async def _versions(plan: Plan) -> dict[str, str]:
    await together(*map(subjects.check, plan.started))
    return {server: await subjects.version(server) for server in plan.started}


def _record(outcomes: Sequence[Outcome], whole_table: bool) -> None:
    """Keeps the replies of every case that ran to its end."""
    cases = [outcome.case for outcome in outcomes if outcome.case]
    for outcome in outcomes:
        if outcome.case and outcome.replies and len(outcome.replies) == len(outcome.case.questions):
            recorded.save(outcome.case, outcome.replies)
    if whole_table:
        recorded.prune(cases)


def judge(jobs: Sequence[Job], plan: Plan, options: argparse.Namespace) -> int:
    """Runs the jobs, tells what was found and returns the exit status."""
    print(f"conformance: {plan.subject} against {plan.reference}, {counted(len(jobs), 'job')}", flush=True)
    with scratch.run_folder():
        run = asyncio.run(run_all(jobs, plan, options))
    if options.record:
        _record(run.outcomes, whole_table=not options.filters and not run.interrupted)
    show(run)
    status = run.status
    for path, fault in files.write(run, options):
        print(f"report: {path}: not written: {fault}" if fault else f"report: {path}", flush=True)
        status = status or int(bool(fault))
    return status


def main() -> int:
    """Does what the command line says and returns the exit status."""
    options = arguments().parse_args()
    try:
        check(options)
        if options.record:
            options.subject = "coredns"
        plan = live.complete(make_plan(options), options)
        jobs = load_jobs(plan, options.filters)
        if options.list or options.requirements:
            listing.show(jobs, options.list, options.requirements)
            return 0
        for name in [*(("coredns",) if "coredns" in plan.started else ()), *(API if options.api == "real" else ())]:
            binary(name)
        return judge(jobs, plan, options)
    except (CaseError, FileNotFoundError, GroundError, live.UsageError) as error:
        print(error, file=sys.stderr)
        return WRONG_USE
    except subjects.StartError as error:
        print(f"{error.server} does not start: {error}".rstrip(), file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:  # before the first job
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
