"""Namespaces of this process's own, or of a program's: what is set up there ends with it. Knows nothing of what for."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from conformance.servers.processes import tied

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
"""unshare(2), setns(2)."""


def enter_own() -> None:
    """Moves this process, which must have one thread, into namespaces of its own, the loopback interface up.

    Raises `OSError` where that is not allowed (root may).
    """
    _call("unshare", CLONE_NEWNS | CLONE_NEWNET, what="namespaces of its own")
    do("mount", "--make-rprivate", "/")
    do("ip", "link", "set", "lo", "up")


def enter_network(pid: int) -> None:
    """Moves this thread, and what it starts from now on, into another process's network. Raises `OSError`."""
    with open(f"/proc/{pid}/ns/net") as network:
        _call("setns", network.fileno(), CLONE_NEWNET, what="another process's network")


def enclosed(words: Sequence[str], *namespaces: str) -> list[str]:
    """A command line whose program has these namespaces (unshare(1)) and always its own mounts and processes.

    All that runs in there ends, and what is mounted there is gone, when the thread that starts it ends.
    """
    own = ["--mount", "--propagation", "private", "--pid", "--mount-proc", *namespaces]
    return tied(["unshare", *own, "--fork", "--kill-child", "--", *words], "KILL")


def end(enclosure: subprocess.Popen[bytes]) -> None:
    """Ends what an `enclosed` program is and started; nothing of it is there any more on return.

    unshare ends after its child, and that, the first process of its namespace, after all others (pid_namespaces(7)).
    """
    while enclosure.poll() is None:
        for child in children(enclosure.pid):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """The processes that the first thread of a process has started; none when it has ended."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _call(name: str, *arguments: int, what: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def do(*words: str, text: str = "") -> str:
    """Runs one command, with this input; what it prints. Raises `OSError` with its first line when it fails."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {(done.stderr.strip() or f'status {done.returncode}').splitlines()[0]}")
    return done.stdout
