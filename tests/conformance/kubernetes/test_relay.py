"""The relay to an API: it carries, it is cut, it carries again."""

from __future__ import annotations

import asyncio

import pytest

from conformance.kubernetes.relay import Relay, relaying


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.readexactly(2))
    await reader.read()
    writer.close()


async def exchange(relay: Relay) -> tuple[bytes, asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
    writer.write(b"hi")
    return await reader.readexactly(2), reader, writer


async def test_it_carries_until_it_is_cut_and_again_afterwards() -> None:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, relaying(server.sockets[0].getsockname()[1]) as relay:
        said, reader, writer = await exchange(relay)
        assert said == b"hi"
        await relay.disconnect()
        assert await reader.read() == b"", "an open connection ends"
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", relay.port)
        await relay.connect()
        again, _, other = await exchange(relay)
        assert again == b"hi"
        writer.close()
        other.close()
