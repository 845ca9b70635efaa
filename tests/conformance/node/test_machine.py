"""What a machine lacks for a node is said in one go; which cgroup hierarchies it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.node import machine
from conformance.node.machine import Hierarchy, NodeError, hierarchies

MOUNTS = """\
25 30 0:22 / /proc rw,nosuid shared:1 - proc proc rw
33 32 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:5 - cgroup cgroup rw,cpu,cpuacct
34 32 0:29 / /sys/fs/cgroup/cpuset rw,nosuid shared:6 - cgroup cgroup rw,cpuset,clone_children
35 32 0:30 / /sys/fs/cgroup/systemd rw,nosuid shared:7 - cgroup cgroup rw,xattr,name=systemd
36 32 0:31 / /sys/fs/cgroup/unified rw,nosuid shared:8 - cgroup2 cgroup2 rw,nsdelegate
"""
"""/proc/self/mountinfo of a hybrid machine (proc(5)), shortened."""


def test_hierarchies_of_version_1(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    root = Path("/sys/fs/cgroup")
    assert hierarchies(tmp_path / "mountinfo") == [
        Hierarchy(root / "cpu,cpuacct", "cpu,cpuacct"),
        Hierarchy(root / "cpuset", "cpuset"),
        Hierarchy(root / "systemd", "none,name=systemd"),
    ]


def test_all_that_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        machine, "PACKAGES", {"no-such-a": "package-a", "no-such-b": "package-b package-c", "sh": "dash"}
    )
    monkeypatch.setattr(machine, "PLUGINS", tmp_path)
    with pytest.raises(NodeError) as caught:
        machine.check()
    assert "no no-such-a, no-such-b, CNI plugins" in str(caught.value)
    assert "apt-get install package-a package-b package-c containernetworking-plugins" in str(caught.value)
    assert "dash" not in str(caught.value)


def test_an_installed_program_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PACKAGES", {"no-such": "package"})
    with pytest.raises(NodeError, match=r"no no-such \(Debian: apt-get install package\)"):
        machine.installed("no-such")
