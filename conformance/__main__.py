"""Command line of the conformance suite: `python -m conformance --help`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from conformance import recorded
from conformance.blocks import CaseError
from conformance.options import arguments, make_plan, real_api_wanted
from conformance.plan import Plan
from conformance.report.terminal import Bar, summary
from conformance.results import Outcome
from conformance.setting import Job, Setting
from conformance.suite import load_jobs, run_jobs
from conformance.tools.build import binary


async def run_all(jobs: Sequence[Job], plan: Plan, options: argparse.Namespace) -> list[Outcome]:
    """Runs the jobs with a progress bar."""
    with Bar(len(jobs)) as bar:
        async with Setting(plan, real_api_wanted(options.api)) as setting:
            return await run_jobs(jobs, setting, options.jobs, bar)


def _record(outcomes: Sequence[Outcome], whole_table: bool) -> None:
    """Keeps the replies of every case that ran to its end."""
    cases = [outcome.case for outcome in outcomes if outcome.case]
    for outcome in outcomes:
        if outcome.case and outcome.replies and len(outcome.replies) == len(outcome.case.questions):
            recorded.save(outcome.case, outcome.replies)
    if whole_table:
        recorded.prune(cases)


def main() -> int:
    """Runs the suite and returns the exit status."""
    options = arguments().parse_args()
    if options.record:
        options.subject = "coredns"
    plan = make_plan(options)
    try:
        jobs = load_jobs(plan, options.filters)
        if "coredns" in plan.started:
            binary("coredns")
    except (CaseError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"conformance: {plan.subject} against {plan.reference}, {len(jobs)} jobs", flush=True)
    outcomes = asyncio.run(run_all(jobs, plan, options))
    if options.record:
        _record(outcomes, whole_table=not options.filters)
    whole = not options.filters and plan.subject == "pydns"
    return summary(outcomes, whole, options.strict)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
