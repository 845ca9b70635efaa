"""Workers as their parent keeps them: real processes, on loopback."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from pydns.dns.message import parse
from pydns.plugin import Process
from pydns.serve import Configuration, Options
from pydns.server import worker_process
from pydns.server.channel import Recipe
from pydns.server.crew import LONGEST_PAUSE, SILENT, START_TIME, Crew, _Pause
from pydns.server.endpoint import Endpoint
from pydns.server.instance import Instance, StartError
from pydns.server.lifecycle import Server
from pydns.server.tally import Adder
from pydns.server.worker_process import WorkerProcess, encoded_change
from tests.server.parts import UdpClient, free_port, make_process, packet, until
from tests.support import Clock


class Scene:
    """A configuration with two sockets, bound, and its crew."""

    def __init__(self, directory: Path, block: str = "whoami") -> None:
        self.process: Process = make_process()
        self.port = free_port()
        path = directory / "Corefile"
        path.write_text(f".:{self.port} {{\nmultisocket 2\nbind 127.0.0.1\n{block}\n}}\n")
        self.instance: Instance = Configuration(Options(conf=str(path)), self.process).make()
        ((address, listener),) = self.instance.listeners.items()
        self.endpoint = Endpoint(address, listener)
        self.endpoint.bind()
        self.endpoint.grow(2)

    def crew(self) -> Crew:
        return Crew(self.instance, [self.endpoint], self.process, Adder(self.process.metrics))

    async def close(self, crew: Crew) -> None:
        self.endpoint.stop()
        await crew.finish()
        await self.instance.finish()
        self.endpoint.close()

    def worker(self, ended: list[str]) -> WorkerProcess:
        return WorkerProcess(lambda worker, portions: None, lambda: ended.append("fatal"))

    def recipe(self) -> Recipe:
        sets = [(*self.endpoint.address, list(self.endpoint.sets[0].descriptors()))]
        return Recipe(self.instance.recipe, 0, sets)


async def test_no_more_workers_start_at_a_time_than_there_are_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    scene = Scene(tmp_path)
    crew, starting = scene.crew(), [0]
    done = asyncio.ensure_future(crew.start())
    while not done.done():
        starting.append(len(scene.process.metrics.workers) - len(crew._serving()))
        await asyncio.sleep(0)
    assert (max(starting), len(crew._serving())) == (1, 2)
    await scene.close(crew)


async def test_a_worker_that_hangs_while_it_starts_makes_way_and_may_still_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    scene, clock = Scene(tmp_path), Clock()
    scene.process.sleep = clock.sleep
    crew = scene.crew()
    starting = asyncio.create_task(crew.start())
    await until(lambda: bool(scene.process.metrics.workers))
    (stopped,) = scene.process.metrics.workers
    os.kill(stopped, signal.SIGSTOP)
    await clock.advance(START_TIME - 1)
    assert scene.process.metrics.workers == {stopped}
    await clock.advance(1)
    async with asyncio.timeout(20):
        await crew._posts[1].first
    assert [worker.pid == stopped for worker in crew._serving()] == [False]
    os.kill(stopped, signal.SIGCONT)
    await starting
    assert len(crew._serving()) == 2
    await scene.close(crew)


async def test_a_start_that_is_stopped_starts_no_more_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    scene = Scene(tmp_path)
    crew, seen = scene.crew(), set[int]()
    done = asyncio.ensure_future(crew.start())
    await until(lambda: bool(scene.process.metrics.workers))
    crew.kill()
    while not done.done():
        seen |= scene.process.metrics.workers
        await asyncio.sleep(0)
    assert (type(done.exception()), len(seen)) == (StartError, 1)
    await scene.close(crew)


async def test_a_worker_that_cannot_start_is_an_error_and_leaves_nothing(
    tmp_path: Path, log_lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "MODULE", "pydns.nosuch")
    scene = Scene(tmp_path)
    crew = scene.crew()
    with pytest.raises(StartError, match="exit status 1"):
        await crew.start()
    assert (crew.not_ready(), scene.process.metrics.workers, log_lines) == (set(), set(), [])
    scene.endpoint.close()


async def test_what_a_worker_finds_wrong_is_told(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.instance.recipe = scene.instance.recipe.replace(b"127.0.0.1", b"nosuch000")
    with pytest.raises(StartError, match='not a valid IP address or interface name: "nosuch000"'):
        await scene.crew().start()
    scene.endpoint.close()


async def test_the_parent_answers_until_the_workers_do(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    crew = scene.crew()
    for post in crew._posts:
        await post.stand_in()
    for _ in range(20):
        with UdpClient("127.0.0.1", scene.port) as client:
            assert parse(await client.ask(packet())).additional
    await crew.start()
    await crew.collect()
    assert len(scene.process.metrics.workers) == 2
    await scene.close(crew)
    assert scene.process.metrics.workers == set()


async def test_one_that_stops_taking_changes_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "MAX_BACKLOG", 1 << 20)
    scene = Scene(tmp_path)
    worker = scene.worker([])
    await worker.start(scene.recipe())
    await worker.feed([])
    assert await worker.until_serving()
    os.kill(worker.pid, signal.SIGSTOP)
    change = encoded_change(0, "whoami", b"x" * 100_000)
    for _ in range(20):
        worker.tell(change)
    assert await worker.ended() == "it lags behind the changes"
    scene.endpoint.close()


async def test_one_that_does_not_tell_its_counts_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydns.server.crew.COLLECT_TIMEOUT", 0.05)
    scene = Scene(tmp_path)
    crew = scene.crew()
    await crew.start()
    os.kill(stopped := min(scene.process.metrics.workers), signal.SIGSTOP)
    await crew.collect()
    os.kill(stopped, signal.SIGCONT)
    await scene.close(crew)


async def test_a_fatal_error_of_a_worker_ends_the_process(tmp_path: Path) -> None:
    scene = Scene(tmp_path, "debug\nloop")
    ended: list[str] = []
    worker = scene.worker(ended)
    await worker.start(scene.recipe())
    await worker.feed([])
    assert await worker.until_serving()
    name = scene.instance.blocks[0].plugins["loop"]._qname  # type: ignore[attr-defined]
    with UdpClient("127.0.0.1", scene.port) as client:
        scene.endpoint.leave(1)
        for _ in range(3):
            client.send(packet(f"{name} HINFO"))
        await until(lambda: bool(ended))
    worker.kill()
    assert (await worker.ended(), ended) == ("killed by SIGKILL", ["fatal"])
    scene.endpoint.close()


async def test_one_that_ends_while_others_start_is_replaced(tmp_path: Path, log_lines: list[str]) -> None:
    scene = Scene(tmp_path)
    crew = scene.crew()
    starting = asyncio.create_task(crew.start())
    await until(lambda: len(scene.process.metrics.workers) == 2)
    first, second = (post.worker for post in crew._posts)
    assert first is not None and second is not None
    os.kill(second.pid, signal.SIGSTOP)
    await crew._posts[0].first
    first.kill()
    await until(lambda: bool(log_lines))
    os.kill(second.pid, signal.SIGCONT)
    await starting
    assert log_lines == ["[ERROR] worker 1 ended: killed by SIGKILL; another one starts"]
    await scene.close(crew)


async def test_those_that_say_nothing_are_replaced(tmp_path: Path, log_lines: list[str]) -> None:
    scene, clock = Scene(tmp_path), Clock()
    scene.process.sleep = clock.sleep
    crew = scene.crew()
    await crew.start()
    for worker in scene.process.metrics.workers:
        os.kill(worker, signal.SIGSTOP)
    await clock.advance(SILENT)
    assert log_lines == []
    await clock.advance(2)
    await until(lambda: len(log_lines) == 2)
    why = "it has said nothing for too long; another one starts"
    assert sorted(log_lines) == [f"[ERROR] worker {number} ended: {why}" for number in (1, 2)]
    with UdpClient("127.0.0.1", scene.port) as client:
        assert parse(await client.ask(packet())).additional
    await scene.close(crew)


async def test_the_end_may_come_while_no_worker_is_there(tmp_path: Path, log_lines: list[str]) -> None:
    scene = Scene(tmp_path)
    never = asyncio.Event()
    scene.process.sleep = lambda _: never.wait()
    crew = scene.crew()
    await crew.start()
    for worker in scene.process.metrics.workers:
        os.kill(worker, signal.SIGKILL)
    await until(lambda: len(log_lines) == 2)
    del log_lines[:]
    await scene.close(crew)
    assert [task.exception() for task in crew._tasks] == [None, None]
    assert log_lines == []


async def test_a_worker_tells_something_each_second(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    worker = scene.worker([])
    await worker.start(scene.recipe())
    await worker.feed([])
    assert await worker.until_serving()
    for _ in range(3):
        worker.look(1)
        assert worker._looks == 1
        await until(lambda: worker._looks == 0)
    worker.kill()
    assert await worker.ended() == "killed by SIGKILL"
    scene.endpoint.close()


async def test_a_reload_whose_workers_fail_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(tmp_path)
    scene.endpoint.close()
    made: list[Instance] = []

    def make() -> Instance:
        made.append(Configuration(Options(conf=str(tmp_path / "Corefile")), scene.process).make())
        for listener in made[-1].listeners.values():
            listener.cache("udp", 4)  # as where it stands in for a worker
        return made[-1]

    server = Server(scene.process, make, quiet=True)
    await server.start()
    before = list(scene.process.changes._listeners)
    monkeypatch.setattr(worker_process, "MODULE", "pydns.nosuch")
    assert not await server.reload()
    assert scene.process.changes._listeners == before
    assert len(made) == 2
    await server.stop()


def test_the_pause_grows_while_workers_do_not_live_long() -> None:
    pause = _Pause()
    assert [pause.next(1.0) for _ in range(4)] == [0, 0.5, 1, 2]
    assert max(pause.next(1.0) for _ in range(10)) == LONGEST_PAUSE
    assert [pause.next(10.0), pause.next(1.0), pause.next(1.0)] == [0, 0.5, 1]
