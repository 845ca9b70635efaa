"""The node's own namespaces and cgroup: made, entered, removed. The machine's network and settings stay as they are.

All that runs in there ends with its first process (`files/init.sh`), which ends with this one. Knows no Kubernetes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from conformance.node.machine import Hierarchy, NodeError, hierarchies
from conformance.servers.namespaces import children, enclosed, end

FILES = Path(__file__).parent / "files"
NAMESPACES = ("--net", "--uts", "--ipc", "--cgroup")
"""Those that it has besides mounts and processes of its own."""

PREFIX = "conformance-node-"
"""What the names of the node's cgroups begin with."""

JOIN = 'while [ "$1" != -- ]; do echo $$ >"$1"; shift; done; shift; exec "$@"'
"""A shell's words: it joins the cgroups whose cgroup.procs come first, then becomes the program behind `--`."""

UP_TIME = 10.0
"""Seconds the namespaces have to come up."""

END_TIME = 15.0
"""Seconds that processes have to vanish when the first one is killed, and cgroups to be empty then."""


class Space:
    """Namespaces and a cgroup that are up when the constructor returns; `folder` holds what is written in there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._groups = [each.place / f"{PREFIX}{os.getpid()}" for each in hierarchies()]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._first = 0
        sweep()
        try:
            self._make_groups()
            self._start(hierarchies())
        except BaseException:
            self.close()
            raise

    @property
    def first(self) -> int:
        """The process that the node ends with, as this machine numbers it."""
        return self._first

    def run(self, log: Path, words: Sequence[str]) -> subprocess.Popen[bytes]:
        """Starts a program in the node; what it prints goes to a file."""
        inside = ["nsenter", "-t", str(self._first), "-m", "-n", "-p", "-u", "-i", "-C", "--", *words]
        return self._spawn(log, inside)

    def close(self) -> None:
        """Ends everything in the node and removes its cgroups; may be called any number of times."""
        for process in self._processes[:1]:
            end(process)
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_TIME)
        self._processes.clear()
        deadline = time.monotonic() + END_TIME
        while not all(_removed(group) for group in self._groups) and time.monotonic() < deadline:
            time.sleep(0.1)

    def _make_groups(self) -> None:
        for group in self._groups:
            group.mkdir()
            for name in ("cpuset.cpus", "cpuset.mems"):  # a new group has none, and takes no process
                if (group / name).exists():
                    (group / name).write_text((group.parent / name).read_text())

    def _start(self, found: Sequence[Hierarchy]) -> None:
        (self.folder / "sysctl").mkdir()
        shutil.copy(FILES / "resolv.conf", self.folder)
        init = [
            "sh",
            str(FILES / "init.sh"),
            str(self.folder),
            *(f"{each.place.name}:{each.options}" for each in found),
        ]
        log = self.folder / "init.log"
        process = self._spawn(log, enclosed(init, *NAMESPACES))
        deadline = time.monotonic() + UP_TIME
        while not (self.folder / "up").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise NodeError(f"the node's namespaces do not come up:\n{log.read_text().strip()}")
            time.sleep(0.05)
        (self._first,) = children(process.pid)

    def _spawn(self, log: Path, words: Sequence[str]) -> subprocess.Popen[bytes]:
        joined = [str(group / "cgroup.procs") for group in self._groups]
        with log.open("ab") as output:
            process = subprocess.Popen(
                ["sh", "-c", JOIN, "join", *joined, "--", *words],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process


def sweep() -> None:
    """Removes the cgroups that killed runs left; their names have the process that made them."""
    for hierarchy in hierarchies():
        for group in hierarchy.place.glob(f"{PREFIX}*"):
            if not Path("/proc", group.name.removeprefix(PREFIX)).exists():
                _removed(group)


def _removed(group: Path) -> bool:
    """Whether a cgroup is gone, after an attempt to remove it with all below it."""
    for folder, _, _ in os.walk(group, topdown=False):
        with suppress(OSError):
            os.rmdir(folder)
    return not group.exists()
