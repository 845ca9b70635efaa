"""Command line of the conformance suite: `python -m conformance --help`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from ipaddress import ip_address
from pathlib import Path

from conformance import recorded, report
from conformance.api import Clusters, FakeClusters, RealClusters
from conformance.blocks import CaseError
from conformance.case import Case, load_cases
from conformance.runner import Outcome, Plan, run_case
from conformance.tools.build import binary, built


def arguments() -> argparse.ArgumentParser:
    """The options, which `pytest conformance` has, too."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description="Compares a DNS server with CoreDNS.")
    add = parser.add_argument
    add("filters", nargs="*", metavar="FILTER", help="run the cases whose name holds one of these")
    add("--subject", type=subject, default="pydns", metavar="SERVER",
        help="pydns, coredns, or ADDRESS:PORT of a running server (default: pydns)")  # fmt: skip
    add("--reference", default="auto", choices=("auto", "coredns", "recorded", "expected"),
        help="what to compare with: a running CoreDNS, its recorded replies, the cases' own expectations alone;"
        " auto: CoreDNS if it is built, else recorded")  # fmt: skip
    add("--record", action="store_true", help="keep the replies of CoreDNS in conformance/recorded/")
    add("--api", default="auto", choices=("auto", "real", "fake"),
        help="where cases with a `cluster` read objects from (those without always from a fake one);"
        " auto: a real kube-apiserver if it is built, else fake")  # fmt: skip
    add("--packet-cache", default="on", choices=("on", "off"), help="off: pydns runs with PYDNS_PACKET_CACHE=0")
    add("--jobs", type=int, default=3, help="cases at once (default: 3)")
    return parser


def subject(text: str) -> str:
    """What `--subject` may be; raises `ArgumentTypeError`."""
    host, _, port = text.rpartition(":")
    try:
        known = text in ("pydns", "coredns") or bool(ip_address(host.strip("[]")) and 0 < int(port) < 65536)
    except ValueError:
        known = False
    if not known:
        raise argparse.ArgumentTypeError(
            f"{text!r} is none of pydns, coredns and ADDRESS:PORT (127.0.0.1:53, [::1]:53)"
        )
    return text


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


async def run_cases(cases: Sequence[Case], plan: Plan, real: bool, jobs: int) -> list[Outcome]:
    """Runs the cases, `jobs` at a time, printing each when it is done; gives the outcomes in the cases' order."""
    slots = asyncio.Semaphore(jobs)

    async def run(case: Case, clusters: Clusters) -> Outcome:
        async with slots:
            outcome = await run_case(case, plan, clusters)
        report.progress(outcome)
        return outcome

    async with AsyncExitStack() as stack:
        clusters: Clusters = FakeClusters()
        if real:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-cluster-"))
            clusters = await stack.enter_async_context(RealClusters(Path(folder)))
        return list(await asyncio.gather(*(run(case, clusters) for case in cases)))


def _record(outcomes: Sequence[Outcome], whole_table: bool) -> None:
    """Keeps the replies of every case that ran to its end."""
    for outcome in outcomes:
        if outcome.replies and len(outcome.replies) == len(outcome.case.questions):
            recorded.save(outcome.case, outcome.replies)
    if whole_table:
        recorded.prune([outcome.case for outcome in outcomes])


def main() -> int:
    """Runs the table and returns the exit status."""
    options = arguments().parse_args()
    if options.record:
        options.subject = "coredns"
    plan = make_plan(options)
    try:
        cases = load_cases(options.filters)
        if "coredns" in (plan.subject, plan.reference):
            binary("coredns")
    except (CaseError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"conformance: {plan.subject} against {plan.reference}, {len(cases)} cases", flush=True)
    outcomes = asyncio.run(run_cases(cases, plan, real_api_wanted(options.api), options.jobs))
    if options.record:
        _record(outcomes, whole_table=not options.filters)
    return report.summary(outcomes, not options.filters and plan.subject != "coredns")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
