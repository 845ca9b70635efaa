"""Command line of the conformance suite: `python -m conformance --help`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from ipaddress import ip_address

from conformance import recorded
from conformance.blocks import CaseError
from conformance.plan import STARTED, Plan
from conformance.report.terminal import Bar, summary
from conformance.results import Outcome
from conformance.setting import Job, Setting
from conformance.suite import load_jobs, run_jobs
from conformance.tools.build import binary, built


def arguments() -> argparse.ArgumentParser:
    """The options, which `pytest conformance` has, too."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description="Compares a DNS server with CoreDNS.")
    add = parser.add_argument
    add("filters", nargs="*", metavar="FILTER", help="run the jobs whose name holds one of these")
    add("--subject", type=subject, default="pydns", metavar="SERVER",
        help="pydns, coredns, or ADDRESS[:PORT] of a running server (default: pydns)")  # fmt: skip
    add("--reference", default="auto", choices=("auto", "coredns", "recorded", "expected"),
        help="what to compare with: a running CoreDNS, its recorded replies, the cases' own expectations alone;"
        " auto: CoreDNS if it is built, else recorded")  # fmt: skip
    add("--record", action="store_true", help="keep the replies of CoreDNS in conformance/recorded/")
    add("--api", default="auto", choices=("auto", "real", "fake"),
        help="where cases with a `cluster` read objects from (those without always from a fake one);"
        " auto: a real kube-apiserver if it is built, else fake")  # fmt: skip
    add("--packet-cache", default="on", choices=("on", "off"), help="off: pydns runs with PYDNS_PACKET_CACHE=0")
    add("--jobs", type=int, default=3, help="jobs at once (default: 3)")
    add("--strict", action="store_true", help="exit status 1 when anything had to be skipped")
    return parser


def subject(text: str) -> str:
    """What `--subject` may be, an address always with its port; raises `ArgumentTypeError`."""
    if text in STARTED:
        return text
    host, _, port = text.rpartition(":") if text.count(":") == 1 or "]:" in text else (text, "", "53")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
        if not 0 < int(port) < 65536:
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is none of pydns, coredns and ADDRESS[:PORT] (10.96.0.10, 127.0.0.1:1053, [::1]:53)"
        ) from None
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def make_plan(options: argparse.Namespace) -> Plan:
    """Resolves `auto`: CoreDNS where it is built, else the recorded replies; a judged CoreDNS has the cases alone."""
    reference = options.reference
    if reference == "auto":
        reference = "coredns" if built("coredns") else "recorded"
    if options.subject == "coredns":
        reference = "expected"
    return Plan(options.subject, reference, options.packet_cache == "on")


def real_api_wanted(choice: str) -> bool:
    """Resolves `auto`: the real API where it is built."""
    return choice == "real" or (choice == "auto" and built("etcd", "kube-apiserver"))


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
        return 1
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
