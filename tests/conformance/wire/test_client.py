"""Questions over loopback, to a scripted upstream."""

import asyncio
import socket

import pytest

from conformance.servers.script import Script, parse_script
from conformance.servers.upstream import Upstream, serve
from conformance.wire.blocks import split_blocks
from conformance.wire.client import ask
from conformance.wire.message import decode
from conformance.wire.question import parse_question

FLOOD = 50
"""How many wrong replies come at once: fewer than a socket holds."""

SCRIPT = """
upstream
    web. 60 A 192.0.2.1
    ? silent. * +drop => NOERROR
"""


def scripted() -> Upstream:
    (block,) = split_blocks("x", SCRIPT.splitlines())
    return Upstream(Script(parse_script(block)))


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("web. A", ["web. IN A udp +rd"]),
        ("web. A +norec +edns=512", ["web. IN A udp +edns=512"]),
        ("web. A +tcp", ["web. IN A tcp +rd"]),
        ("web. A +pipeline=3", ["web. IN A tcp +rd"] * 3),
        ("web. A +dribble", ["web. IN A tcp +rd"]),
    ],
)
async def test_what_is_sent_and_what_comes_back(text: str, heard: list[str]) -> None:
    upstream = scripted()
    async with serve(upstream) as port:
        reply = await ask(parse_question(text, "."), port)
    assert reply is not None
    assert reply[:2] == b"\x12\x34"
    assert [record.rdata for record in decode(reply).answer] == ["192.0.2.1"]
    assert upstream.take_heard() == heard


@pytest.mark.parametrize("text", ["silent. A +timeout=0.05", "silent. A +tcp +timeout=0.05"])
async def test_silence(text: str) -> None:
    async with serve(scripted()) as port:
        assert await ask(parse_question(text, "."), port) is None


async def test_a_flood_of_replies_to_other_questions_leaves_others_their_turns() -> None:
    turns = 0

    async def flood(server: socket.socket) -> None:
        query, client = await asyncio.get_running_loop().sock_recvfrom(server, 512)
        for _ in range(FLOOD):
            server.sendto(b"\0\0", client)
        server.sendto(query, client)

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.setblocking(False)
        server.bind(("127.0.0.1", 0))
        tasks = [asyncio.create_task(flood(server)), asyncio.create_task(others())]
        reply = await ask(parse_question("web. A", "."), server.getsockname()[1])
        for task in tasks:
            task.cancel()
    assert reply
    assert turns >= FLOOD


async def test_a_reply_to_another_question_over_tcp_is_no_reply() -> None:
    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(512)
        writer.write(b"\0\x0c" + bytes(12))
        writer.close()

    async with await asyncio.start_server(serve_one, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert await ask(parse_question("web. A +tcp", "."), port) is None
