"""The servers as processes: what they print, how they end, what signals do.  The same tests hold for both."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from conformance.servers import subjects
from conformance.servers.ports import free_port
from conformance.tools.build import built
from conformance.wire.client import ask
from conformance.wire.question import Question, parse_question

pytestmark = pytest.mark.parametrize(
    "subject",
    [pytest.param("coredns", marks=pytest.mark.skipif(not built("coredns"), reason="CoreDNS is not built")), "pydns"],
)

QUESTION = parse_question("a.test. A +timeout=1", ".")


def machine_lines(output: str) -> list[str]:
    """What was printed, less a line of Go's own."""
    return [line for line in output.splitlines() if not line.startswith("maxprocs:")]


async def run(subject: str, words: Sequence[str], folder: Path) -> tuple[int, list[str], list[str]]:
    """A command that ends by itself: its status, and the lines of standard output and standard error."""
    process = await asyncio.create_subprocess_exec(
        *subjects.command(subject),
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    output, errors = await process.communicate()
    return process.returncode or 0, machine_lines(output.decode()), machine_lines(errors.decode())


@asynccontextmanager
async def running(subject: str, text: str, port: int, folder: Path) -> AsyncIterator[subjects.Running]:
    (folder / "Corefile").write_text(text)
    async with subjects.start(subject, folder / "Corefile", port) as server:
        yield server


async def until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Waits until something holds; fails when it never does."""
    for _ in range(int(seconds * 50)):
        if holds():
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"still not so after {seconds} s")


async def logged(server: subjects.Running, text: str) -> None:
    await until(lambda: text in server.log.read_text())


async def ended(server: subjects.Running) -> None:
    await until(lambda: not Path(f"/proc/{server.pid}").exists())


async def answers(question: Question, port: int) -> bool:
    return await ask(question, port) is not None


async def test_what_it_prints_at_the_start(subject: str, tmp_path: Path) -> None:
    one, two = free_port(), free_port()
    corefile = f".:{one} example.org:{one} {{\nbind 127.0.0.1 ::1\nwhoami\n}}\ntest:{two} {{\nwhoami\n}}\n"
    async with running(subject, corefile, one, tmp_path) as server:
        pass
    lines = machine_lines(server.log.read_text())
    assert sorted(lines[:5]) == sorted(
        [
            f".:{one} on 127.0.0.1",
            f".:{one} on ::1",
            f"example.org.:{one} on 127.0.0.1",
            f"example.org.:{one} on ::1",
            f"test.:{two}",
        ]
    )
    assert lines[5].lower().startswith(f"{subject}-")
    assert lines[6].startswith("linux/")
    assert lines[7:] == ["[INFO] SIGTERM: Shutting down servers then terminating"]


async def test_version(subject: str, tmp_path: Path) -> None:
    status, output, errors = await run(subject, ["-version"], tmp_path)
    assert (status, len(output), errors) == (0, 2, [])
    assert output[0].lower().startswith(f"{subject}-")


async def test_plugins(subject: str, tmp_path: Path) -> None:
    status, output, _ = await run(subject, ["-plugins"], tmp_path)
    assert status == 0
    assert {"any", "cache", "forward", "kubernetes", "whoami"} <= set(output)


async def test_a_further_argument(subject: str, tmp_path: Path) -> None:
    status, output, errors = await run(subject, ["-conf", "Corefile", "more"], tmp_path)
    assert (status, output) == (1, [])
    assert errors[0].endswith("extra command line arguments: [more]")


async def test_no_such_flag(subject: str, tmp_path: Path) -> None:
    status, output, errors = await run(subject, ["-nosuch"], tmp_path)
    assert (status, output, bool(errors)) == (2, [], True)


async def test_no_such_corefile(subject: str, tmp_path: Path) -> None:
    status, output, errors = await run(subject, ["-conf", "nosuch"], tmp_path)
    assert status == 1
    assert output + errors == ["loading Caddyfile via flag: open nosuch: no such file or directory"]


async def test_a_port_in_use(subject: str, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        (tmp_path / "Corefile").write_text(f".:{port} {{\nbind 127.0.0.1\nwhoami\n}}\n")
        status, output, errors = await run(subject, ["-conf", "Corefile"], tmp_path)
    assert status == 1
    assert output + errors == [f"Listen: listen tcp 127.0.0.1:{port}: bind: address already in use"]


async def test_the_default_port(subject: str, tmp_path: Path) -> None:
    port, written = free_port(), free_port()
    (tmp_path / "Corefile").write_text(f". {{\nwhoami\n}}\ntest:{written} {{\nwhoami\n}}\n")
    async with subjects.start(subject, tmp_path / "Corefile", port, words=["-dns.port", str(port)]) as server:
        assert await answers(QUESTION, written)
    assert f".:{port}" in server.log.read_text()


async def test_quiet(subject: str, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "Corefile").write_text(f".:{port} {{\nwhoami\n}}\n")
    async with subjects.start(subject, tmp_path / "Corefile", port, words=["-quiet"]) as server:
        assert machine_lines(server.log.read_text()) == []


async def test_pidfile(subject: str, tmp_path: Path) -> None:
    port, pidfile = free_port(), tmp_path / "pid"
    (tmp_path / "Corefile").write_text(f".:{port} {{\nwhoami\n}}\n")
    async with subjects.start(subject, tmp_path / "Corefile", port, words=["-pidfile", str(pidfile)]) as server:
        await until(pidfile.exists)
        assert int(pidfile.read_text()) == server.pid
    assert not pidfile.exists()


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (signal.SIGTERM, "[INFO] SIGTERM: Shutting down servers then terminating"),
        (signal.SIGINT, "[INFO] SIGINT: Shutting down"),
        (signal.SIGQUIT, "[INFO] SIGQUIT: Quitting process immediately"),
    ],
)
async def test_signals_that_end_it(subject: str, number: int, line: str, tmp_path: Path) -> None:
    port = free_port()
    async with running(subject, f".:{port} {{\nwhoami\n}}\n", port, tmp_path) as server:
        os.kill(server.pid, number)
        await ended(server)
        assert server.log.read_text().splitlines()[-1] == line


async def test_sighup_changes_nothing(subject: str, tmp_path: Path) -> None:
    port = free_port()
    async with running(subject, f".:{port} {{\nwhoami\n}}\n", port, tmp_path) as server:
        os.kill(server.pid, signal.SIGHUP)
        assert await answers(QUESTION, port)


async def test_lameduck_answers_until_it_is_over(subject: str, tmp_path: Path) -> None:
    port, page = free_port(), free_port()
    corefile = f".:{port} {{\nhealth 127.0.0.1:{page} {{\nlameduck 1s\n}}\nwhoami\n}}\n"
    async with running(subject, corefile, port, tmp_path) as server:
        os.kill(server.pid, signal.SIGTERM)
        await logged(server, "lameduck mode for 1s")
        assert await answers(QUESTION, port)
        await ended(server)


async def test_sigusr1_reloads(subject: str, tmp_path: Path) -> None:
    port, more = free_port(), free_port()
    block = "{}:{} {{\nhosts {{\n192.0.2.1 a.test\n}}\n}}\n"
    async with running(subject, block.format(".", port), port, tmp_path) as server:
        (tmp_path / "Corefile").write_text(block.format(".", port) + block.format("test", more))
        os.kill(server.pid, signal.SIGUSR1)
        await logged(server, "Reloading complete")
        assert await answers(QUESTION, port)
        assert await answers(QUESTION, more)


async def test_a_broken_corefile_keeps_the_old_one(subject: str, tmp_path: Path) -> None:
    port = free_port()
    async with running(subject, f".:{port} {{\nwhoami\n}}\n", port, tmp_path) as server:
        (tmp_path / "Corefile").write_text(f".:{port} {{\nnosuch\n}}\n")
        os.kill(server.pid, signal.SIGUSR1)
        await logged(server, "[ERROR] Restart failed:")
        assert await answers(QUESTION, port)
