"""The server as a process, and what a reload reads anew."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns.message import parse
from pydns.serve import Configuration, Options
from pydns.version import version_lines
from tests.server.parts import UdpClient, free_port, in_time, make_process, packet


@asynccontextmanager
async def started(
    *words: str, directory: Path, stdout: int = asyncio.subprocess.PIPE
) -> AsyncIterator[asyncio.subprocess.Process]:
    """``pydns`` with these words, in ``directory``."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pydns", *words, cwd=directory, stdout=stdout,
        stderr=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    line = await in_time(process.stdout.readline())
    assert line, "it has ended"
    return line.decode().rstrip("\n")


async def output_of(process: asyncio.subprocess.Process) -> tuple[str, str]:
    out, err = await asyncio.wait_for(process.communicate(), 10)
    return (out or b"").decode(), err.decode()


def corefile(directory: Path, text: str) -> Path:
    path = directory / "Corefile"
    path.write_text(text)
    return path


async def test_it_says_what_it_serves_and_answers_until_sigterm(tmp_path: Path) -> None:
    port = free_port()
    corefile(tmp_path, f".:{port} {{\n    bind 127.0.0.1\n    whoami\n}}\n")
    async with started(directory=tmp_path) as process:
        assert [await line_of(process) for _ in range(3)] == [f".:{port} on 127.0.0.1", *version_lines()]
        with UdpClient("127.0.0.1", port) as client:
            assert parse(await client.ask(packet())).additional
        process.send_signal(signal.SIGTERM)
        assert await output_of(process) == ("[INFO] SIGTERM: Shutting down servers then terminating\n", "")
        assert process.returncode == 0


@pytest.mark.parametrize(
    "first, second, lines, status",
    [
        (signal.SIGQUIT, None, ["[INFO] SIGQUIT: Quitting process immediately"], 0),
        (
            signal.SIGINT,
            signal.SIGINT,
            [
                "[INFO] SIGINT: Shutting down",
                "[INFO] plugin/health: Going into lameduck mode for 1m0s",
                "[INFO] SIGINT: Force quit",
            ],
            2,
        ),
    ],
)
async def test_some_signals_do_not_wait(
    tmp_path: Path, first: signal.Signals, second: signal.Signals | None, lines: list[str], status: int
) -> None:
    port, health = free_port(), free_port()
    text = f".:{port} {{\n    bind 127.0.0.1\n    health 127.0.0.1:{health} {{\n        lameduck 1m\n    }}\n}}\n"
    corefile(tmp_path, text)
    async with started("-pidfile", "pid", "-conf", "Corefile", directory=tmp_path) as process:
        for _ in range(3):
            await line_of(process)
        process.send_signal(first)
        written = [await line_of(process) for _ in lines[:-1]]
        if second is not None:
            process.send_signal(second)
        out, err = await output_of(process)
        assert [*written, *out.splitlines()] == lines
        assert (err, process.returncode, (tmp_path / "pid").exists()) == ("", status, False)


@pytest.mark.parametrize(
    "text, error",
    [
        (". {\nwhoamy\n}\n", "Corefile:2 - Error during parsing: Unknown directive 'whoamy' (did you mean 'whoami'?)"),
        (
            ". {\nwhoamy\nrewrite\n}\n",
            "Corefile:2 - Error during parsing: Unknown directive 'whoamy'"
            " (did you mean 'whoami'?; pydns check Corefile shows all 2 problems)",
        ),
        (None, "loading Caddyfile via flag: open Corefile: no such file or directory"),
    ],
)
async def test_what_is_wrong_is_one_line_and_status_1(tmp_path: Path, text: str | None, error: str) -> None:
    if text is not None:
        corefile(tmp_path, text)
    async with started("-conf", "Corefile", directory=tmp_path) as process:
        assert await output_of(process) == ("", f"{error}\n")
        assert process.returncode == 1


@pytest.mark.parametrize("value", ["off", "banana", "", "2", "00"])
async def test_the_packet_cache_is_on_or_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PYDNS_PACKET_CACHE", value)
    async with started("-dns.port", str(free_port()), directory=tmp_path) as process:
        error = f"environment variable PYDNS_PACKET_CACHE is '{value}'; 0 (off) and 1 (on) are known\n"
        assert await output_of(process) == ("", error)
        assert process.returncode == 1


async def test_a_forwarding_loop_is_one_line_and_status_1(tmp_path: Path) -> None:
    port = free_port()
    corefile(tmp_path, f".:{port} {{\n    bind 127.0.0.1\n    loop\n    forward . 127.0.0.1:{port}\n}}\n")
    async with started("-quiet", directory=tmp_path) as process:
        out, err = await output_of(process)
    assert (out.count("\n"), err, process.returncode) == (1, "", 1)
    assert out.startswith("[FATAL] plugin/loop: Loop (127.0.0.1:")


# What a reload reads.


def test_a_reload_reads_the_file_anew(tmp_path: Path) -> None:
    path = corefile(tmp_path, "a {\n}\n")
    configuration = Configuration(Options(conf=str(path)), make_process())
    assert configuration.make().blocks[0].zones == ("a.",)
    path.write_text("b {\n")
    with pytest.raises(CorefileError):
        configuration.make()
    path.write_text("b {\n}\n")
    assert configuration.make().blocks[0].zones == ("b.",)


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a {\n}\n"))
    configuration = Configuration(Options(conf="stdin"), make_process())
    for _ in range(2):
        assert configuration.make().blocks[0].zones == ("a.",)


@pytest.mark.parametrize(
    "value, remembers, lines",
    [
        (None, True, []),
        ("1", True, []),
        ("0", False, ["[INFO] PYDNS_PACKET_CACHE=0: every query passes the plugins"]),
    ],
)
def test_the_packet_cache_can_be_turned_off(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    log_lines: list[str],
    value: str | None,
    remembers: bool,
    lines: list[str],
) -> None:
    monkeypatch.delenv("PYDNS_PACKET_CACHE", raising=False)
    if value is not None:
        monkeypatch.setenv("PYDNS_PACKET_CACHE", value)
    path = corefile(tmp_path, "a {\n    whoami\n}\n")
    (listener,) = Configuration(Options(conf=str(path)), make_process()).make().listeners.values()
    assert (listener.cache("udp", 4) is not None) is remembers
    assert log_lines == lines


@pytest.mark.parametrize("text", [None, "", "# nothing\n"])
def test_without_a_corefile_there_is_the_built_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        corefile(tmp_path, text)
    (block,) = Configuration(Options(dns_port=1053), make_process()).make().blocks
    assert [str(key) for key in block.keys] == ["dns://.:1053"]
    assert list(block.plugins) == ["log", "whoami"]


def test_warnings_of_a_corefile_are_logged(tmp_path: Path, log_lines: list[str]) -> None:
    path = corefile(tmp_path, "a {\n}\n}\n")
    Configuration(Options(conf=str(path)), make_process()).make()
    assert log_lines == [f"[WARNING] {path}:3 - Warning: a '}}' without '{{' is taken as the zone '}}'"]


@pytest.mark.parametrize(
    ("text", "options", "lines"),
    [
        (
            "a {\n}\n",
            {"manifests": (Path("/nosuch"),)},
            ["[WARNING] --manifests is not used: no server block has kubernetes"],
        ),
        (
            "a {\n}\n",
            {"kubeconfig": Path("/nosuch")},
            ["[WARNING] --kubeconfig is not used: no server block has kubernetes"],
        ),
        ("a {\n}\n", {}, []),
        ("a {\n}\nb {\nkubernetes\n}\n", {"manifests": (Path("/nosuch"),)}, []),
    ],
)
def test_objects_that_nobody_serves(
    tmp_path: Path, text: str, options: dict[str, Any], lines: list[str], log_lines: list[str]
) -> None:
    Configuration(Options(conf=str(corefile(tmp_path, text)), **options), make_process()).make()
    assert log_lines == lines


async def test_queries_are_answered_when_nobody_reads_the_log_any_more(tmp_path: Path) -> None:
    port = free_port()
    corefile(tmp_path, f".:{port} {{\n    bind 127.0.0.1\n    log\n    whoami\n}}\n")
    readable, writable = os.pipe()
    async with started(directory=tmp_path, stdout=writable) as process:
        os.close(writable)
        while version_lines()[-1].encode() not in os.read(readable, 4096):
            pass
        os.close(readable)
        with UdpClient("127.0.0.1", port) as client:
            for ident in range(2):
                assert parse(await client.ask(packet(ident=ident))).id == ident
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 10) == 0
        assert (await output_of(process))[1] == ""


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_no_file_gets_the_number_of_a_closed_standard_stream(stream: int) -> None:
    program = f"""
import os
from pydns.serve import open_standard_streams
os.close({stream})
open_standard_streams()
assert os.readlink("/proc/self/fd/{stream}") == "/dev/null"
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
