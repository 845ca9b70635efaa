"""python -m conformance.rollout: replicas are exchanged and killed while Pods keep asking; pydns beside CoreDNS."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from conformance.ending import INTERRUPTED, heed_signals, run
from conformance.options import report_file
from conformance.rollout.network import missing, prepare
from conformance.rollout.report import terminal
from conformance.rollout.script import GROUPS, Run, go_through
from conformance.servers.namespaces import enter_own
from conformance.servers.scratch import run_folder
from conformance.servers.subjects import StartError, command
from conformance.setting import Skipped
from conformance.tally import Count, problems

REFERENCE = "coredns"


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.rollout",
        description="Two replicas behind 10.96.0.10, as kube-proxy has them, and Pods that look names up all the time "
        "with glibc and musl: a rolling restart must lose nothing, a replica that is killed no more than CoreDNS's. "
        "All in network namespaces of its own. Needs root; takes 70 seconds.",
    )
    parser.add_argument("--subject", type=_program, default="pydns", help="pydns (default) or the path of a program")
    parser.add_argument("--json", type=report_file, metavar="FILE", help="write the counts to FILE, too")
    return parser


def _program(text: str) -> str:
    """Replicas run elsewhere: a path becomes an absolute one."""
    return str(Path(text).absolute()) if "/" in text else text


def say(line: str) -> None:
    """A line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {line}", file=sys.stderr, flush=True)


async def compared(subject: str, folder: Path) -> list[Run]:
    """The reference and then the subject."""
    runs: list[Run] = []
    for name in dict.fromkeys((REFERENCE, subject)):
        own = folder / str(len(runs))
        own.mkdir()
        runs.append(await go_through(name, own, say))
    return runs


def main(words: Sequence[str]) -> int:
    """Status 1 when something is required and not so, or missing on this machine; 130 when it was interrupted."""
    parser = arguments()
    options = parser.parse_args(words)
    try:
        command(options.subject)
        command(REFERENCE)
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    if reason := lacking():
        print(reason, file=sys.stderr)
        return 1
    try:
        enter_own()
        prepare()
        with run_folder() as folder:
            runs = run(compared(options.subject, folder))
    except (OSError, StartError, Skipped) as error:
        print(f"rollout: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return told(runs, options.json)


def lacking() -> str:
    """What this machine lacks; empty where it is nothing."""
    if packages := missing():
        return f"missing: apt-get install {' '.join(packages)}"
    return "only root makes network namespaces and their rules" if os.geteuid() else ""


def told(runs: Sequence[Run], file: Path | None) -> int:
    """Prints the table and what is required and not so, and writes the JSON; the exit status."""
    faults = judged(runs)
    print(terminal(runs, faults))
    if file:
        file.write_text(json.dumps({"runs": [asdict(run) for run in runs], "faults": faults}, indent=2))
    return int(bool(faults))


def judged(runs: Sequence[Run]) -> list[str]:
    """What is required and not so."""
    phases = [phase for run in runs for phase in run.phases]
    faults = [fault for run in runs for fault in run.faults]
    for group in GROUPS:
        counts = [counted for run in runs for counted in run.counts[group]]
        counts = [_failed(counted) if phase.kills else counted for phase, counted in zip(phases, counts, strict=True)]
        faults += [f"{fault} ({group})" for fault in problems(phases, counts)]
    return faults


def _failed(counted: Count) -> Count:
    """After a kill a look-up that found a part, or nothing, failed because of queries that were lost."""
    return replace(counted, wrong=0, lost=counted.lost + counted.wrong)


if __name__ == "__main__":
    heed_signals()
    sys.exit(main(sys.argv[1:]))
