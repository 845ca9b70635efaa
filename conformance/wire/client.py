"""Sends one query packet over UDP or TCP and waits for the reply. Knows sockets and octets, no cases."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from conformance.wire.framing import frame
from conformance.wire.question import Question

RECEIVE = 65535


async def ask(question: Question, port: int) -> bytes | None:
    """The reply packet, or None when none came within the question's time-out (seconds)."""
    try:
        return await _exchange(question, port)
    except (TimeoutError, ConnectionError):
        return None


async def _exchange(question: Question, port: int) -> bytes:
    """The reply packet. Raises `TimeoutError` when the time is up, `OSError` for what the network says."""
    way = _ask_tcp if question.transport == "tcp" else _ask_udp
    async with asyncio.timeout(question.timeout):
        return await way(question, port)


class Asker(Protocol):
    """A way to one server."""

    async def ask(self, question: Question) -> bytes | None:
        """The reply packet, or None when none came in time; where to ask is the asker's own business."""


@dataclass(frozen=True)
class Direct:
    """From this machine."""

    address: str
    port: int

    async def ask(self, question: Question) -> bytes | None:
        try:
            return await ask(replace(question, server=self.address), self.port)
        except OSError:  # no route to it
            return None

    async def refusal(self, question: Question) -> str:
        """What the network says to a question (`Connection refused`); empty for a reply, and where all is silent."""
        try:
            await _exchange(replace(question, server=self.address), self.port)
        except TimeoutError:
            return ""
        except OSError as error:
            return error.strerror or str(error)
        return ""


def _socket(question: Question, kind: socket.SocketKind) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in question.server else socket.AF_INET, kind)
    sock.setblocking(False)
    if question.source:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # two servers are asked at once
        sock.bind(("", question.source))
    return sock


async def _ask_udp(question: Question, port: int) -> bytes:
    packet = question.wire()
    loop = asyncio.get_running_loop()
    with _socket(question, socket.SOCK_DGRAM) as sock:
        sock.connect((question.server, port))  # a reply from another address is not a reply
        await loop.sock_sendall(sock, packet)
        while True:
            reply = await loop.sock_recv(sock, RECEIVE)
            if reply[:2] == packet[:2]:
                return reply
            await asyncio.sleep(0)  # a flood of wrong replies must leave a turn to the time-out and to other questions


async def _ask_tcp(question: Question, port: int) -> bytes:
    """The reply to the question's own packet, once every copy of it in the pipeline was answered, too."""
    sent = packets(question)
    with _socket(question, socket.SOCK_STREAM) as sock:
        await asyncio.get_running_loop().sock_connect(sock, (question.server, port))
        await _send(sock, b"".join(map(frame, sent)), question.dribble)
        replies = [await _read_frame(sock) for _ in sent]
    return _own(replies, sent[-1][:2])


def _own(replies: Sequence[bytes], ident: bytes) -> bytes:
    for reply in replies:
        if reply[:2] == ident:
            return reply
    raise ConnectionError("no reply has the ID of the question")


def packets(question: Question) -> list[bytes]:
    """All copies of the query that the question's pipeline has, each with an ID of its own; the question's own last."""
    packet = question.wire()
    return [*(copy.to_bytes(2, "big") + packet[2:] for copy in range(1, question.pipeline)), packet]


async def _send(sock: socket.socket, data: bytes, dribble: bool) -> None:
    loop = asyncio.get_running_loop()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in [data[index : index + 1] for index in range(len(data))] if dribble else [data]:
        await loop.sock_sendall(sock, piece)
        await asyncio.sleep(0)


async def _read_frame(sock: socket.socket) -> bytes:
    return await _read(sock, int.from_bytes(await _read(sock, 2), "big"))


async def _read(sock: socket.socket, count: int) -> bytes:
    loop = asyncio.get_running_loop()
    data = b""
    while len(data) < count:
        piece = await loop.sock_recv(sock, count - len(data))
        if not piece:
            raise ConnectionError("closed by the server")
        data += piece
    return data
