"""Lines are run in order, and what goes wrong with one is said of that one."""

from __future__ import annotations

import os
import threading
import time
from asyncio import timeout, to_thread
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.bench import api, asking, changes, machine, runner
from conformance.bench.api import FakeApi
from conformance.bench.burst import DURING, Run, Seen, conclude, look, told
from conformance.bench.contestants import CLUSTER, OURS, OURS_FREE, REFERENCE, Server
from conformance.bench.finding import Bound, Figure, Finding
from conformance.bench.lines import LINES, Line
from conformance.bench.pace import parse
from conformance.bench.processes import UNWANTED, BenchError, Process, confined, running
from conformance.bench.questions import Asked, mix, synced
from conformance.bench.setting import Options, Setting
from conformance.bench.writer import burst, steady
from conformance.kubernetes.objects import Object


class NoApi:
    """For what asks an API for its size alone."""

    line = ""
    services = 0
    pids: Sequence[int] = ()

    def grow(self, services: int) -> None:
        self.services = services

    def create(self, object: Object) -> None: ...

    def delete(self, kind: str, namespace: str, name: str) -> None: ...

    def change(self, number: int) -> list[str]:
        return []


@dataclass(frozen=True)
class Scripted:
    """A way that finds what it is told to, or fails."""

    error: str = ""
    needs: Sequence[str] = ()

    def seconds(self, options: Options) -> float:
        return options.rounds

    async def run(self, setting: Setting) -> Finding:
        if self.error:
            raise BenchError(self.error)
        return Finding([Figure("Services", [setting.api.services], "")])


async def test_every_line_has_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(machine.PACKAGES, "no-such-program", "no-such-package")
    lines = [
        Line("first", 10, Scripted(), [Bound("Services", 10, "", absolute=True)]),
        Line("broken", 10, Scripted("it ended")),
        Line("absent", 10, Scripted(needs=("no-such-program",))),
        Line("larger", 30, Scripted()),
    ]
    first, broken, absent, larger = await runner.run(lines, Options(), real_api=False)
    assert (first.passed, first.rows[0].mark) == (True, "pass")
    assert (broken.passed, broken.finding.faults) == (False, ["it ended"])
    assert absent.finding.left_out == "no no-such-program (Debian: apt-get install no-such-package)"
    assert larger.rows[0].figure.value == 30


def test_what_is_missing_is_told_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(machine.PACKAGES, "no-such-program", "no-such-package")
    absent, there = Line("absent", 10, Scripted(needs=("no-such-program",))), Line("there", 10, Scripted())
    with pytest.raises(BenchError, match=r"^no no-such-program \(Debian: apt-get install no-such-package\)$"):
        runner.check([absent, absent], Options(), real_api=False)
    runner.check([absent, there], Options(), real_api=False)
    assert capsys.readouterr().err.startswith("left out: absent: no no-such-program")
    monkeypatch.setattr(machine, "path_of", lambda name: None)
    with pytest.raises(BenchError, match=r"^no openssl "):
        runner.check([there], Options(), real_api=True)


def test_a_line_of_one_server_alone() -> None:
    line = Line("bare", 10, Scripted(), subject="pydns")
    assert runner.lacking_for(line, Options()) == ""
    assert runner.lacking_for(line, Options("./server")) == "a line of pydns alone"


def test_chosen_lines() -> None:
    assert runner.chosen(LINES, False, []) == list(LINES)
    assert {line.name for line in runner.chosen(LINES, True, ["mix"])} == {"mix"}
    assert len(runner.chosen(LINES, False, ["MIX", "start"])) > 5


def test_the_time_it_takes() -> None:
    lines = [Line("a", 0, Scripted()), Line("b", 1200, Scripted())]
    assert runner.estimate(lines, Options(rounds=5)) == 11
    assert [runner.minutes(seconds) for seconds in (11, 89, 91, 600)] == ["11 s", "89 s", "2 min", "10 min"]


@asynccontextmanager
async def fake_cluster(services: int) -> AsyncIterator[FakeApi]:
    async with api.fake() as found:
        assert isinstance(found, FakeApi)
        await to_thread(found.grow, services)
        yield found


async def test_a_server_answers_and_follows_changes(tmp_path: Path) -> None:
    """pydns itself, started, asked and changed as every line does it."""
    async with fake_cluster(40) as cluster:
        setting = Setting(Options(), cluster, tmp_path)
        try:
            server = await setting.server(OURS_FREE, CLUSTER, synced(40))
            assert await to_thread(asking.compare, mix(40)[:50], server.port, server.port) == []
            assert server.process.cpu_seconds > 0
            assert server.process.resident_megabytes > 10
            for change in (changes.service_created, changes.slice_changed):
                assert 0 < await to_thread(change, cluster, server, 1) < 5000
            async with steady(cluster, 200) as writer:
                await to_thread(asking.until_right, server.port, synced(40))
            assert writer.done > 0
            await to_thread(burst_seen, cluster, server)
        finally:
            await setting.close()
        with pytest.raises(BenchError, match="ended with status"):
            server.process.check()


async def test_a_program_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    words = ["sh", "-c", f"echo first; echo {tmp_path}/Corefile:2 is wrong; exit 3"]
    async with running(words, machine.cores(), tmp_path / "log") as process:
        await process.process.wait()
        with pytest.raises(BenchError, match=r"^ended with status 3: first / Corefile:2 is wrong$"):
            process.check()


async def test_running_programs_give_cores_up_and_get_them_back(tmp_path: Path) -> None:
    words = ["sh", "-c", "echo up; exec sleep 60"]  # what starts it sets its cores until then
    async with timeout(10), running(words, machine.cores(), tmp_path / "log") as process:
        await to_thread(said, process, "up")
        with confined([process.pid], machine.server_core()):
            assert os.sched_getaffinity(process.pid) == {*machine.server_core()}
        assert os.sched_getaffinity(process.pid) == {*machine.cores()}


async def test_every_thread_gives_cores_up(tmp_path: Path) -> None:
    """Also those that other threads start later; which cores there are is not what is left of them."""
    before = machine.cores()
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    with confined([os.getpid()], machine.server_core()):
        left = [os.sched_getaffinity(thread.native_id or 0), await to_thread(os.sched_getaffinity, 0)]
        assert machine.cores() == before
    done.set()
    thread.join()
    assert left == [{*machine.server_core()}] * 2
    assert os.sched_getaffinity(0) == {*before}


async def test_how_long_a_program_waited_for_a_core(tmp_path: Path) -> None:
    """Two that work without end on one core wait for each other."""
    words = ["sh", "-c", "while :; do :; done & while :; do :; done"]
    async with timeout(10), running(words, machine.server_core(), tmp_path / "log") as process:
        await to_thread(waited, process, 0.05)


def said(process: Process, words: str) -> None:
    while process.last_words != words:
        time.sleep(0.01)


def waited(process: Process, seconds: float) -> None:
    while process.waited_seconds < seconds:
        time.sleep(0.01)


async def test_what_keeps_python_from_compiling_is_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(UNWANTED, "1")
    async with running(["sh", "-c", f"echo ${{{UNWANTED}-unset}}"], machine.cores(), tmp_path / "log") as process:
        await process.process.wait()
        assert process.last_words == "unset"


def test_a_burst_is_judged_by_the_queries_that_were_due_during_it() -> None:
    paced = parse("1000.0 real-time\n" + "".join(f"{due} 0 {due} 0\n" for due in (0, 1_000_000, 2_000_000, 3_000_000)))
    early, late = Run(paced, Seen(1001, 1003, 0.5, 0)), Run(paced, Seen(1000, 1000.5, 0.25, 0))
    finding = conclude({OURS: [early], REFERENCE: [late]}, [Asked("a.", "A")])
    assert early.latencies == [1000, 2000]
    assert [(figure.what, figure.value, figure.their_value) for figure in finding.figures] == [(DURING, 2000, 0)]
    assert finding.faults == []
    assert [remark.partition(":")[0] for remark in finding.remarks] == ["subject", "CoreDNS"]


def test_what_is_told_of_bursts() -> None:
    bursts = [Seen(1, 2, 0.5, 0.25), Seen(1, 4, 0.75, 0.5), Seen(1, 3, 1, 1)]
    assert told(bursts) == "a burst took 2.00 s, used 0.75 s of processor time, waited 0.50 s for a core"


def burst_seen(cluster: FakeApi, server: Server) -> None:
    look(server, burst(cluster, range(40)))
