"""The machine that measures: its cores and who gets which, what it is, which programs it lacks. Linux."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from conformance.servers.processes import path_of

PACKAGES = {
    "cc": "gcc libc6-dev",
    "dnsmasq": "dnsmasq-base",
    "dnsperf": "dnsperf",
    "openssl": "openssl",
    "taskset": "util-linux",
    "unbound": "unbound",
}
"""The programs that are used where they are there, and the Debian package of each."""

TICKS = os.sysconf("SC_CLK_TCK")


def missing(names: Sequence[str]) -> str:
    """What is not installed and how it is; empty where all is there."""
    lacking = [name for name in names if path_of(name) is None]
    packages = " ".join(PACKAGES[name] for name in lacking)
    return f"no {', '.join(lacking)} (Debian: apt-get install {packages})" if lacking else ""


@cache
def cores() -> tuple[int, ...]:
    """The cores that this process may use, before it gives some up (`processes.confined`)."""
    return tuple(sorted(os.sched_getaffinity(0)))


def server_core() -> tuple[int, ...]:
    """Where a server runs that has one core."""
    return (cores()[0],)


def two_cores() -> tuple[int, ...]:
    """Where a server runs that has two; on a machine with two cores it shares the second with the generator."""
    return cores()[:2]


def generator_core() -> tuple[int, ...]:
    """Where load comes from: a core apart from the servers' where there are three, else the last one."""
    return (cores()[:3][-1],)


def other_cores() -> tuple[int, ...]:
    """All but the server's; the same one where there is no other."""
    return cores()[1:] or server_core()


def pinning() -> str:
    """What is wrong with who gets which core; empty where nothing is."""
    if path_of("taskset") is None:
        return "no taskset: servers and load ran on any core"
    return "one core alone: servers and load shared it" if len(cores()) == 1 else ""


def busy_seconds() -> float:
    """Seconds that the cores of this machine spent on anything so far, all cores together (proc(5), /proc/stat)."""
    user, nice, system, _, _, interrupt, soft, steal, *_ = (
        int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + interrupt + soft + steal) / TICKS


def facts() -> dict[str, str | int]:
    """What a reader must know of the machine to compare."""
    return {
        "cpu": _cpu("model name") or platform.machine(),
        "family_model": f"{_cpu('cpu family')}/{_cpu('model')}",
        "virtual": "hypervisor" in _cpu("flags").split(),
        "cores": len(cores()),
        "memory_mb": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1_000_000,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def _cpu(field: str) -> str:
    """What /proc/cpuinfo says of the first core; empty where it says nothing."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return ""
