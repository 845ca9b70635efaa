"""`python -m conformance.bench`: a server beside real CoreDNS, as ratios with their floors.

Both watch the same Kubernetes API and are measured in turns in one run. The figures of another day do not compare.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance.bench import machine, report, runner
from conformance.bench.document import document
from conformance.bench.finding import Result
from conformance.bench.lines import LINES, Line
from conformance.bench.processes import BenchError
from conformance.bench.setting import Options
from conformance.bench.table import terminal
from conformance.kubernetes.client import ClusterError
from conformance.options import report_file
from conformance.servers import subjects
from conformance.servers.scratch import run_folder

QUICK = {"rounds": 3, "seconds": 1.5}
USUAL = {"rounds": 5, "seconds": 4.0}
FAST_DISK = Path("/dev/shm")
"""Memory in place of a disk, for etcd and all else that is written."""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--subject", default="pydns", help="pydns, or the path of a program that takes -conf COREFILE")
    add("--load", action="append", default=[], metavar="TEXT", help="only lines whose name contains TEXT; repeatable")
    add("--quick", action="store_true", help="the first lines, in two minutes")
    add("--rounds", type=int, metavar="N", help=f"counted rounds ({USUAL['rounds']}; quick: {QUICK['rounds']})")
    add(
        "--seconds",
        type=float,
        metavar="S",
        help=f"of a counted run ({USUAL['seconds']:g}; quick: {QUICK['seconds']:g})",
    )
    add("--api", choices=("real", "fake"), default="real", help="a kube-apiserver (default), or a fake one")
    add("--json", type=report_file, metavar="FILE", help="write every round to FILE")
    add("--report", action="store_true", help="keep the run: docs/bench.json, docs/bench.svg, and README's tables")
    add("--strict", action="store_true", help="exit status 1 when a line misses its floor")
    add("--list", action="store_true", help="print the lines and how long they take")
    return parser


def options_of(words: argparse.Namespace) -> Options:
    """What the command line says of the runs."""
    usual = QUICK if words.quick else USUAL
    rounds, seconds = words.rounds or int(usual["rounds"]), words.seconds or usual["seconds"]
    return Options(words.subject, rounds, seconds, words.quick)


async def measure(lines: Sequence[Line], options: Options, api: str) -> tuple[list[Result], dict[str, Any]]:
    """The results, and what must be known of the run to read them."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    programs = {"subject": options.subject, "reference": "coredns"}
    about: dict[str, Any] = {
        "subject": Path(options.subject).name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine.facts(),
        "versions": {name: await subjects.version(program) or program for name, program in programs.items()},
        "api": api,
        "options": {"rounds": options.rounds, "seconds": options.seconds, "quick": options.quick},
    }
    return await runner.run(lines, options, api == "real"), about


def listing(lines: Sequence[Line], options: Options) -> str:
    """The lines with their floors and times."""
    rows = [f"{runner.minutes(line.way.seconds(options)):>7}  {line.name}" for line in lines]
    return "\n".join([*rows, f"{runner.minutes(runner.estimate(lines, options)):>7}  in all"])


def main(words: Sequence[str]) -> int:
    """Measures and prints the table; the exit status."""
    parsed = arguments().parse_args(words)
    options = options_of(parsed)
    lines = runner.chosen(LINES, parsed.quick, parsed.load)
    if not lines:
        print(f"no line has a name with {' or '.join(parsed.load)}; --list prints them", file=sys.stderr)
        return 2
    if parsed.list:
        print(listing(lines, options))
        return 0
    tempfile.tempdir = str(FAST_DISK) if FAST_DISK.is_dir() else None
    try:
        with run_folder():
            results, about = asyncio.run(measure(lines, options, parsed.api))
    except (BenchError, ClusterError, FileNotFoundError, subjects.StartError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    found = document(results, about)
    print(terminal(found))
    if parsed.json:
        parsed.json.write_text(report.as_json(found))
    if parsed.report:
        report.keep(found)
    return 1 if parsed.strict and not all(result.passed for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
