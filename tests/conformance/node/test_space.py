"""What killed runs left behind is removed, what belongs to a living one stays."""

import os
from pathlib import Path

import pytest

from conformance.node import space
from conformance.node.machine import Hierarchy

NEVER = 2**22 + 1
"""More than the largest process number of Linux."""


def test_only_the_cgroups_of_processes_that_ended_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(space, "hierarchies", lambda: [Hierarchy(tmp_path, "pids")])
    living, left = f"{space.PREFIX}{os.getpid()}", f"{space.PREFIX}{NEVER}"
    for name in (living, f"{left}/kubepods/pod1", "other"):
        (tmp_path / name).mkdir(parents=True)
    space.sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([living, "other"])
