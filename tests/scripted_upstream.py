"""An upstream on loopback, UDP and TCP on one port, that says what a test tells it to say."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import cast

from pydns.address import Address
from pydns.dns.message import Message, pack, parse
from pydns.dns.types import Flag
from tests.support import sections, settle

Script = Callable[[Message, str], Sequence[Message | bytes]]


def reply_to(query: Message, *, rcode: int = 0, flags: int = 0) -> Message:
    """A reply without records."""
    return query._replace(flags=query.flags | Flag.QR | Flag.RA | flags, rcode=rcode)


def silent(query: Message, transport: str) -> Sequence[Message]:
    """An upstream that hears and says nothing."""
    return ()


def saying(*records: str, rcode: int = 0, flags: int = 0) -> Script:
    """Always a reply with these records, as `tests.support.sections` takes them."""
    parts = sections(*records)

    def script(query: Message, transport: str) -> Sequence[Message]:
        return (reply_to(query, rcode=rcode, flags=flags)._replace(**parts),)

    return script


class ScriptedUpstream(asyncio.DatagramProtocol):
    """``script`` gives what is sent for a query, one after the other; nothing for silence.

    ``asked`` has (transport, query), ``hosts`` and ``ports`` the source of each; ``late`` sends something for an old
    query.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[tuple[str, Message]] = []
        self.hosts: list[str] = []
        self.ports: list[int] = []
        self.connections: list[asyncio.StreamWriter] = []
        self.address = Address("", 0)
        self._came = asyncio.Event()
        self._senders: list[Callable[[bytes], None]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._udp = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._answer(data, "udp", addr, lambda octets: self._udp.sendto(octets, addr))

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        peer = writer.get_extra_info("peername")
        try:
            while True:
                data = await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
                self._answer(data, "tcp", peer, lambda octets: writer.write(len(octets).to_bytes(2, "big") + octets))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def late(self, reply: Message | bytes, position: int = -1) -> None:
        """Send ``reply`` to whoever asked the query at ``position``."""
        self._senders[position](_octets(reply))

    async def heard(self, count: int) -> None:
        """Wait until ``count`` queries have come."""
        while len(self.asked) < count:
            self._came.clear()
            await self._came.wait()

    def hang_up(self) -> None:
        """Close all connections."""
        for writer in self.connections:
            writer.close()
        self.connections.clear()

    def _answer(self, data: bytes, transport: str, peer: tuple[str, int], send: Callable[[bytes], None]) -> None:
        query = parse(data)
        self.asked.append((transport, query))
        self.hosts.append(peer[0])
        self.ports.append(peer[1])
        self._senders.append(send)
        self._came.set()
        for reply in self.script(query, transport):
            send(_octets(reply))


def _octets(reply: Message | bytes) -> bytes:
    return pack(reply) if isinstance(reply, Message) else reply


@asynccontextmanager
async def scripted_upstream(script: Script, port: int = 0) -> AsyncIterator[ScriptedUpstream]:
    """An upstream that listens until the block ends."""
    upstream = ScriptedUpstream(script)
    server, udp = await _listen(upstream, port)
    try:
        yield upstream
    finally:
        upstream.hang_up()
        server.close()
        await server.wait_closed()
        udp.close()
        await settle()


async def _listen(upstream: ScriptedUpstream, port: int) -> tuple[asyncio.Server, asyncio.DatagramTransport]:
    """Sockets of both transports with one port; another is tried where somebody has it for UDP."""
    while True:
        server = await asyncio.start_server(upstream.connected, "127.0.0.1", port)
        upstream.address = Address(*server.sockets[0].getsockname())
        try:
            udp, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                lambda: upstream, local_addr=upstream.address
            )
            return server, udp
        except OSError:
            server.close()
            await server.wait_closed()
            if port:
                raise


def closed_address() -> Address:
    """A port of loopback that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return Address(*taken.getsockname())
