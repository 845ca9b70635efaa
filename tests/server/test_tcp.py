"""Connections: frames, order, limits.  Times are short settings, and a test waits for what ends them, not for time."""

from __future__ import annotations

import asyncio
import socket
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pydns.dns import Flag, Message, Rcode
from pydns.dns.message import parse
from pydns.dns.replay import Replay
from pydns.plugin import Settings
from pydns.query import Query
from pydns.server import listener as listener_module
from pydns.server.sockets import CONNECTION_BUFFER
from pydns.server.tcp import READ, SEND_BUFFER, Limits
from tests.server.parts import (
    ADDRESS_RECORD,
    Gate,
    Running,
    TcpClient,
    connected,
    framed,
    large,
    make_listener,
    packet,
    until,
)  # fmt: skip
from tests.support import answer, drop, texts

SHORT = 0.05
LONG = 60.0


def times(*, read: float = LONG, write: float = LONG, idle: float = LONG) -> Settings:
    return Settings(read_timeout=read, write_timeout=write, idle_timeout=idle)


def consent(reply: Message) -> Message:
    return reply._replace(replay=Replay(until=2000.0))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1"])
@pytest.mark.parametrize("bound", [True, False])
async def test_the_chain_knows_both_ends(host: str, bound: bool) -> None:
    ends: list[tuple[object, object, str]] = []

    async def note(query: Query) -> Message:
        ends.append((query.client, query.local, query.transport))
        return query.reply()

    async with connected(make_listener(note), host, bound) as (server, client):
        await client.ask(packet())
        assert ends == [(client.writer.get_extra_info("sockname")[:2], (host, server.port), "tcp")]


async def test_the_kernel_holds_little_for_a_connection() -> None:
    async with connected(make_listener()) as (server, client):
        await client.ask(packet())
        (connection,) = server.endpoint._connections.open
        sock = connection._transport.get_extra_info("socket")
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            assert sock.getsockopt(socket.SOL_SOCKET, option) <= 2 * CONNECTION_BUFFER


@pytest.mark.parametrize("bound", [True, False])
async def test_a_reply_waits_for_no_acknowledgement_of_the_last_one(bound: bool) -> None:
    async with connected(make_listener(), bound=bound) as (server, client):
        await client.ask(packet())
        (connection,) = server.endpoint._connections.open
        assert connection._transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_a_connection_takes_many_queries(remember: bool) -> None:
    async with connected(make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)) as (_, client):
        for ident in range(300):
            reply = parse(await client.ask(packet(ident=ident)))
            assert (reply.id, texts(reply.answer)) == (ident, [ADDRESS_RECORD])


async def test_queries_may_come_all_at_once(remember: bool) -> None:
    async with connected(make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)) as (_, client):
        client.send(*(packet(ident=ident) for ident in range(1000)))
        answered = {parse(await client.receive()).id for _ in range(1000)}
    assert answered == set(range(1000))


async def test_messages_may_come_octet_by_octet(remember: bool) -> None:
    async with connected(make_listener(remember=remember)) as (_, client):
        for octet in framed(packet(ident=1)) + framed(packet(ident=2)):
            client.writer.write(bytes((octet,)))
            await client.writer.drain()
        assert [parse(await client.receive()).id for _ in range(2)] == [1, 2]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.integers(0, 5), max_size=40), st.lists(st.integers(0, 2000), max_size=12), st.integers(1, 4))
def test_however_the_octets_are_cut_the_replies_are_the_same(
    remember: bool, names: list[int], cuts: list[int], in_flight: int
) -> None:
    """Messages may end anywhere in what arrives, known and unknown ones next to one another."""
    questions = [f"name{number}.org. A" for number in names]
    stream = b"".join(framed(packet(question, ident=ident)) for ident, question in enumerate(questions))
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})

    async def run() -> None:
        listener = make_listener(answer(ADDRESS_RECORD, change=consent), remember=remember)
        async with connected(listener, limits=Limits(in_flight=in_flight)) as (_, client):
            for start, end in pairwise(places):
                client.writer.write(stream[start:end])
                await client.writer.drain()
                await asyncio.sleep(0)
            replies = [parse(await client.receive()) for _ in questions]
            assert {reply.id: f"{reply.question.name} A" for reply in replies if reply.question} == dict(
                enumerate(questions)
            )

    asyncio.run(run())


async def test_replies_may_be_longer_than_a_datagram(remember: bool) -> None:
    async with connected(make_listener(large(250), remember=remember)) as (_, client):
        reply = parse(await client.ask(packet()))
        assert (len(reply.answer), reply.truncated) == (250, False)


async def test_a_slow_query_holds_up_no_other(remember: bool) -> None:
    gate = Gate()
    async with connected(make_listener(gate, remember=remember)) as (_, client):
        client.send(packet("slow.example. A", ident=1), packet("quick.example. A", ident=2))
        assert parse(await client.receive()).id == 2
        gate.open("slow.example.")
        assert parse(await client.receive()).id == 1


async def test_what_gets_no_reply_leaves_the_connection_open(remember: bool, log_lines: list[str]) -> None:
    async with connected(make_listener(drop, remember=remember)) as (_, client):
        client.send(b"", b"x", bytes(11), packet(flags=Flag.QR), packet(), packet(ident=3, cls=3))
        assert parse(await client.receive()).rcode == Rcode.REFUSED
    assert log_lines == []


@pytest.mark.parametrize("limits", [Limits(in_flight=1), Limits(all_in_flight=1)])
async def test_a_client_that_asks_no_more_gets_its_replies(remember: bool, limits: Limits) -> None:
    gate = Gate()
    async with connected(make_listener(gate, remember=remember), limits=limits) as (_, client):
        client.send(packet("one. A", ident=1), packet("two. A", ident=2))
        client.writer.write_eof()
        for name in ("one.", "two."):
            await gate.until_waiting(1)
            gate.open(name)
        received = await client.until_closed()
    assert [received[2:4], received[2 + len(received) // 2 :][:2]] == [b"\0\1", b"\0\2"]


async def test_a_client_that_asks_no_more_and_reads_later_gets_its_replies(
    remember: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The end of its queries arrives while they wait for their turn; then they wait for it to read."""
    gate, size = Gate(), large(4000)

    async def serve(query: Query) -> Message:
        return await (gate if query.name == "slow." else size)(query)

    listener = make_listener(serve, remember=remember)
    async with (
        connected(listener, limits=Limits(all_in_flight=1)) as (server, busy),
        await TcpClient.connect(server.port) as client,
    ):
        for _ in range(3):
            await client.ask(packet())  # now it is known, where replies are remembered
        busy.send(packet("slow. A"))
        await gate.until_waiting(1)
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        client.send(*(packet(ident=ident) for ident in range(100)))
        client.writer.write_eof()
        await until(lambda: any(each._in_line and each._finishing for each in server.endpoint._connections.open))
        gate.open("slow.")
        await until(lambda: is_unread(server))
        client.writer.transport.resume_reading()  # type: ignore[attr-defined]
        answered = [int.from_bytes((await client.receive())[:2], "big") for _ in range(100)]
        assert await client.until_closed() == b""
    assert sorted(answered) == list(range(100))
    assert caplog.messages == []


async def test_an_error_in_its_turn_closes_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(type(context["exception"])))
    gate = Gate()
    async with (
        connected(make_listener(gate, settings=times()), limits=Limits(all_in_flight=1)) as (server, busy),
        await TcpClient.connect(server.port) as client,
    ):
        busy.send(packet("slow. A"))
        await gate.until_waiting(1)
        client.send(packet("quick. A"))
        await until(lambda: any(each._in_line for each in server.endpoint._connections.open))
        cache = server.endpoint.listener.cache("tcp", 4)
        monkeypatch.setattr(cache, "get", {}.__getitem__)  # as a bug there would be
        gate.open("slow.")
        assert parse(await busy.receive()).id == 4711
        assert await client.until_closed() == b""
        monkeypatch.undo()
        assert parse(await busy.ask(packet("quick. A"))).id == 4711
    assert errors == [KeyError]


async def test_a_query_that_cannot_be_submitted_closes_its_connection_and_takes_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(type(context["exception"])))
    async with connected(make_listener(), limits=Limits(all_in_flight=1)) as (server, client):
        monkeypatch.setattr(server.endpoint.listener, "submit", {}.__getitem__)  # as a bug there would be
        client.send(packet("quick. A"))
        assert await client.until_closed() == b""
        monkeypatch.undo()
        assert server.endpoint._connections.turns.in_flight == 0
        async with await TcpClient.connect(server.port) as other:
            assert parse(await other.ask(packet("quick. A"))).id == 4711
    assert errors == [TypeError]


async def test_a_client_that_goes_away_costs_nothing(log_lines: list[str], caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    async with connected(make_listener(gate)) as (server, client):
        client.send(*(packet(f"slow{number}. A") for number in range(20)))
        await gate.until_waiting(20)
        client.reset()
        gate.open_all()
        async with await TcpClient.connect(server.port) as client:
            assert parse(await client.ask(packet("quick. A")))
    assert log_lines == []
    assert caplog.messages == []


async def test_what_a_client_left_behind_is_not_asked() -> None:
    gate = Gate()
    async with connected(make_listener(gate), limits=Limits(in_flight=1)) as (server, client):
        client.send(*(packet(f"slow{number}. A") for number in range(3)))
        await gate.until_waiting(1)
        client.reset()
        gate.open_all()
        async with await TcpClient.connect(server.port) as client:
            assert parse(await client.ask(packet("quick. A")))
    assert not gate.waiting


async def test_queries_that_a_listener_gives_up_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection outlives a reload, and so do its bounds."""
    monkeypatch.setattr(listener_module, "STOP_TIMEOUT", 0.0)
    old, new = make_listener(Gate()), make_listener()
    limits = Limits(in_flight=2, all_in_flight=2)
    async with connected(old, limits=limits) as (server, client):
        client.send(packet("slow1. A"), packet("slow2. A"), packet("later. A", ident=3))
        await until(lambda: server.endpoint._connections.turns.in_flight == 2)
        server.endpoint.listener = new
        await old.finish()
        assert parse(await client.receive()).id == 3
        assert server.endpoint._connections.turns.in_flight == 0


# Time.


@pytest.mark.parametrize("sent", [b"", b"\0", b"\0\x1d", framed(packet())[:-1]])
async def test_the_first_query_must_come_in_time(sent: bytes) -> None:
    async with connected(make_listener(settings=times(read=SHORT))) as (_, client):
        client.writer.write(sent)
        assert await client.until_closed() == b""


@pytest.mark.parametrize("sent", [b"", b"\0", framed(packet())[:-1]])
async def test_a_silent_connection_is_closed(sent: bytes, remember: bool) -> None:
    listener = make_listener(answer(ADDRESS_RECORD, change=consent), settings=times(idle=SHORT), remember=remember)
    async with connected(listener) as (_, client):
        for _ in range(2):
            await client.ask(packet())
        client.writer.write(sent)
        assert await client.until_closed() == b""


async def test_octets_that_dribble_in_gain_nothing() -> None:
    async with connected(make_listener(settings=times(read=SHORT))) as (_, client):
        client.writer.write(b"\xff\xff")
        closed = asyncio.ensure_future(client.until_closed())
        while not closed.done():
            client.writer.write(b"x")
            await asyncio.sleep(0)
        assert await closed == b""


async def test_a_connection_that_waits_for_a_reply_is_not_silent() -> None:
    gate = Gate()
    async with (
        connected(make_listener(gate, settings=times(read=SHORT, idle=SHORT))) as (server, client),
        await TcpClient.connect(server.port) as other,
    ):
        client.send(packet("slow. A"))
        await gate.until_waiting(1)
        await other.until_closed()
        gate.open("slow.")
        assert parse(await client.receive()).id == 4711
        assert await client.until_closed() == b""


async def test_a_connection_that_waits_for_its_turn_is_not_silent() -> None:
    gate = Gate()
    listener = make_listener(gate, settings=times(read=SHORT, idle=SHORT))
    async with (
        connected(listener, limits=Limits(all_in_flight=1)) as (server, busy),
        await TcpClient.connect(server.port) as client,
    ):
        busy.send(packet("slow. A"))
        await gate.until_waiting(1)
        client.send(packet("quick. A", ident=3))
        for _ in range(2):
            async with await TcpClient.connect(server.port) as silent:
                await silent.until_closed()
        gate.open("slow.")
        assert parse(await client.receive()).id == 3


# Bounds.


async def test_queries_in_flight_are_bounded(remember: bool) -> None:
    gate = Gate()
    async with connected(make_listener(gate, remember=remember), limits=Limits(in_flight=3)) as (_, client):
        client.send(*(packet(f"n{number}. A", ident=number) for number in range(7)))
        answered = []
        for number in range(7):
            await gate.until_waiting(min(3, 7 - number))
            assert list(gate.waiting) == [f"n{n}." for n in range(number, min(number + 3, 7))]
            gate.open(f"n{number}.")
            answered.append(parse(await client.receive()).id)
    assert answered == list(range(7))


async def test_of_too_many_connections_the_longest_silent_one_is_closed() -> None:
    async with (
        connected(make_listener(), limits=Limits(connections=2)) as (server, first),
        await TcpClient.connect(server.port) as second,
    ):
        for client in (first, second, first):
            await client.ask(packet())
        async with await TcpClient.connect(server.port) as third:
            assert parse(await third.ask(packet()))
            assert await second.until_closed() == b""
            assert parse(await first.ask(packet()))


async def test_a_connection_that_waits_for_replies_is_not_closed_for_a_new_one() -> None:
    gate = Gate()
    async with connected(make_listener(gate), limits=Limits(connections=1)) as (server, first):
        first.send(packet("slow. A"))
        await gate.until_waiting(1)
        async with await TcpClient.connect(server.port) as second:
            assert await second.until_closed() == b""
        gate.open("slow.")
        assert parse(await first.receive())


def is_unread(server: Running) -> bool:
    return any(connection._unread for connection in server.endpoint._connections.open)


async def unread_client(port: int) -> socket.socket:
    """A client whose receive buffer is small, and who reads nothing."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    return sock


async def test_a_client_that_reads_nothing_is_cut(remember: bool) -> None:
    async with Running(make_listener(large(500), remember=remember, settings=times(write=SHORT))) as server:
        with await unread_client(server.port) as sock:
            flood = framed(packet()) * 50
            with pytest.raises(ConnectionError):
                while True:  # until the server has stopped reading, then until it has cut
                    await asyncio.wait_for(asyncio.get_running_loop().sock_sendall(sock, flood), 10)
        assert not server.endpoint._connections.open


async def test_a_client_that_reads_slowly_holds_up_no_other(remember: bool) -> None:
    async with Running(make_listener(large(500), remember=remember)) as server:
        with await unread_client(server.port) as sock:
            flood = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(sock, framed(packet()) * 20000))
            await until(lambda: is_unread(server))
            async with await TcpClient.connect(server.port) as client:
                assert parse(await client.ask(packet(ident=8))).id == 8
            for connection in server.endpoint._connections.open:
                assert len(connection._received) <= 2 * READ
                in_flight = connection._connections.limits.in_flight * 8100  # octets of a reply
                assert connection._transport.get_write_buffer_size() <= 2 * SEND_BUFFER + in_flight
            flood.cancel()


async def test_a_client_that_asks_much_holds_up_no_other() -> None:
    replayed: list[int] = []

    def count(reply: Message) -> Message:
        return reply._replace(replay=Replay(until=2000.0, counters=(replayed.append,)))

    listener = make_listener(answer(ADDRESS_RECORD, change=count))
    async with connected(listener) as (server, client):
        for _ in range(3):
            await client.ask(packet())  # now it is known
        with socket.create_connection(("127.0.0.1", server.port)) as sock:
            await until(lambda: len(server.endpoint._connections.open) == 2)
            assert sock.send(framed(packet()) * 8000) == 8000 * len(framed(packet()))
            await client.ask(packet())
            cache = listener.cache("tcp", 4)
            assert cache is not None
            cache.flush()
    assert sum(replayed) < 4000


async def test_a_client_that_reads_again_gets_everything(remember: bool) -> None:
    async with connected(make_listener(large(4000), remember=remember)) as (server, client):
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        client.send(*(packet(ident=ident) for ident in range(200)))
        await until(lambda: is_unread(server))
        client.writer.transport.resume_reading()  # type: ignore[attr-defined]
        answered = [int.from_bytes((await client.receive())[:2], "big") for _ in range(200)]
    assert sorted(answered) == list(range(200))


@pytest.mark.parametrize("junk", [bytes(2), b"\xff\xff" + bytes(500), bytes(range(256)) * 4])
async def test_junk_leaves_the_server_as_it_was(junk: bytes, log_lines: list[str]) -> None:
    async with connected(make_listener(settings=times(read=SHORT, idle=SHORT))) as (server, client):
        client.writer.write(junk)
        await client.until_closed()
        async with await TcpClient.connect(server.port) as client:
            assert parse(await client.ask(packet()))
    assert log_lines == []
