"""A program ends at the first Ctrl-C or SIGTERM, in order, whatever else comes meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from conformance.ending import INTERRUPTED, SIGNALS, run

ALONE = """
import signal
def main():
    print("up", flush=True)
    try:
        signal.pause()
    finally:
        print("ending", flush=True)
        input()
        print("ended")
"""

TASK = """
import asyncio
from conformance.ending import run
async def work():
    print("up", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("ending", flush=True)
        await asyncio.to_thread(input)
        print("ended")
def main():
    try:
        run(work())
    finally:
        print("closing", flush=True)
        input()
"""

FAILING = """
import asyncio
from conformance.ending import run
async def work():
    print("up", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("ending", flush=True)
        input()
        raise OSError("a child had Ctrl-C, too")
def main():
    run(work())
"""

PROGRAM = """
import sys
from conformance.ending import INTERRUPTED, heed_signals
{}
heed_signals()
try:
    main()
except KeyboardInterrupt:
    sys.exit(INTERRUPTED)
"""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("program", [ALONE, TASK, FAILING])
def test_the_first_signal_ends_it_and_others_leave_it_the_time(program: str, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(program)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        assert process.stdout.readline() == "up\n"
        process.send_signal(number)
        for line in process.stdout:
            if line in ("ending\n", "closing\n"):
                process.send_signal(signal.SIGTERM)
                process.stdin.write("go on\n")
                process.stdin.flush()
        assert process.wait() == INTERRUPTED
        assert process.stderr.read() == "stopping …\n"


def test_what_is_not_interrupted_changes_no_handler() -> None:
    async def value() -> int:
        return 7

    async def failing() -> None:
        raise OSError("no")

    before = [signal.getsignal(number) for number in SIGNALS]
    assert run(value()) == 7
    with pytest.raises(OSError, match="no"):
        run(failing())
    assert [signal.getsignal(number) for number in SIGNALS] == before
