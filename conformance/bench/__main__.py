"""`python -m conformance.bench`: a server beside real CoreDNS, as ratios with their bounds.

Both watch the same Kubernetes API and are measured in turns in one run. The figures of another day do not compare.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.bench import about, report, runner
from conformance.bench.document import Document, document
from conformance.bench.finding import Result
from conformance.bench.lines import LINES, Line
from conformance.bench.processes import BenchError
from conformance.bench.setting import Options
from conformance.bench.table import terminal
from conformance.ending import INTERRUPTED, heed_signals, run
from conformance.kubernetes.client import ClusterError
from conformance.options import report_file
from conformance.servers import subjects
from conformance.servers.scratch import run_folder

QUICK = {"rounds": 3, "seconds": 1.5}
USUAL = {"rounds": 5, "seconds": 2.0}
"""Those of the run that the README shows."""

SHORTEST, LONGEST = 0.1, 600
"""Seconds of a counted run."""

FAST_DISK = Path("/dev/shm")
"""Memory in place of a disk, for etcd and all else that is written."""


def rounds(text: str) -> int:
    """A number of rounds."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def seconds(text: str) -> float:
    """The length of a run."""
    value = float(text)
    if not SHORTEST <= value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text} is not between {SHORTEST:g} and {LONGEST:g}")
    return value


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--subject", default="pydns", help="pydns, or the path of a program that takes -conf COREFILE")
    add("--load", action="append", default=[], metavar="TEXT", help="only lines whose name contains TEXT; repeatable")
    add("--quick", action="store_true", help="the first lines, in two minutes")
    add("--rounds", type=rounds, metavar="N", help=f"counted rounds ({USUAL['rounds']}; quick: {QUICK['rounds']})")
    add(
        "--seconds",
        type=seconds,
        metavar="S",
        help=f"of a counted run ({USUAL['seconds']:g}; quick: {QUICK['seconds']:g})",
    )
    add("--api", choices=("real", "fake"), default="real", help="a kube-apiserver (default), or a fake one")
    add("--json", type=report_file, metavar="FILE", help="write every round to FILE")
    add("--report", action="store_true",
        help="keep the run, of all lines: docs/bench.json, docs/bench.svg, and README's tables")  # fmt: skip
    add("--strict", action="store_true", help="exit status 1 also when a figure misses a bound")
    add("--list", action="store_true", help="print the lines and how long they take")
    return parser


def options_of(words: argparse.Namespace) -> Options:
    """What the command line says of the runs."""
    usual = QUICK if words.quick else USUAL
    rounds, seconds = words.rounds or int(usual["rounds"]), words.seconds or usual["seconds"]
    return Options(words.subject, rounds, seconds, words.quick)


async def measure(
    lines: Sequence[Line], options: Options, api: str, texts: Sequence[str]
) -> tuple[list[Result], dict[str, Any]]:
    """The results, and what must be known of the run to read them."""
    known = await about.facts(options, api, texts)
    return await runner.run(lines, options, api == "real"), known


def listing(lines: Sequence[Line], options: Options) -> str:
    """The lines with their bounds and times."""
    rows = [f"{runner.minutes(line.way.seconds(options)):>7}  {line.name}" for line in lines]
    return "\n".join([*rows, f"{runner.minutes(runner.estimate(lines, options)):>7}  in all"])


def refusal(words: argparse.Namespace, lines: Sequence[Line]) -> str:
    """Why these words cannot be done; empty where they can."""
    if not lines:
        return f"no line has a name with {' or '.join(words.load)}; --list prints them"
    if words.report and (words.load or words.quick):
        return f"--report keeps {report.WHOLE}: it goes with neither --load nor --quick; --json FILE keeps these"
    return ""


def status(results: Sequence[Result], strict: bool) -> int:
    """1 where the subject or a line failed, or nothing was measured; `strict`: where a bound is missed, too."""
    measured = [result for result in results if not result.finding.left_out]
    failed = any(result.finding.faults or (strict and not result.passed) for result in measured)
    return int(failed or not measured)


def main(words: Sequence[str]) -> int:
    """Measures and prints the table; the exit status."""
    parsed = arguments().parse_args(words)
    options = options_of(parsed)
    lines = runner.chosen(LINES, parsed.quick, parsed.load)
    if refused := refusal(parsed, lines):
        print(refused, file=sys.stderr)
        return 2
    if parsed.list:
        print(listing(lines, options))
        return 0
    tempfile.tempdir = str(FAST_DISK) if FAST_DISK.is_dir() else None
    try:
        with run_folder():
            results, known = run(measure(lines, options, parsed.api, parsed.load))
    except (BenchError, ClusterError, FileNotFoundError, subjects.StartError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    keep(document(results, known), parsed)
    return status(results, parsed.strict)


def keep(found: Document, words: argparse.Namespace) -> None:
    """Prints a run, and writes it where the command line says."""
    print(terminal(found))
    if words.json:
        words.json.write_text(report.as_json(found))
    if words.report:
        report.keep(found)


if __name__ == "__main__":
    heed_signals()
    sys.exit(main(sys.argv[1:]))
