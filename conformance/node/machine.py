"""What the node needs of this machine: programs, rights, cgroups; one error that names all that is missing. Linux."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from conformance.servers.processes import path_of
from conformance.tools.build import built

PACKAGES = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "busybox": "busybox-static",
    "ip": "iproute2",
    "openssl": "openssl",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "mount": "mount",
    "gcc": "gcc libc6-dev",
    "musl-gcc": "musl-tools",
}
"""The programs that are used, and the Debian package of each."""

PLUGINS = Path("/usr/lib/cni")
"""Where Debian's containernetworking-plugins are."""

BUILT = (
    *("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"),
    *("kubectl", "coredns"),
)
"""The programs that `conformance.tools.build` builds."""

CONTROLLERS = frozenset({"cpu", "memory", "pids", "devices", "cpuset"})
"""The cgroup controllers that kubelet wants."""

MOUNT_FLAGS = frozenset({"rw", "ro", "xattr", "clone_children"})
"""Options of a hierarchy's mount that are not its controllers."""

COVERED = ("/etc", "/run", "/var")
"""Folders that the node sees through a cover of its own, so that its files cannot lie there."""


class NodeError(Exception):
    """Why there is no node, or what on it does not go as it should."""


@dataclass(frozen=True)
class Hierarchy:
    """A cgroup hierarchy of version 1: where it is mounted, and the mount options that make the same one again."""

    place: Path
    options: str


def installed(name: str) -> Path:
    """Where a program of this machine is. Raises `NodeError` when it is missing."""
    path = path_of(name)
    if path is None:
        raise NodeError(f"no {name} (Debian: apt-get install {PACKAGES[name]})")
    return Path(path)


def check() -> None:
    """Raises `NodeError` with all that is missing here, and how it is installed or built."""
    problems = [*_rights(), *_programs(), *_cgroups(), *_folder()]
    if problems:
        raise NodeError("a node cannot run here:\n" + "\n".join(f"  {problem}" for problem in problems))


def _rights() -> list[str]:
    return [] if os.geteuid() == 0 else ["it needs root, for namespaces, mounts and cgroups"]


def _programs() -> list[str]:
    lacking = [name for name in PACKAGES if path_of(name) is None]
    packages = {package: None for name in lacking for package in PACKAGES[name].split()}
    if not (PLUGINS / "bridge").exists():
        lacking.append("CNI plugins")
        packages["containernetworking-plugins"] = None
    problems = [f"no {', '.join(lacking)} (Debian: apt-get install {' '.join(packages)})"] if lacking else []
    unbuilt = [name for name in BUILT if not built(name)]
    return problems + ([f"not built: python -m conformance.tools.build {' '.join(unbuilt)}"] if unbuilt else [])


def _cgroups() -> list[str]:
    missing = sorted(CONTROLLERS.difference(*(each.options.split(",") for each in hierarchies())))
    if not missing:
        return []
    return [f"no cgroup hierarchy of version 1 has {', '.join(missing)}: version 2 is not supported here "
            "(the kernel parameter systemd.unified_cgroup_hierarchy=0 chooses version 1)"]  # fmt: skip


def _folder() -> list[str]:
    folder = Path(tempfile.gettempdir()).resolve()
    covered = [each for each in COVERED if folder.is_relative_to(each)]
    return [f"temporary files lie in {folder}, below {each}: TMPDIR must name another folder" for each in covered]


def hierarchies(mounts: Path = Path("/proc/self/mountinfo")) -> list[Hierarchy]:
    """The cgroup hierarchies of version 1 that are mounted (proc(5), cgroups(7))."""
    found = []
    for line in mounts.read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, settings = rest.split(" ", 2)
        options = [each for each in settings.split(",") if each not in MOUNT_FLAGS]
        if kind == "cgroup":
            named = [each for each in options if each.startswith("name=")]
            found.append(Hierarchy(Path(fields.split()[4]), ",".join(["none", *named] if named else options)))
    return found
