"""Datagrams through real sockets on loopback, by the batch and one by one."""

from __future__ import annotations

import asyncio
import ctypes
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pydns import mmsg
from pydns.dns import Edns, Flag, Message
from pydns.dns.message import parse
from pydns.dns.replay import Replay
from pydns.query import Query
from pydns.server.listener import Listener
from pydns.server.udp import BATCH
from tests.server.parts import ADDRESS_RECORD, Gate, Running, UdpClient, large, make_listener, make_process, packet
from tests.support import Clock, answer, drop, texts


@pytest.fixture(params=["batches", "singly"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test runs as on Linux and as where the C library cannot take datagrams by the batch."""
    if request.param == "singly":
        monkeypatch.setattr(ctypes, "PyDLL", lambda *_, **__: object())
    _forget()
    assert (mmsg.shared_batch(socket.AF_INET) is None) == (request.param == "singly")
    yield
    _forget()


def _forget() -> None:
    for cached in (mmsg.works, mmsg.shared_batch, mmsg.shared_outgoing):
        cached.cache_clear()


def consent(reply: Message) -> Message:
    return reply._replace(replay=Replay(until=2000.0, tags=("data",)))


WILDCARD_ASKED = ["127.0.0.1", "127.0.0.2", "127.9.8.7", "::1"]


@pytest.mark.parametrize("asked", WILDCARD_ASKED)
async def test_a_reply_leaves_from_the_address_that_was_asked(asked: str, remember: bool) -> None:
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
    async with Running(listener, "") as server:
        with UdpClient(asked, server.port) as client:
            for ident in (1, 2, 3):  # the chain, then perhaps the packet cache
                reply = parse(await client.ask(packet(ident=ident)))
                assert (reply.id, texts(reply.answer)) == (ident, [ADDRESS_RECORD])


@pytest.mark.parametrize("asked", WILDCARD_ASKED)
async def test_the_chain_knows_both_ends(asked: str) -> None:
    ends: list[tuple[object, object, str]] = []

    async def note(query: Query) -> Message:
        ends.append((query.client, query.local, query.transport))
        return query.reply()

    async with Running(make_listener(note), "") as server:
        with UdpClient(asked, server.port) as client:
            await client.ask(packet())
            assert ends == [(client.sock.getsockname()[:2], (asked, server.port), "udp")]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.3", "::1"])
async def test_a_bound_address_answers(host: str, remember: bool) -> None:
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
    async with Running(listener, host) as server:
        with UdpClient(host, server.port) as client:
            assert parse(await client.ask(packet())).answer
            assert parse(await client.ask(packet())).answer


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("size", [512, 513, 1232, 4096, 4097, 65507])
async def test_a_query_is_read_whole(host: str, size: int, remember: bool) -> None:
    shortest = len(packet(edns=Edns(4096, options=((12, b""),))))
    query = packet(edns=Edns(4096, options=((12, bytes(size - shortest)),)))
    assert len(query) == size
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
    async with Running(listener, host) as server:
        with UdpClient(host, server.port) as client:
            for _ in range(3):
                assert texts(parse(await client.ask(query)).answer) == [ADDRESS_RECORD]
                assert texts(parse(await client.ask(packet())).answer) == [ADDRESS_RECORD]


async def test_a_reply_is_cut_at_the_size_of_the_client(remember: bool) -> None:
    async with Running(make_listener(large(100), remember=remember)) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            reply = await client.ask(packet())
            assert (len(reply), parse(reply).truncated) == (29 + 30 * 16, True)


async def test_what_gets_no_reply_does_not_hold_up_the_next(remember: bool, log_lines: list[str]) -> None:
    async with Running(make_listener(remember=remember)) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            for junk in (b"", b"x", bytes(11), packet(flags=Flag.QR)):
                client.send(junk)
            assert parse(await client.ask(packet(ident=9))).id == 9
    assert log_lines == []


async def test_a_dropped_query_gets_no_reply() -> None:
    async with Running(make_listener(drop)) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            client.send(packet(ident=1))
            client.send(packet(ident=2, flags=Flag.RD, cls=3))
            assert parse(await client.receive()).id == 2


async def test_a_slow_query_holds_up_no_other(remember: bool) -> None:
    gate = Gate()
    async with Running(make_listener(gate, remember=remember)) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            client.send(packet("slow.example. A", ident=1))
            assert parse(await client.ask(packet("quick.example. A", ident=2))).id == 2
            gate.open("slow.example.")
            assert parse(await client.receive()).id == 1


async def test_more_datagrams_than_a_batch_are_all_answered(remember: bool) -> None:
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
    async with Running(listener) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            for ident in range(3 * BATCH):
                client.send(packet(ident=ident))
            answered = {parse(await client.receive()).id for _ in range(3 * BATCH)}
    assert answered == set(range(3 * BATCH))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_turn_ends_after_a_batch(host: str, remember: bool) -> None:
    """However many datagrams wait: others want their turn too."""
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
    async with Running(listener, host) as server:
        (sock,) = server.endpoint._udp
        with UdpClient(host, server.port) as client:
            for _ in range(2):  # now the packet cache knows the reply
                await client.ask(packet())
            for ident in range(2 * BATCH):
                client.send(packet(ident=ident))
            sock.drain()
            assert listener._pool.in_flight == (0 if remember else BATCH)
            assert {parse(await client.receive()).id for _ in range(2 * BATCH)} == set(range(2 * BATCH))


async def test_hits_and_misses_of_many_clients_each_get_their_own(remember: bool) -> None:
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
    known, luck = [f"name{number}.example.org. A" for number in range(5)], random.Random(3)
    async with Running(listener) as server:
        with ExitStack() as stack:
            clients = [stack.enter_context(UdpClient("127.0.0.1", server.port)) for _ in range(7)]
            for _ in range(30):
                asked = [
                    (luck.choice(clients), luck.choice([*known, f"n{luck.random()}.org. A"])) for _ in range(BATCH)
                ]
                for ident, (client, question) in enumerate(asked):
                    client.send(packet(question, ident=ident))
                for client in clients:
                    wanted = {ident: each[1] for ident, each in enumerate(asked) if each[0] is client}
                    got = [parse(await client.receive()) for _ in wanted]
                    assert {reply.id: f"{reply.question.name} A" for reply in got if reply.question} == wanted


async def test_a_client_that_is_gone_in_the_middle_of_a_batch_costs_no_other(remember: bool) -> None:
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
    async with Running(listener) as server:
        with UdpClient("127.0.0.1", server.port) as first, UdpClient("127.0.0.1", server.port) as last:
            for _ in range(5):
                with UdpClient("127.0.0.1", server.port) as gone:
                    for client in (first, gone, last):
                        client.send(packet())
                assert [parse(await client.receive()).id for client in (first, last)] == [4711, 4711]


async def test_a_client_that_is_gone_costs_nothing(log_lines: list[str]) -> None:
    gate = Gate()
    async with Running(make_listener(gate)) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            client.send(packet("slow.example. A"))
            await gate.until_waiting(1)
        gate.open_all()
        with UdpClient("127.0.0.1", server.port) as client:
            assert parse(await client.ask(packet("quick. A")))
    assert log_lines == []


async def test_the_listener_can_be_exchanged_between_two_datagrams(remember: bool) -> None:
    process = make_process()
    old, new = (
        make_listener(answer(f"example.org. 5 IN A {address}", change=consent), remember=remember, process=process)
        for address in ("192.0.2.1", "192.0.2.2")
    )
    async with Running(old) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            await client.ask(packet())
            server.endpoint.listener = new
            assert texts(parse(await client.ask(packet())).answer) == ["example.org. 5 IN A 192.0.2.2"]
        await old.finish()


async def test_what_has_arrived_is_answered_before_a_socket_stops(remember: bool) -> None:
    async with Running(make_listener(remember=remember)) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            client.send(packet(ident=5))
            server.endpoint.stop()
            assert parse(await client.receive()).id == 5
            client.send(packet(ident=6))
    with UdpClient("127.0.0.1", server.port) as client:
        client.send(packet())
        with pytest.raises(ConnectionRefusedError):
            await client.receive()


async def test_replays_are_counted_for_the_family_that_asked() -> None:
    told: list[tuple[int, int]] = []

    async def serve(query: Query) -> Message:
        family = query.family
        consent = Replay(2000.0, counters=(lambda times: told.append((family, times)),))
        return query.reply()._replace(replay=consent)

    listener = make_listener(serve)
    async with Running(listener, "") as server:
        for asked, times in (("127.0.0.1", 4), ("127.0.0.2", 1), ("::1", 3)):
            with UdpClient(asked, server.port) as client:
                for _ in range(times):
                    await client.ask(packet())
        listener.dispatcher.process.metrics.exposition()
        assert sorted(told) == [(4, 3), (6, 1)]


async def test_changed_data_are_never_replayed(remember: bool) -> None:
    address = ["192.0.2.1"]

    async def serve(query: Query) -> Message:
        return consent(await answer(f"example.org. 5 IN A {address[0]}")(query))

    process = make_process(Clock())
    async with Running(make_listener(serve, remember=remember, process=process)) as server:
        with UdpClient("127.0.0.1", server.port) as client:
            for address[0] in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
                process.changes.publish(["data"])
                for _ in range(3):
                    reply = parse(await client.ask(packet()))
                    assert texts(reply.answer) == [f"example.org. 5 IN A {address[0]}"]


class Pair:
    """Two servers with the same chain, one with a packet cache; their clock turns in steps."""

    def __init__(self) -> None:
        self.clock = Clock(0.0)
        self.versions = 0
        self.listeners = [
            make_listener(self.serve, remember=remember, process=make_process(self.clock)) for remember in (True, False)
        ]

    async def serve(self, query: Query) -> Message:
        second = int(self.clock.now)
        reply = query.reply(flags=self.versions << 4 & Flag.AD)._replace(rcode=(self.versions + second) % 6)
        return reply._replace(replay=Replay(second + 1.0, ("data",)))

    async def ask(self, data: bytes) -> tuple[bytes | None, bytes | None]:
        first, second = [await answered(listener, data) for listener in self.listeners]
        return first, second


async def answered(listener: Listener, data: bytes) -> bytes | None:
    """What a socket would send for ``data``."""
    cache = listener.cache("udp", 4)
    known = cache.get(data) if cache else None
    if known is not None:
        return known
    future: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
    listener.submit(data, ("127.0.0.1", 40212), ("127.0.0.1", 53), "udp", future.set_result)
    return await future


Step = tuple[str, bytes]
NAMES = [packet(f"{name}. A", ident=1, edns=edns) for name in "ab" for edns in (None, Edns(1232), Edns(1232, 0x8000))]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.one_of(st.sampled_from(NAMES), st.binary(max_size=40))),
        st.tuples(st.sampled_from(["turn", "change"]), st.just(b"")),
    ),
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_with_and_without_memory_the_replies_are_the_same(steps: list[Step]) -> None:
    async def run() -> None:
        pair = Pair()
        for what, data in steps:
            if what == "turn":
                pair.clock.now += 0.5
            elif what == "change":
                pair.versions += 1
                for listener in pair.listeners:
                    listener.dispatcher.process.changes.publish(["data"])
            else:
                remembered, made = await pair.ask(data)
                assert remembered == made

    asyncio.run(run())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
async def test_random_datagrams_leave_the_server_as_it_was(family: int, log_lines: list[str]) -> None:
    luck = random.Random(7)
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    async with Running(make_listener(), host) as server:
        with UdpClient(host, server.port) as client:
            for _ in range(300):
                client.send(luck.randbytes(luck.randrange(60)))
                client.send(packet()[: luck.randrange(12, 40)] + luck.randbytes(luck.randrange(30)))
            while parse(await client.ask(packet(ident=0xABCD))).id != 0xABCD:
                pass
    assert log_lines == []
