"""A scripted upstream DNS server on loopback, UDP and TCP on one port, that remembers what it was asked.

Knows sockets and a `Script`; no cases, no subjects.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from conformance.servers.ports import free_port
from conformance.servers.script import Rule, Script
from conformance.wire.framing import frame, read_message
from conformance.wire.message import FLAGS, OPT, Record, Reply, class_name, decode_name, encode, type_name


@dataclass(frozen=True)
class Query:
    """A query as it arrived: ID, flags, question and OPT in the words of a `heard` line."""

    ident: int
    name: str
    qtype: str
    question: bytes
    words: str


def read_query(packet: bytes, transport: str) -> Query:
    """`NAME CLASS TYPE udp|tcp +FLAG… +edns=SIZE +do +opt=CODE:HEX`; flags and options only where they are."""
    ident, bits, _, _, _, additional = struct.unpack_from("!6H", packet)
    name, end = decode_name(packet, 12)
    number, qclass = struct.unpack_from("!HH", packet, end)
    words = [name, class_name(qclass), type_name(number), transport]
    words += [f"+{flag}" for flag, bit in FLAGS.items() if bits & bit]
    words += _read_opt(packet[end + 4 :]) if additional else []
    return Query(ident, name, type_name(number), packet[12 : end + 4], " ".join(words))


def _read_opt(record: bytes) -> list[str]:
    kind, size, ttl, length = struct.unpack_from("!HHIH", record, 1)
    if kind != OPT:
        return []
    words, offset = [f"+edns={size}", *(["+do"] if ttl & 0x8000 else [])], 11
    while offset < 11 + length:
        code, octets = struct.unpack_from("!HH", record, offset)
        words.append(f"+opt={code}:{record[offset + 4 : offset + 4 + octets].hex()}")
        offset += 4 + octets
    return words


class Upstream:
    """Answers by its script. `take_heard` hands out what came in since it was called last."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._heard: list[str] = []

    def take_heard(self) -> list[str]:
        """The queries since the last call, in order, without `forward`'s health probes (`. IN NS`)."""
        heard, self._heard = self._heard, []
        return [words for words in heard if not words.startswith(". IN NS")]

    async def replies(self, packet: bytes, transport: str) -> list[bytes]:
        """The packets to send for a query, in order; none where the script says so."""
        query = read_query(packet, transport)
        self._heard.append(query.words)
        rule = self._script.rule(query.name, query.qtype)
        await asyncio.sleep(float(rule.behaviour.get("delay", 0)))
        return [] if "drop" in rule.behaviour else _packets(rule, query, transport)


def _packets(rule: Rule, query: Query, transport: str) -> list[bytes]:
    reply = rule.reply
    if "truncate" in rule.behaviour and transport == "udp":
        reply = Reply(reply.rcode, reply.flags | {"tc"}, opt=reply.opt)
    if rule.name.startswith("*"):
        reply = replace(reply, answer=tuple(_owned(record, query.name, rule.name) for record in reply.answer))
    right = encode(reply, query.ident, query.question)
    if "garbage" in rule.behaviour:
        return [right[:2] + b"\x81"]
    if "wrong-id" in rule.behaviour:
        return [encode(reply, query.ident ^ 1, query.question), right]
    if "wrong-question" in rule.behaviour:
        return [encode(reply, query.ident, b"\x05wrong" + query.question), right]
    return [right]


def _owned(record: Record, name: str, pattern: str) -> Record:
    """A record whose owner is the rule's own pattern is owned by the name that was asked."""
    return replace(record, owner=name) if record.owner in (pattern, f"{pattern}.") else record


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """What is to be answered later has nowhere to go."""
        for task in self._tasks:
            task.cancel()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(data, addr))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, packet: bytes, client: tuple[str, int]) -> None:
        for reply in await self._upstream.replies(packet, "udp"):
            self._transport.sendto(reply, client)


async def _serve_stream(upstream: Upstream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            for reply in await upstream.replies(await read_message(reader), "tcp"):
                writer.write(frame(reply))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


@asynccontextmanager
async def serve(upstream: Upstream, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Serves over UDP and TCP until the block ends; gives the port, a free one of this machine's unless one is wanted.

    Raises `OSError` for an address that cannot be used.
    """
    port = port or free_port()
    loop = asyncio.get_running_loop()
    datagrams, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(upstream), (host, port))
    try:
        streams = await asyncio.start_server(lambda r, w: _serve_stream(upstream, r, w), host, port)
    except OSError:
        datagrams.close()
        raise
    try:
        yield port
    finally:
        datagrams.close()
        streams.close()
