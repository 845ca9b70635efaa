"""The other side of a connection: a server on loopback whose connections follow scripts, and a certificate for it."""

import asyncio
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from tests.support import settle

NAME = "api.example.com"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"


class Act(Enum):
    """What a connection does apart from sending octets; after its script it ends."""

    READ = "a request"
    RESET = "by a RST"
    HANG = "until the other side ends it"


class To(NamedTuple):
    """Pass everything on to a port and back, as a proxy does."""

    port: int


Step = bytes | Act | To


class Peer:
    """`scripts` are for one connection each, in order; `requests` are the heads that came."""

    def __init__(self, scripts: Sequence[Sequence[Step]]) -> None:
        self._scripts = list(scripts)
        self.requests: list[str] = []
        self.connections = 0
        self.ended = asyncio.Event()
        """Whether the other side ended a connection that hangs."""
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self._tasks.append(asyncio.create_task(self._follow(self._scripts[self.connections], reader, writer)))
        self.connections += 1

    async def _follow(self, script: Sequence[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for step in script:
                await self._take(step, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            self.ended.set()
        writer.close()

    async def stop(self) -> None:
        """End every connection, whatever its script."""
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await settle()

    async def _take(self, step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif isinstance(step, To):
            await forward(step.port, reader, writer)
        elif step is Act.READ:
            self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
        elif step is Act.RESET:
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        else:
            await reader.read()
            self.ended.set()


async def forward(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
    finally:
        far_writer.transport.abort()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
    writer.close()


@asynccontextmanager
async def peer(
    *scripts: Sequence[Step], tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Peer]:
    one = Peer(scripts)
    server = await asyncio.start_server(one.serve, host, 0, ssl=tls)
    one.port = server.sockets[0].getsockname()[1]
    yield one
    server.close()
    await one.stop()


class Pair(NamedTuple):
    """The files of a certificate for `NAME` alone and of its key."""

    certificate: Path
    key: Path


def make_pair(folder: Path) -> Pair:
    pair = Pair(folder / "cert.pem", folder / "key.pem")
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-subj", "/CN=x", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(pair.key)]
    subprocess.run([*words, "-out", str(pair.certificate)], check=True, capture_output=True)
    return pair


def shown(pair: Pair) -> ssl.SSLContext:
    """Shows the certificate."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*pair)
    return server


def mutual(pair: Pair) -> ssl.SSLContext:
    """Shows the certificate, and wants to see it."""
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=pair.certificate)
    server.load_cert_chain(*pair)
    server.verify_mode = ssl.CERT_REQUIRED
    return server
