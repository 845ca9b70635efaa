"""Nothing is left running when the suite is killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

import pytest

from conformance.processes import tied

PARENT = f"""
import subprocess
child = subprocess.Popen({tied(["sleep", "30"])})
print(child.pid, flush=True)
child.wait()
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
