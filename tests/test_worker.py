"""A server with *multisocket* as processes: a parent and its workers, on loopback."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from pydns.dns.message import parse
from pydns.version import version_lines
from tests.server.parts import free_port, packet
from tests.support import texts

PATIENCE = 20.0
"""Seconds after which a test fails instead of hanging."""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{clusterIP: {ip}, ports: [{{port: 80}}]}}
"""
COREFILE = """\
.:{port} {{
    multisocket {sockets}
    bind 127.0.0.1
    ready 127.0.0.1:{ready}
    prometheus 127.0.0.1:{metrics}
    kubernetes cluster.local {{
        ttl 7
    }}
}}
"""
WEB = "web.shop.svc.cluster.local."
QUESTION = f"{WEB} A"


class Scene:
    """A server in a directory of its own, and what is asked of it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port, self.ready, self.metrics = free_port(), free_port(), free_port()
        self.lines: list[str] = []
        self.expose("10.96.0.80")
        self.write(2)

    def write(self, sockets: int, more: str = "") -> None:
        """The Corefile."""
        text = COREFILE.format(port=self.port, ready=self.ready, metrics=self.metrics, sockets=sockets)
        (self.directory / "Corefile").write_text(text + more)

    def expose(self, ip: str) -> None:
        """The Service's manifest, replaced in one step."""
        (self.directory / "objects").mkdir(exist_ok=True)
        (self.directory / "new").write_text(SERVICE.format(ip=ip))
        (self.directory / "new").rename(self.directory / "objects" / "web.yaml")

    @contextmanager
    def running(self) -> Iterator[Scene]:
        words = [sys.executable, "-m", "pydns", "--manifests", "objects"]
        path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with subprocess.Popen(
            words, cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | path
        ) as self.process:
            try:
                self.until(version_lines()[-1])
                yield self
            finally:
                self.process.kill()

    def until(self, pattern: str) -> str:
        """The first further line of the output that matches."""
        while True:
            assert self.has_said_more(PATIENCE), self.lines
            self.lines.append(line := self._line())
            if re.search(pattern, line):
                return line

    def has_said_more(self, patience: float = 0) -> bool:
        assert self.process.stdout is not None
        return bool(select.select([self.process.stdout], [], [], patience)[0])

    def _line(self) -> str:
        """A line, read octet by octet so that `select` sees what is left."""
        assert self.process.stdout is not None
        octets = b""
        while not octets.endswith(b"\n"):
            octet = os.read(self.process.stdout.fileno(), 1)
            assert octet, [*self.lines, "it has ended"]
            octets += octet
        return octets.decode().rstrip("\n")

    def workers(self) -> list[int]:
        """Those that run their own program by now: one that was stopped before would stop its parent, too."""
        number = self.process.pid
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        return [int(child) for child in children if b"pydns.worker" in command(child)]

    def ask(self, question: str = QUESTION) -> list[str]:
        """Ask from a new port; the answer."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(("127.0.0.1", self.port))
            sock.send(packet(question))
            return texts(parse(sock.recv(65535)).answer)

    def ask_often(self, times: int) -> set[str]:
        """All that is answered to many clients; each worker has some of them."""
        return {answer for _ in range(times) for answer in self.ask()}

    def series(self, pattern: str) -> float:
        """The sum of the series that match."""
        with urlopen(f"http://127.0.0.1:{self.metrics}/metrics") as page:
            lines = page.read().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if re.match(pattern, line))

    def requests(self) -> float:
        return self.series("coredns_dns_requests_total")

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def command(process: str) -> bytes:
    """Its command line; empty once it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end


def answer(ip: str) -> str:
    return f"{WEB} 7 IN A {ip}"


def ended(number: int) -> bool:
    """Whether a process that is no child of ours has ended."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with Scene(tmp_path_factory.mktemp("workers")).running() as scene:
        yield scene


def test_there_is_a_process_and_a_line_for_each_socket(scene: Scene) -> None:
    assert scene.lines == [*[f".:{scene.port} on 127.0.0.1"] * 2, *version_lines()]
    assert len(scene.workers()) == 2


def test_each_worker_answers_and_all_is_counted(scene: Scene) -> None:
    before = scene.requests()
    assert scene.ask_often(1000) == {answer("10.96.0.80")}
    assert scene.requests() - before == 1000
    assert scene.series("coredns_dns_responses_total") == scene.requests()
    assert scene.series("coredns_dns_request_duration_seconds_count") == scene.requests()
    assert scene.series(r'coredns_dns_request_duration_seconds_bucket.*le="\+Inf"') == scene.requests()
    assert scene.series("coredns_plugin_enabled.*kubernetes") == 1
    assert 900 < scene.series('coredns_packet_cache_hits_total.*proto="udp"') < scene.requests()


def test_all_are_ready(scene: Scene) -> None:
    with urlopen(f"http://127.0.0.1:{scene.ready}/ready") as page:
        assert page.read() == b"OK"


def test_a_killed_worker_is_replaced_and_its_counts_stay(scene: Scene) -> None:
    scene.ask_often(100)
    before = scene.requests()
    first, second = scene.workers()
    os.kill(first, signal.SIGKILL)
    assert scene.ask_often(100) == {answer("10.96.0.80")}
    assert scene.until("worker").startswith("[ERROR] worker 1 ended: killed by SIGKILL; another one starts")
    until(lambda: len(scene.workers()) == 2)
    assert second in scene.workers()
    scene.ask_often(100)
    assert scene.requests() - before == 200


def test_a_change_reaches_all(scene: Scene) -> None:
    scene.ask_often(50)
    scene.expose("10.96.0.81")
    scene.until("manifests reloaded")
    until(lambda: scene.ask_often(50) == {answer("10.96.0.81")})


def test_a_reload_that_fails_leaves_the_workers(scene: Scene) -> None:
    workers = scene.workers()
    scene.write(3, "nosuch {\n nosuch\n}\n")
    scene.process.send_signal(signal.SIGUSR1)
    scene.until(r"\[ERROR\] Restart failed")
    assert scene.workers() == workers


@pytest.mark.parametrize("sockets", [3, 2, 1, 2])
def test_no_query_is_lost_by_a_reload(scene: Scene, sockets: int) -> None:
    scene.write(sockets)
    before = scene.requests()
    scene.process.send_signal(signal.SIGUSR1)
    asked = 0
    while not (scene.lines and scene.lines[-1] == "[INFO] Reloading complete"):
        scene.ask_often(20)
        asked += 20
        if scene.has_said_more():
            scene.until("")
    scene.lines.clear()
    scene.ask_often(20)
    assert scene.requests() - before == asked + 20
    assert len(scene.workers()) == (sockets if sockets > 1 else 0)


def test_sigterm_ends_all(scene: Scene) -> None:
    workers = scene.workers()
    assert scene.end() == 0
    assert all(map(ended, workers))


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    with Scene(tmp_path).running() as scene:
        workers = scene.workers()
        scene.process.kill()
        until(lambda: all(map(ended, workers)))


def test_a_worker_that_hangs_ends_with_its_parent(tmp_path: Path) -> None:
    with Scene(tmp_path).running() as scene:
        workers = scene.workers()
        os.kill(workers[0], signal.SIGSTOP)
        scene.process.kill()
        until(lambda: all(map(ended, workers)))


def test_a_stop_does_not_wait_for_workers_that_start(tmp_path: Path) -> None:
    with Scene(tmp_path).running() as scene:
        before = scene.workers()
        scene.process.send_signal(signal.SIGUSR1)
        until(lambda: len(scene.workers()) == 4)
        for worker in set(scene.workers()) - set(before):
            os.kill(worker, signal.SIGSTOP)
        workers = scene.workers()
        assert scene.end() == 0
        scene.until("Restart failed: the server stops")
        assert all(map(ended, workers))


def test_a_forwarding_loop_is_found(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    loop = f"loop\n forward . 127.0.0.1:{scene.port}"
    (tmp_path / "Corefile").write_text(f".:{scene.port} {{\n multisocket 2\n bind 127.0.0.1\n {loop}\n}}\n")
    with scene.running():
        scene.until(r"\[FATAL\] plugin/loop: Loop")
        assert scene.process.wait(PATIENCE) == 1
