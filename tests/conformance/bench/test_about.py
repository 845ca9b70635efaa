"""What is kept of a run beside its figures."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance.bench import about, machine
from conformance.bench.contestants import PACKET_CACHE
from conformance.bench.setting import Options
from conformance.tools.build import variable


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_the_commit(tmp_path: Path) -> None:
    assert about.code(tmp_path) == {"commit": "", "dirty": False}
    git(tmp_path, "init")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-m", "one")
    found = about.code(tmp_path)
    assert (len(str(found["commit"])), found["dirty"]) == (40, False)
    (tmp_path / "a").write_text("2")
    assert about.code(tmp_path) == found | {"dirty": True}


async def test_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PACKET_CACHE, "0")
    coredns = tmp_path / "coredns"
    coredns.write_text("#!/bin/sh\necho CoreDNS-1.2.3\n")
    coredns.chmod(0o755)
    monkeypatch.setenv(variable("coredns"), str(coredns))
    found = await about.facts(Options(rounds=2), "fake", ["mix"])
    assert found["environment"] == {PACKET_CACHE: "0"}
    assert found["options"] == {"rounds": 2, "seconds": 2.0, "quick": False, "load": ["mix"]}
    assert found["versions"]["subject"].startswith("pydns-")
    assert found["versions"]["reference"] == "CoreDNS-1.2.3"
    assert {"code", "dnsperf", "uvloop", "pinning", "machine"} <= set(found)


def test_who_cannot_be_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cores", lambda: [3])
    monkeypatch.setattr(machine, "path_of", lambda name: f"/bin/{name}")
    assert machine.pinning() == "one core alone: servers and load shared it"
    monkeypatch.setattr(machine, "cores", lambda: [0, 1])
    assert machine.pinning() == ""
    monkeypatch.setattr(machine, "path_of", lambda name: None)
    assert machine.pinning() == "no taskset: servers and load ran on any core"
