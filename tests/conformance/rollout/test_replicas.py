"""What is told when a rollout cannot go on, and what is left of one that is interrupted."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.rollout import replicas
from conformance.rollout.network import PodNetwork, Service, missing
from conformance.rollout.replicas import Deployment, Replica
from conformance.servers.namespaces import children
from conformance.tools.build import built

RESTORE = """#!/bin/sh
cat >>"$RULES/said"
[ "$(grep -c '^\\*nat' "$RULES/said")" -lt 3 ] || { echo no more rules >&2; exit 1; }
"""
"""An iptables-restore that takes rules twice."""


@pytest.fixture
def network() -> Iterator[PodNetwork]:
    """A Pod's network in which nothing answers probes."""
    found = PodNetwork("127.9.9.9", subprocess.Popen(["sleep", "1000"]))
    yield found
    found.close()


async def test_rules_that_are_refused_while_a_pod_ends_are_told(
    network: PodNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "iptables-restore").write_text(RESTORE)
    (tmp_path / "iptables-restore").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("RULES", str(tmp_path))
    monkeypatch.setattr(replicas, "PROBE_PERIOD", 0.01)
    monkeypatch.setattr(replicas, "PROPAGATION", 0.01)
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done", stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout and await process.stdout.readline() == b"up\n"
    replica = Replica("dns-1", network, process, tmp_path / "log", ready=True, serving=True)
    deployment = Deployment("dns", tmp_path / "Corefile", Service(("10.96.0.10",)), print, [replica])
    try:
        with pytest.raises(OSError, match="no more rules"):
            await deployment._terminate(replica)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@pytest.mark.skipif(os.geteuid() != 0 or bool(missing()) or not built("coredns"), reason="no root, rules or CoreDNS")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_rollout_that_is_interrupted_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "conformance.rollout"], env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr
        assert process.stderr.readline().endswith("CoreDNS: nothing happens\n")
        below = children(process.pid)
        process.send_signal(number)
        assert process.wait() == 130
        assert process.stderr.read() == "stopping …\n"
    assert below and not any(Path("/proc", str(pid)).exists() for pid in below)
    assert list(tmp_path.iterdir()) == []
