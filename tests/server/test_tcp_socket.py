"""Connections that come in numbers, go before they were taken, or find no file left."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import resource
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from pydns.dns.message import parse
from pydns.server import tcp_socket
from pydns.server.tcp_socket import ACCEPTS
from tests.server.parts import Running, TcpClient, framed, make_listener, packet, until


@contextmanager
def no_file_left() -> Iterator[None]:
    """The process may open no more files; what is open stays."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, before[1]))
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        assert error.errno == errno.EMFILE
    try:
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_process_without_files_says_so_once(
    host: str, log_lines: list[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tcp_socket, "RETRY", 0.0)
    loop = asyncio.get_running_loop()
    async with Running(make_listener(), host) as server:
        shown = f"[{host}]" if ":" in host else host
        line = f"[ERROR] TCP connections to {shown}:{server.port} wait: too many open files"
        for times in (1, 2):  # it says so again only after it was over
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as client:
                client.setblocking(False)
                with no_file_left():
                    await loop.sock_connect(client, (host, server.port))
                    await until(lambda: len(log_lines) == times)  # noqa: B023
                    await turns(100)
                    assert log_lines == [line] * times
                await loop.sock_sendall(client, framed(packet()))
                assert parse((await asyncio.wait_for(loop.sock_recv(client, 512), 10))[2:]).id == 4711
    assert caplog.messages == []


async def test_a_socket_that_was_stopped_while_it_waited_for_files_takes_nothing_more(
    log_lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tcp_socket, "RETRY", 0.0)
    async with Running(make_listener()) as server:
        (sock,) = server.endpoint._tcp
        with socket.socket() as client:
            with no_file_left():
                client.connect(("127.0.0.1", server.port))
                sock.accept()
                sock.stop()
            await turns(5)
            assert (len(log_lines), server.endpoint._connections.open) == (1, set())


async def test_a_turn_ends_after_some_connections() -> None:
    async with Running(make_listener()) as server:
        (sock,) = server.endpoint._tcp
        with ExitStack() as stack:
            for _ in range(ACCEPTS + 6):
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            sock.accept()
            assert len(sock._opening._running) == ACCEPTS
            await until(lambda: len(server.endpoint._connections.open) == ACCEPTS + 6)


async def test_clients_that_are_gone_before_they_were_taken_cost_nothing(
    log_lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with Running(make_listener()) as server:
        for _ in range(20):
            gone = socket.create_connection(("127.0.0.1", server.port))
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.close()
        async with await TcpClient.connect(server.port) as client:
            assert parse(await client.ask(packet())).id == 4711
        await until(lambda: not server.endpoint._connections.open)
    assert (log_lines, caplog.messages) == ([], [])


async def test_a_connection_that_the_loop_cannot_take_is_closed(
    log_lines: list[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the client has reset it, or the kernel has no room to watch it."""

    async def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with Running(make_listener()) as server:
        with monkeypatch.context() as patch:
            patch.setattr(asyncio.get_running_loop(), "connect_accepted_socket", fail)
            async with await TcpClient.connect(server.port) as refused:
                assert await refused.until_closed() == b""
        (listening,) = server.endpoint._tcp
        assert not listening._opening._running
        gc.collect()  # an exception that nobody took would be told now
        async with await TcpClient.connect(server.port) as client:
            assert parse(await client.ask(packet())).id == 4711
    assert (log_lines, caplog.messages) == ([], [])
