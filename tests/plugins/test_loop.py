"""The search for forwarding loops, over real sockets; the line in the log as CoreDNS's plugin/loop words it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from pydns.corefile.line import CorefileError
from pydns.dns import Flag, Type, pack, parse
from pydns.plugin import Block
from pydns.plugins.loop import Loop
from tests.support import Clock, answer, make_block, make_plugin, make_query, settle


class Itself(asyncio.DatagramProtocol):
    """The server's own socket: remembers the names asked for, answers when it is told to."""

    def __init__(self) -> None:
        self.names: asyncio.Queue[str] = asyncio.Queue()
        self.answers = True
        self.transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = parse(data)
        assert query.question is not None
        assert (query.question.type, query.flags) == (Type.HINFO, Flag.RD)
        self.names.put_nowait(query.question.name)
        if self.answers:
            self.transport.sendto(pack(query._replace(flags=Flag.QR)), addr)


@asynccontextmanager
async def listening(host: str = "127.0.0.1") -> AsyncIterator[tuple[Itself, int]]:
    loop = asyncio.get_running_loop()
    transport, itself = await loop.create_datagram_endpoint(Itself, local_addr=(host, 0))
    yield itself, transport.get_extra_info("sockname")[1]
    transport.close()


def watched(block: Block) -> list[bool]:
    """Grows when the process would end."""
    ended: list[bool] = []
    block.process.fatal = lambda: ended.append(True)
    return ended


@pytest.mark.parametrize("zone, pattern", [(".", r"\d+\.\d+\."), ("Example.org", r"\d+\.\d+\.example\.org\.")])
async def test_it_asks_itself_for_a_random_name(zone: str, pattern: str, log_lines: list[str]) -> None:
    async with listening() as (itself, port):
        block = make_block(f"{zone}:{port}")
        ended = watched(block)
        plugin = make_plugin(Loop, "loop", block, answer())
        await plugin.serving()
        name = await itself.names.get()
        assert re.fullmatch(pattern, name)
        await plugin.serve(make_query(f"{name} HINFO"))
        await plugin.stop()
    assert (ended, log_lines) == ([], [])


async def test_meeting_the_name_a_third_time_ends_the_process(log_lines: list[str]) -> None:
    async with listening() as (itself, port):
        itself.answers = False
        block = make_block(f".:{port}")
        ended = watched(block)
        plugin = make_plugin(Loop, "loop", block, answer())
        await plugin.serving()
        name = await itself.names.get()
        await plugin.serve(make_query(f"{name} A"))
        for _ in range(2):
            await plugin.serve(make_query(f"{name} HINFO"))
        assert (ended, log_lines) == ([], [])
        for _ in range(3):  # those on their way
            await plugin.serve(make_query(f"{name} HINFO"))
        await plugin.stop()
    assert ended == [True]
    assert log_lines == [
        f'[FATAL] plugin/loop: Loop (127.0.0.1:40212 -> :{port}) detected for zone ".", see'
        f' https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO {name}"'
    ]


async def test_other_names_do_not_count(log_lines: list[str]) -> None:
    block = make_block()
    ended = watched(block)
    plugin = make_plugin(Loop, "loop", block, answer())
    for _ in range(5):
        await plugin.serve(make_query("1.2. HINFO"))
    assert ended == []


async def test_it_is_over_once_the_query_was_answered() -> None:
    async with listening() as (itself, port):
        block = make_block(f".:{port}")
        ended = watched(block)
        plugin = make_plugin(Loop, "loop", block, answer())
        await plugin.serving()
        name = await itself.names.get()
        await next(iter(plugin._tasks._running))
        for _ in range(5):
            await plugin.serve(make_query(f"{name} HINFO"))
        await plugin.stop()
    assert ended == []


async def test_without_an_answer_it_asks_again_for_half_a_minute() -> None:
    async with listening("127.0.0.1") as (_, port):
        pass  # nobody listens there now
    clock = Clock()
    block = make_block(f".:{port}", clock=clock)
    ended = watched(block)
    plugin = make_plugin(Loop, "loop", block, answer())
    await plugin.serving()
    tries = 0
    while plugin._active:
        await clock.until_asleep()
        tries += 1
        await plugin.serve(make_query(f"{plugin._qname} HINFO"))  # each try counts for itself
        await clock.advance(1)
        await settle()
    assert tries == 30
    assert ended == []
    await plugin.stop()


async def test_it_asks_where_bind_says() -> None:
    async with listening("::1") as (itself, port):
        block = make_block(f".:{port}")
        block.settings.addresses = ("::1", "127.0.0.1")
        plugin = make_plugin(Loop, "loop", block, answer())
        assert str(plugin._address) == f"[::1]:{port}"
        await plugin.serving()
        await itself.names.get()
        await plugin.stop()


@pytest.mark.parametrize("text", ["loop x", "loop\nloop"])
def test_bad_options(text: str) -> None:
    with pytest.raises(CorefileError):
        make_plugin(Loop, text)
