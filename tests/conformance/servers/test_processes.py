"""Nothing is left running when the suite is killed."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys

import pytest

from conformance.servers.processes import end_all, run, tied

PARENT = f"""
import subprocess
subprocess.run({tied(["sh", "-c", "echo $$; exec sleep 30"])})
"""


@pytest.mark.skipif(len(tied([])) == 0, reason="no setpriv (util-linux) on this machine")
def test_a_child_ends_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        descriptor = os.pidfd_open(child)
        parent.send_signal(signal.SIGKILL)
    assert select.select([descriptor], [], [], 5)[0] == [descriptor]  # readable once the process has ended
    os.close(descriptor)


def test_a_program_s_status_and_words() -> None:
    assert run(["sh", "-c", "echo errors >&2; echo output; exit 3"]) == (3, "output\nerrors\n")


def test_a_program_that_takes_too_long_ends_with_what_it_started() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sh", "-c", "sleep 30 & wait"], limit=0.1)


async def test_what_runs_in_other_threads_is_ended() -> None:
    running = asyncio.create_task(asyncio.to_thread(run, ["sh", "-c", "while :; do sleep 1; done"]))
    while not running.done():
        end_all()
        await asyncio.sleep(0.01)
    assert (await running)[0] == -signal.SIGKILL
