"""The tap of a Pod sandbox: notes each question a program asks there and relays it, octet for octet, to a server.

The sockets belong to the sandbox; the server is reached from outside it, at its real address. A whole server that is
dead or refuses everything is played here. Knows questions as they look on the wire, no resolver's rules.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from conformance.results import Heard
from conformance.servers.upstream import read_query
from conformance.wire.framing import frame, read_message
from conformance.wire.message import RCODES, type_name

RECEIVE = 65535
RD, RA, QR = 0x0100, 0x0080, 0x8000

Address = tuple[str, int]

COOKIE = re.compile(r"(\+opt=10):\w+")
"""A cookie, which is another one each time (RFC 7873)."""

DROP = "DROP"
"""In place of an rcode: no reply at all."""


@dataclass
class Recording:
    """What one program asked, in order.

    `rcode`, SERVFAIL, REFUSED or `DROP`, is what every question gets in place of the server's own reply; those below
    the zone `lost` do not get through to it. `words` are the questions with flags and OPT, as `upstream.read_query`
    words them; `slowest` is the longest time in milliseconds that a reply took.
    """

    server: Address
    rcode: str = ""
    lost: str = ""
    asked: list[Heard] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    slowest: float = 0.0
    started: float = field(default_factory=time.monotonic)

    def milliseconds(self) -> float:
        """Since the recording began."""
        return (time.monotonic() - self.started) * 1000

    def note(self, packet: bytes, transport: str) -> Heard:
        """Notes a question. A name that cannot be read ends in two dots: musl before 1.2.4 sends such a one."""
        try:
            query = read_query(packet, transport)
            heard = Heard(self.milliseconds(), query.name, query.qtype, transport)
            self.words.append(query.words)
        except (struct.error, ValueError, IndexError):
            name, end = readable(packet)
            qtype = type_name(int.from_bytes(packet[end + 1 : end + 3], "big"))
            heard = Heard(self.milliseconds(), f"{name}.", qtype, transport)
        self.asked.append(heard)
        return heard

    def fate(self, heard: Heard) -> str:
        """What becomes of a question: empty, it goes to the server."""
        return self.rcode or (DROP if self.lost and heard.name.lower().endswith(f".{self.lost}") else "")

    def answered(self, heard: Heard) -> None:
        """Notes that a question has its reply."""
        self.slowest = max(self.slowest, self.milliseconds() - heard.milliseconds)


def manner(words: str) -> str:
    """The flags and options of a question in `Recording.words`, as `+rd +edns=1232`; a cookie without its octets."""
    return COOKIE.sub(r"\1", words.split(" ", 4)[-1])


def readable(packet: bytes) -> tuple[str, int]:
    """The labels of a question's name as far as they lie within the packet, and the offset behind them."""
    name, offset = "", 12
    while offset < len(packet) and packet[offset] and offset + packet[offset] < len(packet) - 4:
        name += packet[offset + 1 : offset + 1 + packet[offset]].decode(errors="replace") + "."
        offset += 1 + packet[offset]
    return name, offset


def refusal(packet: bytes, rcode: str) -> bytes:
    """A reply without records to a query (RFC 1035 section 4.1.1): its ID, RD and question, and RA."""
    ident, bits = struct.unpack_from("!HH", packet)
    header = struct.pack("!6H", ident, QR | bits & RD | RA | RCODES.index(rcode), 1, 0, 0, 0)
    return header + read_query(packet, "udp").question


class Tap:
    """Serves the sockets of one sandbox while the block lasts; `record` says where to, from then on."""

    def __init__(self, sockets: Sequence[socket.socket]) -> None:
        self._datagrams = [sock for sock in sockets if sock.type == socket.SOCK_DGRAM]
        self._streams = [sock for sock in sockets if sock.type == socket.SOCK_STREAM]
        self._recording: Recording | None = None
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        for sock in self._datagrams:
            asyncio.get_running_loop().add_reader(sock, self._read, sock)
        for sock in self._streams:
            self._servers.append(await asyncio.start_server(self._accept, sock=sock))
        return self

    async def __aexit__(self, *_: object) -> None:
        for sock in self._datagrams:
            asyncio.get_running_loop().remove_reader(sock)
        for server in self._servers:
            server.close()
        await self._drop_tasks()

    async def record(self, recording: Recording) -> None:
        """From now on questions are noted here and go to this recording's server; what is still open is dropped."""
        self.catch_up()
        await self._drop_tasks()
        self._recording = recording

    def catch_up(self) -> None:
        """Takes the datagrams that are there already: all that was sent before now is noted."""
        for sock in self._datagrams:
            self._read(sock)

    async def _drop_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _read(self, sock: socket.socket) -> None:
        """Empties a socket: more than one datagram may wait."""
        with suppress(BlockingIOError, ConnectionError):
            while True:
                packet, client = sock.recvfrom(RECEIVE)
                if self._recording:
                    heard = self._recording.note(packet, "udp")
                    self._spawn(_relay_datagram(self._recording, packet, heard, sock, client))

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._recording:
            self._spawn(_relay_stream(self._recording, reader, writer))
        else:
            writer.close()


async def _relay_datagram(
    recording: Recording, packet: bytes, heard: Heard, sock: socket.socket, client: Address
) -> None:
    """One query; whatever the server sends to it, until this is cancelled."""
    if fate := recording.fate(heard):
        if fate != DROP:
            sock.sendto(refusal(packet, fate), client)
        return
    loop = asyncio.get_running_loop()
    with socket.socket(_family(recording.server), socket.SOCK_DGRAM) as outside, suppress(ConnectionError):
        outside.setblocking(False)
        await loop.sock_connect(outside, recording.server)
        await loop.sock_sendall(outside, packet)
        while True:
            reply = await loop.sock_recv(outside, RECEIVE)
            recording.answered(heard)
            with suppress(BlockingIOError):  # a client that does not read loses datagrams, as on any network
                sock.sendto(reply, client)
            await asyncio.sleep(0)  # a server that floods must leave the others their turns


def _family(server: Address) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in server[0] else socket.AF_INET


async def _relay_stream(recording: Recording, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, until either side closes it."""
    try:
        from_server, to_server = await asyncio.open_connection(*recording.server)
        back = asyncio.create_task(_copy(from_server, writer))
        try:
            await _pass_stream(recording, reader, to_server, writer)
        finally:
            back.cancel()
            to_server.close()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _pass_stream(
    recording: Recording, reader: asyncio.StreamReader, to_server: asyncio.StreamWriter, to_client: asyncio.StreamWriter
) -> None:
    while True:
        query = await read_message(reader)
        heard = recording.note(query, "tcp")
        fate = recording.fate(heard)
        if not fate:
            to_server.write(frame(query))
        elif fate != DROP:
            to_client.write(frame(refusal(query, fate)))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(RECEIVE):
            writer.write(data)
    writer.close()
