"""What runs and is mounted in an enclosure is gone with it, however it ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.servers.namespaces import enclosed, end
from tests.conformance.descendants import descendants

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces and mounts")

WITHIN = 'mount -t tmpfs none "$1"; touch "$1/inside"; echo "$$"; setsid sleep 1000 & echo up; wait'
"""It mounts, and starts a process in a session of its own."""


def program(folder: Path) -> list[str]:
    return enclosed(["sh", "-c", WITHIN, "within", str(folder)])


def test_what_is_ended_leaves_no_process_and_no_mount(tmp_path: Path) -> None:
    with subprocess.Popen(program(tmp_path), stdout=subprocess.PIPE) as enclosure:
        assert enclosure.stdout
        assert [enclosure.stdout.readline() for _ in range(2)] == [b"1\n", b"up\n"]
        inside = descendants(enclosure.pid)
        assert len(inside) == 2
        end(enclosure)
        assert not any(Path(f"/proc/{pid}").exists() for pid in inside)
    assert list(tmp_path.iterdir()) == []


def test_what_has_ended_may_be_ended() -> None:
    with subprocess.Popen(enclosed(["true"])) as enclosure:
        enclosure.wait()
        end(enclosure)


def test_it_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = f"import subprocess; subprocess.run({program(tmp_path)})"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        assert [parent.stdout.readline() for _ in range(2)] == [b"1\n", b"up\n"]
        descriptors = [os.pidfd_open(pid) for pid in descendants(parent.pid)]
        parent.send_signal(signal.SIGKILL)
    for descriptor in descriptors:
        assert select.select([descriptor], [], [], 5)[0] == [descriptor]  # readable once the process has ended
        os.close(descriptor)
    assert list(tmp_path.iterdir()) == []
