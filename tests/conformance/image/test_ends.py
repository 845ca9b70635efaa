"""Nothing of a build or of a container is left when the program is interrupted or killed."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.image.build import remove_old
from conformance.servers.processes import path_of
from tests.conformance.descendants import descendants

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes images")

DEBOOTSTRAP = """#!/bin/sh
for each; do case $each in /*) rootfs=$each; esac; done
mkdir "$rootfs" && mount -t tmpfs none "$rootfs" && touch "$rootfs/inside"
sleep 1000 &
echo up >"$UP"
wait
"""
"""One that is at work when the signal comes, with a program of its own."""


def wait_for_word(fifo: Path) -> None:
    """Until somebody has written there; fails where nobody does."""
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([descriptor], [], [], 30)[0], "the build has not come so far"
    finally:
        os.close(descriptor)


@pytest.fixture
def building(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A build whose debootstrap has mounted something and goes on."""
    programs, up = tmp_path / "bin", tmp_path / "up"
    programs.mkdir()
    for name, text in (("debootstrap", DEBOOTSTRAP), ("buildah", "#!/bin/sh\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    os.mkfifo(up)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYDNS_CONFORMANCE_CACHE": str(tmp_path / "cache"),
        "UP": str(up),
    }
    words = [sys.executable, "-m", "conformance.image"]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for_word(up)
            yield process
        finally:
            process.kill()


@as_root
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_build_ends_with_all_that_it_started(
    building: subprocess.Popen[str], tmp_path: Path, number: signal.Signals, status: int
) -> None:
    descriptors = [os.pidfd_open(pid) for pid in descendants(building.pid)]
    assert len(descriptors) >= 3
    building.send_signal(number)
    assert building.wait() == status
    assert building.stderr and building.stderr.read() == ("stopping …\n" if status == 130 else "")
    for descriptor in descriptors:
        assert select.select([descriptor], [], [], 5)[0] == [descriptor]  # readable once the process has ended
        os.close(descriptor)
    assert not list((tmp_path / "cache").rglob("inside"))
    if number == signal.SIGKILL:
        remove_old(tmp_path / "cache")  # as the next build does
    assert {path.suffix for path in (tmp_path / "cache").iterdir()} == {".lock", ".log"}


PROOF = """
import os, signal, sys
from pathlib import Path
from conformance.image.container import run_container, state
import json, subprocess
folder = Path(sys.argv[1])
with run_container(sys.argv[2], json.loads((folder / "config.json").read_text()), folder / "container") as running:
    while True:
        if running.process.poll() is not None:
            sys.exit(running.said)
        try:
            found = state(running)
        except subprocess.CalledProcessError:
            continue
        if found["status"] == "running":
            break
    print(found["pid"], flush=True)
    signal.pause()
"""


@as_root
@pytest.mark.skipif(shutil.which("runc") is None or path_of("busybox") is None, reason="no runc, or no busybox")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_container_that_heeds_no_sigterm_ends_with_the_proof(tmp_path: Path, number: signal.Signals) -> None:
    """The first process of a PID namespace has SIGTERM ignored until it asks for it (pid_namespaces(7))."""
    busybox = path_of("busybox")
    assert busybox
    for name in ("bin", "proc"):
        (tmp_path / "rootfs" / name).mkdir(parents=True)
    shutil.copy(busybox, tmp_path / "rootfs/bin/busybox")
    config = {
        "ociVersion": "1.0.2",
        "process": {"args": ["/bin/busybox", "sleep", "1000"], "cwd": "/", "user": {"uid": 0, "gid": 0}},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
        "root": {"path": str(tmp_path / "rootfs"), "readonly": True},
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount")]},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    name = f"ends-{os.getpid()}"
    words = [sys.executable, "-c", PROOF, str(tmp_path), name]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as proof:
        assert proof.stdout
        descriptor = os.pidfd_open(int(proof.stdout.readline()))
        proof.send_signal(number)
    assert select.select([descriptor], [], [], 5)[0] == [descriptor]
    os.close(descriptor)
