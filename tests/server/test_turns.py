"""Who takes queries when there are too many for one pass of the event loop: order and counts, no time."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from pydns.dns import Message
from pydns.dns.message import parse
from pydns.dns.replay import Replay
from pydns.query import Query
from pydns.server import turns as module
from pydns.server.listener import Listener
from pydns.server.tcp import READ, Limits
from pydns.server.turns import Turns
from tests.server.parts import (
    Gate,
    Running,
    TcpClient,
    UdpClient,
    connected,
    framed,
    make_listener,
    packet,
    until,
)  # fmt: skip
from tests.support import settle

CLIENTS = 20


@dataclass
class Address:
    listener: Listener


class Asking:
    """Somebody with ``left`` queries, of which a turn takes one; ``log`` is told of each."""

    def __init__(self, turns: Turns, name: str, left: int, log: list[str]) -> None:
        self.turns = turns
        self.name = name
        self.left = left
        self.log = log

    def go_on(self) -> None:
        while self.left:
            if not self.turns.is_free():
                self.turns.line_up(self)
                return
            self.left -= 1
            self.log.append(self.name)
            self.turns.took(1)


async def test_those_in_line_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OCTETS", 1)
    turns, log = Turns(Address(make_listener()), 10), list[str]()
    for name in "abc":
        Asking(turns, name, 3, log).go_on()
    assert log == ["a"]
    await settle()
    assert "".join(log) == "a" + "abcabcbc"


async def test_a_pass_takes_so_many_octets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OCTETS", 4)
    turns, log, seen = Turns(Address(make_listener()), 10), list[str](), list[int]()
    Asking(turns, "a", 10, log).go_on()
    while not seen or seen[-1] < 10:
        seen.append(len(log))
        await asyncio.sleep(0)
    assert seen == [4, 8, 10]


class Failing:
    def go_on(self) -> None:
        raise ValueError


async def test_an_error_of_one_holds_up_no_other_and_leaves_the_order() -> None:
    errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(type(context["exception"])))
    turns, log = Turns(Address(make_listener()), 1), list[str]()
    turns.line_up(Failing())
    Asking(turns, "a", 1, log).go_on()
    await settle()
    assert (log, errors) == (["a"], [ValueError])
    turns.enter()
    Asking(turns, "b", 1, log).go_on()
    turns.leave()
    Asking(turns, "c", 1, log).go_on()
    await settle()
    assert "".join(log) == "abc"


async def test_nothing_is_taken_while_others_wait_to_begin() -> None:
    address = Address(make_listener())
    turns, log = Turns(address, 10), list[str]()
    for _ in range(module.BACKLOG):
        address.listener.submit(packet(), ("192.0.2.1", 1), ("192.0.2.2", 53), "udp", lambda _: log.append("udp"))
    Asking(turns, "tcp", 1, log).go_on()
    await settle()
    assert log == ["udp"] * module.BACKLOG + ["tcp"]


async def test_with_too_many_in_flight_the_line_stands_still_and_costs_nothing() -> None:
    turns, log = Turns(Address(make_listener()), 1), list[str]()
    turns.enter()
    Asking(turns, "a", 1, log).go_on()
    await settle()
    assert (log, turns._scheduled) == ([], False)
    turns.leave()
    await settle()
    assert log == ["a"]


async def test_a_datagram_waits_behind_few_queries_of_busy_connections() -> None:
    """No reply is known; the datagram is sent while connections have thousands of queries to be read."""
    order: list[str] = []

    async def serve(query: Query) -> Message:
        order.append(query.transport)
        if len(order) == 300:
            udp.send(packet())
        return query.reply()

    async with Running(make_listener(serve)) as server:
        with UdpClient("127.0.0.1", server.port) as udp, ExitStack() as stack:
            for _ in range(CLIENTS):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                client.sendall(framed(packet()) * 200)
            assert await udp.receive()
    assert 300 <= order.index("udp") <= 500


async def test_a_datagram_waits_for_few_known_replies_of_busy_connections() -> None:
    replayed: list[int] = []
    before: list[int] = []

    async def serve(query: Query) -> Message:
        if query.transport == "udp":
            cache = listener.cache("tcp", 4)
            assert cache is not None
            cache.flush()
            before.append(sum(replayed))
        return query.reply()._replace(replay=Replay(until=2000.0, counters=(replayed.append,)))

    listener = make_listener(serve)
    async with connected(listener) as (server, client):
        for _ in range(3):
            await client.ask(packet())  # now it is known
        with UdpClient("127.0.0.1", server.port) as udp, ExitStack() as stack:
            address = "127.0.0.1", server.port
            busy = [stack.enter_context(socket.create_connection(address)) for _ in range(CLIENTS)]
            await until(lambda: len(server.endpoint._connections.open) == CLIENTS + 1)
            for each in busy:
                each.sendall(framed(packet()) * (READ // len(framed(packet()))))
            await udp.ask(packet())
    assert before[0] < CLIENTS * READ // len(framed(packet())) // 2


async def test_busy_connections_get_the_same_part(remember: bool) -> None:
    served: dict[object, int] = {}

    async def serve(query: Query) -> Message:
        served[query.client] = served.get(query.client, 0) + 1
        return query.reply()

    async with Running(make_listener(serve, remember=remember)) as server:
        with ExitStack() as stack:
            for _ in range(CLIENTS):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                client.sendall(framed(packet()) * 200)
            await until(lambda: len(served) == CLIENTS and min(served.values()) >= 100)
    assert max(served.values()) - min(served.values()) <= Limits().in_flight


async def test_queries_in_flight_of_all_connections_are_bounded(remember: bool) -> None:
    gate = Gate()
    async with (
        connected(make_listener(gate, remember=remember), limits=Limits(all_in_flight=3)) as (server, one),
        await TcpClient.connect(server.port) as two,
    ):
        one.send(*(packet(f"one{number}. A") for number in range(4)))
        two.send(*(packet(f"two{number}. A") for number in range(4)))
        await gate.until_waiting(3)
        await settle()
        assert len(gate.waiting) == server.endpoint._connections.turns.in_flight == 3
        with UdpClient("127.0.0.1", server.port) as udp:
            assert parse(await udp.ask(packet("quick. A"))).id == 4711
        for left in range(8, 0, -1):
            await gate.until_waiting(min(3, left))
            gate.open(next(iter(gate.waiting)))
        for client in (one, two):
            assert [parse(await client.receive()).id for _ in range(4)] == [4711] * 4
        assert server.endpoint._connections.turns.in_flight == 0


async def test_a_client_in_line_sends_no_more_than_two_reads() -> None:
    gate = Gate()
    async with connected(make_listener(gate), limits=Limits(all_in_flight=1)) as (server, busy):
        busy.send(packet("slow. A"))
        await gate.until_waiting(1)
        async with await TcpClient.connect(server.port) as client:
            client.send(*(packet(f"quick{number}. A", ident=number) for number in range(10_000)))
            for _ in range(10):
                await settle()
            (connection,) = (each for each in server.endpoint._connections.open if each._in_line)
            assert READ <= len(connection._received) <= 2 * READ
            gate.open("slow.")
            answered = {int.from_bytes((await client.receive())[:2], "big") for _ in range(10_000)}
    assert answered == set(range(10_000))
