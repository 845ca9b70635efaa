"""Parts of a running server for tests: chains without plugins, listeners, clients that speak octets."""

from __future__ import annotations

import asyncio
import math
import random
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydns.dns import Flag, Message, Question
from pydns.dns.message import RR, pack
from pydns.dns.replay import Replay
from pydns.dns.types import type_number
from pydns.http import HttpListeners
from pydns.metrics import Metrics
from pydns.plugin import Process, Settings
from pydns.query import Query, Serve
from pydns.server.dispatch import Chain, Dispatcher
from pydns.server.endpoint import Endpoint
from pydns.server.listener import Listener
from tests.support import Clock, answer

ADDRESS_RECORD = "example.org. 5 IN A 192.0.2.1"
LABEL = "dns://:53"


def make_process(clock: Callable[[], float] | None = None) -> Process:
    clock = clock or Clock()
    return Process(metrics=Metrics(), http=HttpListeners(), clock=clock, wall=clock, random=random.Random(1))


def make_dispatcher(
    zones: Mapping[str, Chain | Serve | None] | None = None, *, process: Process | None = None, **more: Any
) -> Dispatcher:
    """A dispatcher with these chains by zone; a bare coroutine function is a chain that may be replayed."""
    given: Mapping[str, Chain | Serve | None] = {".": answer(ADDRESS_RECORD)} if zones is None else zones
    chains = {
        zone: chain if isinstance(chain, Chain) else Chain(chain, replay_safe=True) for zone, chain in given.items()
    }
    return Dispatcher(LABEL, process or make_process(), chains, **more)


def make_listener(chain: Serve | None = None, *, remember: bool = True, **more: Any) -> Listener:
    settings = more.pop("settings", None) or Settings()
    process = more.pop("process", None)
    zones = {".": chain or answer(ADDRESS_RECORD)}
    return Listener(make_dispatcher(zones, process=process, settings=settings), remember=remember, **more)


def packet(question: str = "example.org. A", *, ident: int = 4711, flags: int = Flag.RD, **more: Any) -> bytes:
    """A query for ``"name. TYPE"``; ``edns``, ``cls`` and whatever else a Message has."""
    name, qtype = question.split()
    cls = more.pop("cls", 1)
    return pack(Message(ident, flags, question=Question(name, type_number(qtype), cls), **more))


def large(size: int) -> Serve:
    """A chain end whose replies have ``size`` address records: 29 octets of header and question, 16 for each."""
    records = tuple(RR("example.org.", 1, 5, number.to_bytes(4, "big")) for number in range(size))

    async def serve(query: Query) -> Message:
        return query.reply(answer=records)._replace(replay=Replay(math.inf))

    return serve


class Gate:
    """A chain end that answers when it is told to, or at once where the name starts with ``quick``."""

    def __init__(self) -> None:
        self.waiting: dict[str, asyncio.Future[None]] = {}
        self.arrived = asyncio.Event()

    async def __call__(self, query: Query) -> Message:
        if not query.name.startswith("quick"):
            self.waiting[query.name] = future = asyncio.get_running_loop().create_future()
            self.arrived.set()
            await future
        return query.reply(flags=Flag.AA)

    async def until_waiting(self, number: int) -> None:
        while len(self.waiting) < number:
            self.arrived.clear()
            await self.arrived.wait()

    def open(self, name: str) -> None:
        self.waiting.pop(name).set_result(None)

    def open_all(self) -> None:
        for name in list(self.waiting):
            self.open(name)


def free_port(host: str = "127.0.0.1") -> int:
    """A port that is free for UDP and TCP on the wildcard, in a range that the kernel gives to nobody by itself."""
    for port in random.sample(range(20000, 30000), 200):
        try:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                with socket.socket(socket.AF_INET6, kind) as sock:
                    sock.bind(("::", port))
        except OSError:
            continue
        return port
    raise OSError("no free port")


class Running:
    """An endpoint that serves, as an asynchronous context manager."""

    def __init__(self, listener: Listener, host: str = "127.0.0.1", **more: Any) -> None:
        self.endpoint = Endpoint((host, free_port()), listener, **more)
        self.port = self.endpoint.address[1]

    async def __aenter__(self) -> Running:
        self.endpoint.bind()
        self.endpoint.serve()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.endpoint.stop()
        await self.endpoint.listener.finish()
        self.endpoint.close()
        await asyncio.sleep(0)  # transports close in the next iteration


class UdpClient:
    """A socket connected to one address: replies from another one do not arrive."""

    def __init__(self, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.sock = socket.socket(family, socket.SOCK_DGRAM)
        self.sock.setblocking(False)
        self.sock.connect((host, port))

    def __enter__(self) -> UdpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, data: bytes) -> None:
        self.sock.send(data)

    async def receive(self) -> bytes:
        return await in_time(asyncio.get_running_loop().sock_recv(self.sock, 65535))

    async def ask(self, data: bytes) -> bytes:
        self.send(data)
        return await self.receive()


class TcpClient:
    """A connection that frames messages."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, port: int, host: str = "127.0.0.1", **more: Any) -> TcpClient:
        return cls(*await asyncio.open_connection(host, port, **more))

    async def __aenter__(self) -> TcpClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except ConnectionError:
            pass  # cut by the server, as some tests want it

    def reset(self) -> None:
        """Close with RST."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def send(self, *messages: bytes) -> None:
        self.writer.write(b"".join(framed(message) for message in messages))

    async def receive(self) -> bytes:
        length = int.from_bytes(await in_time(self.reader.readexactly(2)), "big")
        return await in_time(self.reader.readexactly(length))

    async def ask(self, data: bytes) -> bytes:
        self.send(data)
        return await self.receive()

    async def until_closed(self) -> bytes:
        """What arrives up to the end of the connection."""
        received = bytearray()
        try:
            while chunk := await in_time(self.reader.read(65536)):
                received += chunk
        except ConnectionResetError:
            pass
        return bytes(received)


@asynccontextmanager
async def connected(
    listener: Listener, host: str = "127.0.0.1", bound: bool = True, **more: Any
) -> AsyncIterator[tuple[Running, TcpClient]]:
    """A server, ``bound`` to ``host`` or to the wildcard, and one client of it."""
    async with (
        Running(listener, host if bound else "", **more) as server,
        await TcpClient.connect(server.port, host) as client,
    ):
        yield server, client


async def until(condition: Callable[[], bool]) -> None:
    """Let everything run until ``condition`` holds."""
    while not condition():  # noqa: ASYNC110  the tests have no event for it, and need none
        await asyncio.sleep(0)


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(2, "big") + message


async def in_time(awaitable: Awaitable[bytes]) -> bytes:
    """Fail instead of hanging."""
    return await asyncio.wait_for(awaitable, 10)
