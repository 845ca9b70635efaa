"""Start, signals, reload and stop, in this process, on loopback."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from pydns.dns.message import parse
from pydns.server.instance import Instance
from pydns.server.lifecycle import Server
from pydns.version import version_lines
from tests.server.life import Noted, make_instance
from tests.server.parts import TcpClient, UdpClient, free_port, make_process, packet, until
from tests.support import settle, texts

pytestmark = pytest.mark.usefixtures("collector_as_before")

OLD, NEW = "example.org. 5 IN A 192.0.2.1", "example.org. 5 IN A 192.0.2.2"
STARTED = ["a start", "a serving"]
STOPPED = ["a lameduck", "a stop"]

Make = Callable[[], Instance]


class Scene:
    """A server whose configurations are made by ``makes``, one after the other."""

    def __init__(self, pidfile: Path | None = None, quiet: bool = False) -> None:
        self.events: list[str] = []
        self.port = free_port()
        self.process = make_process()
        self.makes: list[Make] = []
        self.server = Server(self.process, self._make, quiet=quiet, pidfile=pidfile)

    def _make(self) -> Instance:
        return self.makes.pop(0)()

    def will_make(self, label: str, records: str = OLD, *hosts: str, broken: Exception | None = None) -> None:
        addresses = [(host, self.port) for host in hosts or ("127.0.0.1",)]
        self.makes.append(
            lambda: make_instance(self.process, self.events, label, *addresses, records=records, broken=broken)
        )

    def will_fail(self, error: Exception) -> None:
        def make() -> Instance:
            raise error

        self.makes.append(make)

    async def ask(self, host: str = "127.0.0.1") -> list[str]:
        with UdpClient(host, self.port) as client:
            return texts(parse(await client.ask(packet())).answer)


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    before = signal.getsignal(signal.SIGHUP)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    scene = Scene(quiet=True)
    yield scene
    await scene.server.stop()
    await settle()


async def until_started(scene: Scene, label: str = "a") -> None:
    await until(lambda: f"{label} serving" in scene.events)


# Start.


async def test_plugins_start_then_sockets_open_then_it_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    scene = Scene()
    scene.will_make("a")
    await scene.server.start()
    assert capfd.readouterr().out.splitlines() == [f".:{scene.port} on 127.0.0.1", *version_lines()]
    assert scene.events == STARTED
    assert await scene.ask() == [OLD]
    await scene.server.stop()
    assert scene.events == STARTED + STOPPED


async def test_quiet_says_nothing(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    scene.will_make("a")
    await scene.server.start()
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("error", [ValueError("Corefile:3 - Syntax error"), OSError("plain")])
async def test_a_configuration_that_cannot_be_made_is_one_line(
    scene: Scene, error: Exception, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.will_fail(error)
    assert await scene.server.run() == 1
    assert capfd.readouterr() == ("", f"{error}\n")


async def test_a_plugin_that_cannot_start_is_one_line(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    scene.will_make("a", broken=ValueError("no API"))
    assert await scene.server.run() == 1
    assert capfd.readouterr() == ("", "plugin/noted: no API\n")


async def test_a_port_in_use_leaves_nothing_started(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    scene.will_make("a")
    await scene.server.start()
    other = Scene()
    other.port = scene.port
    other.will_make("b", OLD, "127.0.0.2", "127.0.0.1")
    assert await other.server.run() == 1
    words = f"Listen: listen tcp 127.0.0.1:{scene.port}: bind: address already in use\n"
    assert capfd.readouterr() == ("", words)
    assert other.events == ["b start", "b stop"]
    other.will_make("c", OLD, "127.0.0.2")
    await other.server.start()  # its first address was given back
    await other.server.stop()


# Signals.


@pytest.mark.parametrize(
    "number, line",
    [
        (signal.SIGTERM, "[INFO] SIGTERM: Shutting down servers then terminating"),
        (signal.SIGINT, "[INFO] SIGINT: Shutting down"),
    ],
)
async def test_a_signal_ends_it_in_order(scene: Scene, number: signal.Signals, line: str, log_lines: list[str]) -> None:
    scene.will_make("a")
    running = asyncio.ensure_future(scene.server.run())
    await until_started(scene)
    os.kill(os.getpid(), number)
    assert await running == 0
    assert scene.events == STARTED + STOPPED
    assert log_lines == [line]


async def test_a_signal_while_it_starts_ends_it() -> None:
    scene = Scene(quiet=True)
    waiting = asyncio.Event()

    class Slow(Noted):
        async def start(self) -> None:
            waiting.set()
            await asyncio.get_running_loop().create_future()

    def make() -> Instance:
        instance = make_instance(scene.process, scene.events)
        return Instance(instance.blocks, [Slow(instance.blocks[0], "slow", scene.events)], {})

    scene.makes.append(make)
    running = asyncio.ensure_future(scene.server.run())
    await waiting.wait()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running == 0


async def test_queries_are_answered_during_lameduck_and_to_their_end(log_lines: list[str]) -> None:
    scene = Scene(quiet=True)
    gone = asyncio.Event()

    class Lame(Noted):
        async def lameduck(self) -> None:
            await gone.wait()

    def make() -> Instance:
        instance = make_instance(scene.process, [], "a", ("127.0.0.1", scene.port), records=OLD)
        return Instance(instance.blocks, [Lame(instance.blocks[0], "a", scene.events)], instance.listeners)

    scene.makes.append(make)
    running = asyncio.ensure_future(scene.server.run())
    await until_started(scene)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await scene.ask() == [OLD]
    assert await scene.ask() == [OLD]
    assert not running.done()
    gone.set()
    assert await running == 0


async def test_sigusr1_reloads_and_sighup_does_not(scene: Scene, log_lines: list[str]) -> None:
    scene.will_make("a")
    scene.will_make("b", NEW)
    running = asyncio.ensure_future(scene.server.run())
    await until_started(scene)
    os.kill(os.getpid(), signal.SIGHUP)
    assert await scene.ask() == [OLD]
    os.kill(os.getpid(), signal.SIGUSR2)
    os.kill(os.getpid(), signal.SIGUSR1)
    await until_started(scene, "b")
    assert await scene.ask() == [NEW]
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running == 0
    assert log_lines == [
        "[WARNING] SIGUSR2: upgrading in place is not supported",
        "[INFO] SIGUSR1: Reloading",
        "[INFO] Reloading",
        "[INFO] Reloading complete",
        "[INFO] SIGTERM: Shutting down servers then terminating",
    ]


async def test_a_fatal_error_ends_it_at_once_with_status_1(scene: Scene) -> None:
    scene.will_make("a")
    running = asyncio.ensure_future(scene.server.run())
    await until_started(scene)
    with UdpClient("127.0.0.1", scene.port) as client:
        client.send(packet())
        scene.process.fatal()
        assert await running == 1
        await settle()
        with pytest.raises(ConnectionRefusedError):
            await client.ask(packet())
    assert scene.events == [*STARTED, "a stop"]


async def test_what_stays_is_kept_from_the_garbage_collector(scene: Scene) -> None:
    """What a reload left over is not: it goes with the next collection, which the start leaves to it."""
    scene.will_make("a")
    scene.will_make("b")
    gc.disable()
    running = asyncio.ensure_future(scene.server.run())
    await until(lambda: gc.get_freeze_count() > 0)
    assert gc.isenabled()
    first = weakref.ref(scene.server.instance)
    vars(first())["itself"] = first()  # only a collection finds a cycle
    await scene.server.reload()
    assert (first(), gc.get_freeze_count() > 0) == (None, True)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running == 0


async def test_the_pidfile_is_there_while_it_runs(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "pid", quiet=True)
    scene.will_make("a")
    running = asyncio.ensure_future(scene.server.run())
    await until_started(scene)
    await settle()
    assert (tmp_path / "pid").read_text() == f"{os.getpid()}\n"
    os.kill(os.getpid(), signal.SIGTERM)
    await running
    assert not (tmp_path / "pid").exists()


async def test_a_pidfile_that_cannot_be_written_is_logged(tmp_path: Path, log_lines: list[str]) -> None:
    scene = Scene(tmp_path / "missing" / "pid", quiet=True)
    scene.will_make("a")
    await scene.server.start()
    assert log_lines[0].startswith("[ERROR] Could not write pidfile: ")
    await scene.server.stop()


# Reload.


async def test_a_reload_starts_the_new_before_it_stops_the_old(scene: Scene, log_lines: list[str]) -> None:
    scene.will_make("a")
    scene.will_make("b", NEW)
    await scene.server.start()
    assert scene.process.reload is not None
    assert await scene.process.reload()
    assert scene.events == [*STARTED, "b start", "b serving", "a stop"]
    assert await scene.ask() == [NEW]
    assert log_lines == ["[INFO] Reloading", "[INFO] Reloading complete"]


@pytest.mark.parametrize("fault", ["make", "start", "bind"])
async def test_a_reload_that_fails_leaves_the_old(scene: Scene, fault: str, log_lines: list[str]) -> None:
    scene.will_make("a")
    await scene.server.start()
    events: list[str] = []
    if fault == "make":
        scene.will_fail(ValueError("Corefile:3 - Syntax error"))
        why = "Corefile:3 - Syntax error"
    elif fault == "start":
        scene.will_make("b", NEW, broken=ValueError("no API"))
        why = "plugin/noted: no API"
    else:
        scene.will_make("b", NEW, "127.0.0.1", "192.0.2.77")
        why = f"Listen: listen tcp 192.0.2.77:{scene.port}: bind: cannot assign requested address"
        events = ["b start", "b stop"]
    assert not await scene.server.reload()
    assert scene.events == STARTED + events
    assert log_lines == ["[INFO] Reloading", f"[ERROR] Restart failed: {why}"]
    assert await scene.ask() == [OLD]
    assert b"coredns_reload_failed_total 1.0" in scene.process.metrics.exposition()
    assert b"coredns_reload_last_successful 0.0" in scene.process.metrics.exposition()
    scene.will_make("c", NEW)
    assert await scene.server.reload()
    assert b"coredns_reload_last_successful 1.0" in scene.process.metrics.exposition()


async def test_there_is_no_reload_without_a_start(scene: Scene, log_lines: list[str]) -> None:
    assert not await scene.server.reload()
    scene.will_make("a")
    await scene.server.start()
    await scene.server.stop()
    assert not await scene.server.reload()
    assert log_lines == []


async def test_no_datagram_is_lost_by_a_reload(scene: Scene) -> None:
    scene.will_make("a")
    await scene.server.start()
    with UdpClient("127.0.0.1", scene.port) as client:
        for ident in range(200):
            client.send(packet(ident=ident))
            if ident % 40 == 0:
                scene.will_make(f"b{ident}", NEW)
                assert await scene.server.reload()
        assert {parse(await client.receive()).id for _ in range(200)} == set(range(200))


async def test_a_connection_survives_a_reload(scene: Scene) -> None:
    scene.will_make("a")
    scene.will_make("b", NEW)
    await scene.server.start()
    async with await TcpClient.connect(scene.port) as client:
        assert texts(parse(await client.ask(packet())).answer) == [OLD]
        await scene.server.reload()
        assert texts(parse(await client.ask(packet())).answer) == [NEW]


@pytest.mark.parametrize(
    "before, after, gone",
    [
        (["127.0.0.1"], ["127.0.0.1", "127.0.0.2"], []),
        (["127.0.0.1", "127.0.0.2"], ["127.0.0.1"], ["127.0.0.2"]),
        ([""], ["127.0.0.1"], ["::1"]),
        (["127.0.0.1"], ["", "127.0.0.1"], []),
        (["127.0.0.1"], [""], []),
    ],
)
async def test_a_reload_may_change_the_addresses(
    scene: Scene, before: list[str], after: list[str], gone: list[str]
) -> None:
    scene.will_make("a", OLD, *before)
    scene.will_make("b", NEW, *after)
    await scene.server.start()
    assert await scene.server.reload()
    for host in after:
        assert await scene.ask(host or "::1") == [NEW]
    for host in gone:
        with pytest.raises(ConnectionRefusedError):
            await scene.ask(host)


async def test_reloads_come_one_after_the_other(scene: Scene) -> None:
    for label in "abc":
        scene.will_make(label)
    await scene.server.start()
    assert all(await asyncio.gather(scene.server.reload(), scene.server.reload()))
    assert scene.events == [*STARTED, "b start", "b serving", "a stop", "c start", "c serving", "b stop"]
