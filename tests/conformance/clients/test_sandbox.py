"""Pod sandboxes: what a program sees there, and that nothing is left over or touched."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conformance.clients import sandbox
from conformance.clients.sandbox import Sandbox, open_sandbox
from conformance.setting import Skipped

OWN_FILES = [Path(f"/etc/{name}") for name in ("resolv.conf", "hosts", "nsswitch.conf", "hostname")]


@pytest.fixture
async def pod() -> AsyncIterator[Sandbox]:
    try:
        async with open_sandbox() as opened:
            yield opened
    except Skipped as reason:
        pytest.skip(str(reason))


async def said(pod: Sandbox, *argv: str, conf: str = "") -> str:
    ran = await pod.run(argv, conf, 10)
    assert ran.status == 0, ran.errors
    return ran.output


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["hostname"], ["client"]),
        (["cat", "/etc/resolv.conf"], ["nameserver", "10.96.0.10"]),
        (["getent", "hosts", "client"], ["fd00:10:244:1::17", "client"]),
        (["grep", "hosts:", "/etc/nsswitch.conf"], ["hosts:", "files", "dns"]),
        (["sh", "-c", "echo ${RES_OPTIONS-none} $$"], ["none"]),
    ],
)
async def test_what_a_program_sees(
    pod: Sandbox, argv: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RES_OPTIONS", "ndots:9")
    assert (await said(pod, *argv, conf="nameserver 10.96.0.10\n")).split()[: len(words)] == words


async def test_the_addresses(pod: Sandbox) -> None:
    words = (await said(pod, "ip", "-brief", "address")).split()
    wanted = {"10.96.0.10/32", "192.0.2.53/32", "10.244.1.17/32", "fd00:10:244:1::17/128"}
    assert (words[0], wanted - set(words)) == ("lo", set())


async def test_the_sockets_are_where_the_resolv_conf_says(pod: Sandbox) -> None:
    places = [(sock.getsockname(), sock.type) for sock in pod.sockets]
    assert places == [
        (("10.96.0.10", 53), socket.SOCK_DGRAM),
        (("10.96.0.10", 53), socket.SOCK_STREAM),
        (("192.0.2.53", 53), socket.SOCK_DGRAM),
        (("192.0.2.53", 53), socket.SOCK_STREAM),
    ]


async def test_each_run_has_its_own_file(pod: Sandbox) -> None:
    for text in ("nameserver 10.96.0.10\noptions ndots:5\n", "nameserver 192.0.2.53\n"):
        assert await said(pod, "cat", "/etc/resolv.conf", conf=text) == text


async def test_the_machine_keeps_its_files() -> None:
    before = [path.read_bytes() for path in OWN_FILES if path.exists()]
    name = socket.gethostname()
    try:
        async with open_sandbox() as pod:
            await said(pod, "true", conf="nameserver 10.96.0.10\n")
    except Skipped as reason:
        pytest.skip(str(reason))
    assert [path.read_bytes() for path in OWN_FILES if path.exists()] == before
    assert socket.gethostname() == name


async def test_a_program_that_hangs_is_killed(pod: Sandbox) -> None:
    ran = await pod.run(["sleep", "60"], "", 0.1)
    assert (ran.status, await said(pod, "echo", "next")) == (-signal.SIGKILL, "next\n")


async def test_a_new_program_ends_the_one_before(pod: Sandbox) -> None:
    hanging = asyncio.create_task(pod.run(["sleep", "60.25"], "", 60))
    await asyncio.sleep(0)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert await said(pod, "sh", "-c", "ps -e -o args | grep -c '^sleep 60[.]25$' || true") == "0\n"


async def test_a_program_that_is_not_there_is_told(pod: Sandbox) -> None:
    ran = await pod.run(["/nosuch"], "", 1)
    assert (ran.status, ran.errors) == (127, "[Errno 2] No such file or directory: '/nosuch'")


async def test_where_no_namespaces_are_allowed_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "NAMESPACES", ("--net", "--setgroups", "sideways"))
    with pytest.raises(Skipped, match=r"^no Pod sandboxes on this machine: unshare: .*sideways"):
        async with open_sandbox():
            pass


async def test_without_unshare_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nosuch")
    with pytest.raises(Skipped, match="there is no `unshare`"):
        async with open_sandbox():
            pass


OPENER = """
import asyncio
from conformance.clients.sandbox import open_sandbox
from conformance.setting import Skipped

async def main():
    async with open_sandbox() as pod:
        hanging = asyncio.create_task(pod.run(["sleep", "61.5"], "", 60))
        while not (found := await process()):
            await asyncio.sleep(0.01)
        print(found, flush=True)
        await hanging

async def process():
    find = await asyncio.create_subprocess_exec("pgrep", "-f", "^sleep 61.5$", stdout=asyncio.subprocess.PIPE)
    return (await find.communicate())[0].decode().strip()

try:
    asyncio.run(main())
except Skipped as reason:
    print(reason)
"""
"""Opens a sandbox, starts a program that hangs there, prints its process id and waits; or prints why it cannot."""


def test_nothing_is_left_when_the_suite_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", OPENER], stdout=subprocess.PIPE, cwd=sandbox.ROOT) as opener:
        assert opener.stdout
        said = opener.stdout.readline().decode().strip()
        if not said.isdigit():
            pytest.skip(said)
        hanging = os.pidfd_open(int(said))
        opener.kill()
        assert select.select([hanging], [], [], 5)[0]
        os.close(hanging)
