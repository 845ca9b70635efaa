"""Messages over TCP: each has two octets of length in front (RFC 1035 section 4.2.2)."""

from __future__ import annotations

import asyncio


def frame(packet: bytes) -> bytes:
    """A message as it goes over TCP."""
    return len(packet).to_bytes(2, "big") + packet


async def read_message(reader: asyncio.StreamReader) -> bytes:
    """The next message, without its length. Raises `asyncio.IncompleteReadError` where the stream ends before."""
    return await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
