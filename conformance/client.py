"""Sends one query packet over UDP or TCP and waits for the reply. Knows sockets and octets, no cases."""

from __future__ import annotations

import asyncio
import socket

from conformance.question import Question

RECEIVE = 65535


async def ask(question: Question, port: int) -> bytes | None:
    """The reply packet, or None when none came within the question's time-out (seconds)."""
    exchange = _ask_tcp if question.transport == "tcp" else _ask_udp
    try:
        async with asyncio.timeout(question.timeout):
            return await exchange(question.wire(), question.server, port)
    except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
        return None


async def _ask_udp(packet: bytes, server: str, port: int) -> bytes:
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    loop = asyncio.get_running_loop()
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.connect((server, port))  # a reply from another address is not a reply
        await loop.sock_sendall(sock, packet)
        while (reply := await loop.sock_recv(sock, RECEIVE))[:2] != packet[:2]:
            pass
        return reply


async def _ask_tcp(packet: bytes, server: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection(server, port)
    try:
        writer.write(len(packet).to_bytes(2, "big") + packet)
        await writer.drain()
        length = await reader.readexactly(2)
        return await reader.readexactly(int.from_bytes(length, "big"))
    finally:
        writer.close()
