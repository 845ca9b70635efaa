"""One query to one upstream, over real sockets on loopback."""

from __future__ import annotations

import asyncio
import random
import re
import socket
from collections.abc import Callable, Sequence

import pytest

from pydns.address import Address
from pydns.dns.message import Message, Question, pack, parse
from pydns.dns.types import Flag, Type
from pydns.turn import TURN
from pydns.upstream import udp
from pydns.upstream.exchange import Upstream
from pydns.upstream.reply import ExchangeError
from pydns.upstream.settings import Settings
from pydns.upstream.tcp import TcpConnection
from pydns.upstream.udp import DRAWN, SOCKETS, USES, random_ids
from tests.scripted_upstream import (
    Script,
    closed_address,
    reply_to,
    saying,
    scripted_upstream,
    silent,
)
from tests.support import texts

QUESTION = Question("www.Example.org.", Type.A)
QUERY = Message(0, Flag.RD, question=QUESTION)
ANSWER = "www.Example.org. 60 IN A 192.0.2.1"
SHORT = 0.05
"""Seconds until a silent upstream is given up."""


class Sockets:
    """Counts what `Upstream` tells of its sockets: (transport, reused)."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bool]] = []

    def __call__(self, transport: str, reused: bool, times: int = 1) -> None:
        self.seen += [(transport, reused)] * times


def client_of(address: Address, sockets: Sockets | None = None, **settings: float) -> Upstream:
    conf = Settings(**{"read_timeout": 5.0, **settings})  # type: ignore[arg-type]
    return Upstream(address, conf, random.Random(1), sockets or Sockets())


async def ask(upstream: Upstream, transport: str = "udp", limit: int = 512) -> Message:
    return await upstream.ask(pack(QUERY), QUESTION, transport, limit)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
async def test_the_query_goes_out_as_it_is_and_the_reply_comes_back(transport: str) -> None:
    async with scripted_upstream(saying(ANSWER, flags=Flag.AA)) as server:
        upstream = client_of(server.address)
        reply = await ask(upstream, transport)
        upstream.close()
    assert texts(reply.answer) == [ANSWER]
    assert reply.flags == Flag.QR | Flag.AA | Flag.RD | Flag.RA
    heard_by, heard = server.asked[0]
    assert (heard_by, heard._replace(id=0)) == (transport, QUERY)


async def test_ids_and_ports_change() -> None:
    async with scripted_upstream(saying(ANSWER)) as server:
        upstream = client_of(server.address)
        for _ in range(SOCKETS * USES + 1):
            await ask(upstream)
        upstream.close()
    assert len({query.id for _, query in server.asked}) > SOCKETS * USES * 0.95
    uses = [server.ports.count(port) for port in set(server.ports)]
    assert len(uses) > SOCKETS
    assert max(uses) == USES


def wrong_id(query: Message) -> Message | bytes:
    return reply_to(query)._replace(id=query.id ^ 1)


def wrong_question(query: Message) -> Message | bytes:
    return reply_to(query)._replace(question=Question("evil.example.org.", Type.A))


def not_a_reply(query: Message) -> Message | bytes:
    return query


def garbage(query: Message) -> Message | bytes:
    return pack(query)[:12] + b"\x81"


def too_short(query: Message) -> Message | bytes:
    return pack(query)[:3]


@pytest.mark.parametrize("wrong", [wrong_id, wrong_question, not_a_reply, garbage, too_short])
async def test_the_right_reply_counts_after_any_number_of_wrong_ones(
    wrong: Callable[[Message], Message | bytes],
) -> None:
    def script(query: Message, transport: str) -> Sequence[Message | bytes]:
        return [wrong(query)] * 3 + [*saying(ANSWER)(query, transport)]

    async with scripted_upstream(script) as server:
        upstream = client_of(server.address)
        assert texts((await ask(upstream)).answer) == [ANSWER]
        upstream.close()
    assert len(server.asked) == 1


async def test_a_late_reply_meets_nobody() -> None:
    async with scripted_upstream(silent) as server:
        upstream = client_of(server.address, read_timeout=SHORT)
        with pytest.raises(ExchangeError):
            await ask(upstream)
        server.script = saying(ANSWER)
        server.late(reply_to(server.asked[0][1], rcode=3))
        assert (await ask(upstream)).rcode == 0
        upstream.close()
    assert server.ports[0] != server.ports[1]


async def test_replies_may_come_in_any_order() -> None:
    async with scripted_upstream(silent) as server:
        upstream = client_of(server.address, max_idle=1)
        questions = [Question(f"{number}.example.org.", Type.A) for number in range(50)]
        wires = [pack(QUERY._replace(question=question)) for question in questions]
        asking = [
            asyncio.ensure_future(upstream.ask(wire, question, "udp", 512))
            for wire, question in zip(wires, questions, strict=True)
        ]
        await server.heard(50)
        for position in reversed(range(50)):
            server.late(reply_to(server.asked[position][1]), position)
        replies = await asyncio.gather(*asking)
        upstream.close()
    assert len(set(server.ports)) == 1
    assert [reply.question for reply in replies] == questions


@pytest.mark.parametrize("transport", ["udp", "tcp"])
async def test_silence_ends_with_the_read_timeout(transport: str) -> None:
    async with scripted_upstream(silent) as server:
        upstream = client_of(server.address, read_timeout=SHORT)
        with pytest.raises(ExchangeError) as raised:
            await ask(upstream, transport)
        upstream.close()
    expected = rf"read {transport} 127\.0\.0\.1:\d+->127\.0\.0\.1:{server.address.port}: i/o timeout"
    assert re.fullmatch(expected, str(raised.value))


async def test_a_closed_udp_port_is_known_at_once() -> None:
    address = closed_address()
    upstream = client_of(address)
    with pytest.raises(ExchangeError) as raised:
        await ask(upstream)
    upstream.close()
    expected = rf"read udp 127\.0\.0\.1:\d+->{re.escape(str(address))}: read: connection refused"
    assert re.fullmatch(expected, str(raised.value))


async def test_a_closed_udp_port_is_known_to_every_query_at_once() -> None:
    """The kernel tells of it once for all queries on a socket, perhaps to a query that is about to leave."""
    upstream = client_of(closed_address(), max_idle=1)
    failures = await asyncio.gather(*(ask(upstream) for _ in range(5)), return_exceptions=True)
    assert [str(failure).partition(": ")[2] for failure in failures] == ["read: connection refused"] * 5


@pytest.mark.parametrize("way", ["batches", "singly"])
async def test_a_closed_udp_port_is_known_to_every_query_of_a_turn(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "singly":
        monkeypatch.setattr(udp, "shared_batch", lambda _: None)
    upstream = client_of(closed_address(), max_idle=1)
    with TURN:
        asking = [upstream.ask(pack(QUERY), QUESTION, "udp", 512) for _ in range(70)]
    failures = await asyncio.gather(*asking, return_exceptions=True)
    assert [str(failure).partition(": ")[2] for failure in failures] == ["read: connection refused"] * 70


@pytest.mark.parametrize("way", ["batches", "singly"])
async def test_queries_that_leave_after_a_port_was_opened_are_answered(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel tells them of what an earlier one has met."""
    if way == "singly":
        monkeypatch.setattr(udp, "shared_batch", lambda _: None)
    address = closed_address()
    upstream = client_of(address, max_idle=1)
    asking = [upstream.ask(pack(QUERY), QUESTION, "udp", 512)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(address)
        with TURN:
            asking += [upstream.ask(pack(QUERY), QUESTION, "udp", 512) for _ in range(3)]
        for _ in range(3):
            query, peer = server.recvfrom(512, socket.MSG_DONTWAIT)
            server.sendto(pack(reply_to(parse(query))), peer)
        failure, *replies = await asyncio.gather(*asking, return_exceptions=True)
    upstream.close()
    assert str(failure).endswith("read: connection refused")
    assert [isinstance(reply, Message) for reply in replies] == [True] * 3


@pytest.mark.parametrize("way", ["batches", "singly"])
async def test_a_query_that_cannot_be_sent_costs_no_other(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "singly":
        monkeypatch.setattr(udp, "shared_batch", lambda _: None)
    async with scripted_upstream(saying(ANSWER)) as server:
        upstream = client_of(server.address)
        with TURN:
            wires = [pack(QUERY), pack(QUERY) + bytes(1 << 16), pack(QUERY)]
            asking = [upstream.ask(wire, QUESTION, "udp", 512) for wire in wires]
        first, failure, last = await asyncio.gather(*asking, return_exceptions=True)
        upstream.close()
    assert isinstance(first, Message) and isinstance(last, Message)
    expected = rf"write udp 127\.0\.0\.1:\d+->{re.escape(str(server.address))}: write: message too long"
    assert re.fullmatch(expected, str(failure))


async def test_a_closed_tcp_port_is_known_at_once() -> None:
    address = closed_address()
    with pytest.raises(ExchangeError) as raised:
        await ask(client_of(address), "tcp")
    assert str(raised.value) == f"dial tcp {address}: connect: connection refused"


async def test_a_reply_larger_than_the_client_takes_is_truncated() -> None:
    many = [f"www.example.org. 60 IN A 192.0.2.{number}" for number in range(1, 60)]
    async with scripted_upstream(saying(*many)) as server:
        upstream = client_of(server.address)
        small, large = await ask(upstream), await ask(upstream, limit=4096)
        stream = await ask(upstream, "tcp")
        upstream.close()
    assert (small.truncated, small.answer) == (True, ())
    assert not large.truncated
    assert texts(large.answer) == texts(stream.answer) == many


class Draws(random.Random):
    """Random IDs that are given."""

    def __init__(self, *numbers: int) -> None:
        super().__init__()
        self._octets = b"".join(number.to_bytes(2, "big") for number in numbers)

    def randbytes(self, n: int) -> bytes:
        return self._octets[:n]


async def test_ids_are_drawn_many_at_a_time() -> None:
    ids = random_ids(Draws(*range(300)))
    drawn = [next(ids) for _ in range(DRAWN // 2)]
    assert drawn == [number.to_bytes(2, "big") for number in range(DRAWN // 2)]
    assert next(ids) == b"\0\0"


async def test_an_id_under_way_is_not_used_again() -> None:
    async with scripted_upstream(silent) as server:
        upstream = Upstream(server.address, Settings(read_timeout=5.0, max_idle=1), Draws(7, 7, 8))
        asking = [asyncio.ensure_future(ask(upstream)) for _ in range(2)]
        await server.heard(2)
        for position, (_, query) in enumerate(server.asked):
            server.late(reply_to(query), position)
        await asyncio.gather(*asking)
        upstream.close()
    assert [query.id for _, query in server.asked] == [7, 8]


async def test_udp_sockets_are_counted() -> None:
    sockets = Sockets()
    async with scripted_upstream(saying(ANSWER)) as server:
        upstream = client_of(server.address, sockets, max_idle=2)
        for _ in range(4):
            await ask(upstream)
        upstream.close()
    assert sockets.seen == [("udp", False), ("udp", False), ("udp", True), ("udp", True)]


class TestTcp:
    """Connections: kept, given up, asked for again."""

    async def two(self, between: str = "", *, script: Script | None = None, **settings: float) -> list[bool]:
        """Ask twice; whether each found a connection."""
        sockets = Sockets()
        async with scripted_upstream(script or saying(ANSWER)) as server:
            upstream = client_of(server.address, sockets, **settings)
            for _ in range(2):
                assert texts((await ask(upstream, "tcp")).answer) == [ANSWER]
                if between == "hang up":
                    server.hang_up()
            upstream.close()
        return [reused for _, reused in sockets.seen]

    async def test_a_connection_is_used_again(self) -> None:
        assert await self.two() == [False, True]

    async def test_but_not_when_it_is_too_old(self) -> None:
        assert await self.two(max_age=1e-9) == [False, False]

    async def test_a_connection_closed_while_idle_is_no_failure(self) -> None:
        assert await self.two("hang up") in ([False, True, False], [False, False])

    async def test_nor_is_one_closed_in_place_of_an_answer(self) -> None:
        sockets = Sockets()
        async with scripted_upstream(saying(ANSWER)) as server:
            upstream = client_of(server.address, sockets)
            await ask(upstream, "tcp")

            def hang_up_once(query: Message, transport: str) -> Sequence[Message | bytes]:
                server.script = saying(ANSWER)
                server.hang_up()
                return ()

            server.script = hang_up_once
            assert texts((await ask(upstream, "tcp")).answer) == [ANSWER]
            upstream.close()
        assert [transport for transport, _ in server.asked] == ["tcp"] * 3
        assert [reused for _, reused in sockets.seen] == [False, True, False]

    async def test_a_new_connection_closed_in_place_of_an_answer_is(self) -> None:
        async with scripted_upstream(silent) as server:

            def hang_up(query: Message, transport: str) -> Sequence[Message | bytes]:
                server.hang_up()
                return ()

            server.script = hang_up
            with pytest.raises(ExchangeError, match=r"^EOF$"):
                await ask(client_of(server.address), "tcp")

    async def test_two_queries_at_a_time_have_two_connections(self) -> None:
        sockets = Sockets()
        async with scripted_upstream(silent) as server:
            upstream = client_of(server.address, sockets)
            asking = [asyncio.create_task(ask(upstream, "tcp")) for _ in range(2)]
            await server.heard(2)
            for position in (1, 0):
                server.late(reply_to(server.asked[position][1]), position)
            await asyncio.gather(*asking)
            upstream.close()
        assert sockets.seen == [("tcp", False), ("tcp", False)]

    async def test_max_idle_bounds_what_is_kept(self) -> None:
        sockets = Sockets()
        async with scripted_upstream(saying(ANSWER)) as server:
            upstream = client_of(server.address, sockets, max_idle=1)
            await asyncio.gather(*(ask(upstream, "tcp") for _ in range(2)))
            await asyncio.gather(*(ask(upstream, "tcp") for _ in range(2)))
            upstream.close()
        assert sorted(reused for _, reused in sockets.seen) == [False, False, False, True]

    async def test_a_reply_with_another_id_is_passed_over(self) -> None:
        def script(query: Message, transport: str) -> Sequence[Message | bytes]:
            return [wrong_id(query), *saying(ANSWER)(query, transport)]

        assert await self.two(script=script) == [False, True]

    async def test_garbage_is_a_failure(self) -> None:
        def script(query: Message, transport: str) -> Sequence[Message | bytes]:
            return [garbage(query)]

        async with scripted_upstream(script) as server:
            with pytest.raises(ExchangeError, match=r"^dns: "):
                await ask(client_of(server.address), "tcp")


class TestProbe:
    """Any reply is a sign of life."""

    @pytest.mark.parametrize("transport", ["udp", "tcp"])
    @pytest.mark.parametrize("rcode", [0, 2, 5])
    async def test_a_reply_of_any_rcode(self, transport: str, rcode: int) -> None:
        async with scripted_upstream(saying(rcode=rcode)) as server:
            await client_of(server.address).probe(pack(QUERY), QUESTION, transport)
        assert [heard_by for heard_by, _ in server.asked] == [transport]

    @pytest.mark.parametrize("transport", ["udp", "tcp"])
    async def test_a_closed_port(self, transport: str) -> None:
        with pytest.raises(ExchangeError, match="connection refused"):
            await client_of(closed_address()).probe(pack(QUERY), QUESTION, transport)


async def test_a_query_that_is_given_up_leaves_nothing_behind() -> None:
    async with scripted_upstream(silent) as server:
        upstream = client_of(server.address, max_idle=1)
        asking = asyncio.create_task(ask(upstream))
        await server.heard(1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        server.late(reply_to(server.asked[0][1]))
        server.script = saying(ANSWER)
        assert texts((await ask(upstream)).answer) == [ANSWER]
        upstream.close()


async def test_what_is_under_way_ends_well_after_close() -> None:
    async with scripted_upstream(silent) as server:
        upstream = client_of(server.address, max_idle=1)
        asking = [asyncio.create_task(ask(upstream, transport)) for transport in ("udp", "udp", "tcp", "tcp")]
        await server.heard(4)
        upstream.close()
        for position, (_, query) in enumerate(server.asked):
            server.late(reply_to(query), position)
        replies = await asyncio.gather(*asking)
    assert [reply.rcode for reply in replies] == [0, 0, 0, 0]


async def test_a_socket_that_cannot_be_had_is_a_failure() -> None:
    upstream = Upstream(Address("127.0.0.1", 53), Settings(source="192.0.2.1"))
    for transport in ("udp", "tcp"):
        with pytest.raises(ExchangeError, match=f"^dial {transport} 127.0.0.1:53: "):
            await ask(upstream, transport)


async def test_the_text_of_an_upstream_is_its_metrics_label() -> None:
    assert str(client_of(Address("192.0.2.1", 53))) == "192.0.2.1:53"
    assert str(client_of(Address("2001:db8::1", 5353))) == "[2001:db8::1]:5353"


async def test_a_peer_that_has_gone_before_the_transport_is_there_has_a_name() -> None:
    connection = TcpConnection(Address("192.0.2.1", 53), lambda _: None)
    connection.connection_made(asyncio.Transport(extra={"sockname": ("127.0.0.1", 1024)}))
    assert connection.path == "127.0.0.1:1024->192.0.2.1:53"
