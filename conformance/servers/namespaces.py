"""Network and mount namespaces of this process's own: what it sets up there ends with it. Knows nothing of what for."""

from __future__ import annotations

import ctypes
import os
import subprocess

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
