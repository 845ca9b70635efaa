"""What a parent process and its workers say to each other, and the socket pair that carries it.

Each message is a length in four octets and that many octets of MessagePack.  It does not know what follows from a
message (`crew` in the parent, `pydns.worker` in a worker).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, cast

from msgspec import Struct, msgpack

from pydns.server.tally import Portion

_LENGTH = 4


class Recipe(Struct, tag=True):
    """The first message to a worker: what to serve, and by which sockets (host, port, `Sockets.descriptors`).

    ``data`` is `Instance.recipe`, ``common`` is `Process.common`.
    """

    data: bytes
    common: int
    sockets: list[tuple[str, int, list[list[int]]]]


class Data(Struct, tag=True):
    """A piece of what the plugin ``plugin`` of the server block number ``block`` has (`Feeds`)."""

    block: int
    plugin: str
    piece: bytes


class Complete(Struct, tag=True):
    """All data that there were when the worker started have been sent."""


class Count(Struct, tag=True):
    """Tell what was counted, in a `Counted` of this number."""

    number: int


class Finish(Struct, tag=True):
    """Answer what is there, tell what was counted, and end."""


class Serving(Struct, tag=True):
    """The worker's sockets are served from now on."""


class Failed(Struct, tag=True):
    """The worker cannot start."""

    why: str


class Counted(Struct, tag=True):
    """What was counted since the last time; ``number`` is 0 where nobody asked."""

    number: int
    portions: list[Portion]


class NotReady(Struct, tag=True):
    """The names of the plugins that are not ready, told when they change."""

    plugins: list[str]


class Fatal(Struct, tag=True):
    """An error that ends the whole process was logged."""


ToWorker = Recipe | Data | Complete | Count | Finish
ToParent = Serving | Failed | Counted | NotReady | Fatal

M = TypeVar("M")

encode = msgpack.Encoder().encode


class Channel(asyncio.Protocol, Generic[M]):
    """One end of a socket pair: ``take`` gets each message, ``lost`` is called when the other end has gone."""

    def __init__(self, kind: Any, take: Callable[[M], None], lost: Callable[[], None]) -> None:
        self._decode: Callable[[bytes], M] = msgpack.Decoder(kind).decode
        self._take = take
        self._lost = lost
        self._received = bytearray()
        self._room = asyncio.Event()
        self._room.set()

    async def open(self, sock: socket.socket) -> Self:
        """Use ``sock`` from now on."""
        await asyncio.get_running_loop().create_connection(lambda: self, sock=sock)
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._room.set()
        self._lost()

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        start = 0
        while len(received) >= start + _LENGTH:
            begin = start + _LENGTH
            end = begin + int.from_bytes(received[start:begin], "big")
            if len(received) < end:
                break
            self._take(self._decode(bytes(received[begin:end])))
            start = end
        del received[:start]

    def send(self, message: Struct) -> None:
        """Send a message; after the end of the other side nothing happens."""
        self.send_octets(encode(message))

    def send_octets(self, octets: bytes) -> None:
        """Send a message that is encoded already."""
        if not self._transport.is_closing():
            self._transport.write(len(octets).to_bytes(_LENGTH, "big") + octets)

    @property
    def backlog(self) -> int:
        """Octets that the other side has not taken yet."""
        return self._transport.get_write_buffer_size()

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    async def drain(self) -> None:
        """Wait until the other side has taken most of what was sent, or is gone."""
        await self._room.wait()

    def close(self) -> None:
        """Close it once everything was sent."""
        self._transport.close()
