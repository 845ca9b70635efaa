"""The bound on queries in flight, and how a listener ends."""

from __future__ import annotations

import asyncio

import pytest

from pydns.dns import Message
from pydns.dns.message import parse
from pydns.dns.replay import Replay
from pydns.query import Query
from pydns.server import listener as module
from pydns.server.listener import Listener
from tests.server.parts import Gate, make_listener, make_process, packet
from tests.support import answer, drop, settle

CLIENT = ("127.0.0.1", 40212)
LOCAL = ("127.0.0.1", 53)


def submit(listener: Listener, question: str = "example.org. A", transport: str = "udp") -> list[bytes | None]:
    """Where the reply goes."""
    sent: list[bytes | None] = []
    listener.submit(packet(question), CLIENT, LOCAL, transport, sent.append)
    return sent


async def test_send_is_called_once_with_the_reply_or_nothing() -> None:
    replied, dropped = submit(make_listener(answer())), submit(make_listener(drop))
    await settle()
    assert [parse(octets).id for octets in replied if octets] == [4711]
    assert dropped == [None]


async def test_queries_in_flight_are_bounded() -> None:
    gate = Gate()
    process = make_process()
    listener = make_listener(gate, max_in_flight=2, process=process)
    waiting = [submit(listener, f"{name}. A") for name in ("a", "b")]
    await gate.until_waiting(2)
    assert submit(listener, "c. A") == [None]
    shed = b'coredns_shed_dropped_total{reason="in_flight",server="dns://:53"} 1.0'
    assert shed in process.metrics.exposition()
    gate.open_all()
    await settle()
    assert all(sent for sent in waiting)
    again = submit(listener, "quick. A")
    await settle()
    assert again[0] is not None


async def test_a_query_that_came_by_tcp_is_never_dropped() -> None:
    """Its connection is not read where there are too many."""
    gate = Gate()
    listener = make_listener(gate, max_in_flight=1)
    sent = [submit(listener, f"{name}. A", "tcp") for name in ("a", "b")]
    assert listener.backlog == 2
    await gate.until_waiting(2)
    assert (listener.backlog, submit(listener, "c. A")) == (0, [None])
    gate.open_all()
    await settle()
    assert all(sent)


async def test_a_listener_waits_for_its_queries() -> None:
    gate = Gate()
    listener = make_listener(gate)
    sent = submit(listener, "slow. A")
    await gate.until_waiting(1)
    finished = asyncio.ensure_future(listener.finish())
    await settle()
    assert not finished.done()
    gate.open("slow.")
    await finished
    assert len(sent) == 1


async def test_a_listener_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOP_TIMEOUT", 0.01)
    gate = Gate()
    listener = make_listener(gate)
    sent = submit(listener, "slow. A")
    await gate.until_waiting(1)
    await listener.finish()
    await settle()
    assert (sent, listener._pool.in_flight) == ([None], 0)


async def test_replies_are_remembered_after_a_change() -> None:
    async def serve(query: Query) -> Message:
        return query.reply(replay=Replay(2000.0, ("data",)))

    process = make_process()
    listener = make_listener(serve, process=process)
    cache = listener.cache("udp", 4)
    assert cache is not None
    process.changes.publish(["data"])
    for _ in range(2):
        submit(listener)
        await settle()
    assert cache.get(packet()) is not None


async def test_a_listener_forgets_at_its_end_and_tells_its_replays() -> None:
    told: list[int] = []

    async def serve(query: Query) -> Message:
        return query.reply()._replace(replay=Replay(2000.0, ("data",), counters=(told.append,)))

    process = make_process()
    listener = make_listener(serve, process=process)
    for _ in range(2):
        submit(listener)
        await settle()
    cache = listener.cache("udp", 4)
    assert cache is not None
    assert cache.get(packet()) is not None
    await listener.finish()
    assert told == [1]
    assert listener.cache("udp", 4) is None
    assert (process.changes._listeners, process.metrics._before) == ([], [])


async def test_hits_of_the_packet_cache_are_counted_by_transport() -> None:
    async def serve(query: Query) -> Message:
        return query.reply()._replace(replay=Replay(2000.0))

    process = make_process()
    listener = make_listener(serve, process=process)
    for transport, family, client, hits in (
        ("udp", 4, CLIENT, 2),
        ("udp", 6, ("::1", 40212), 1),
        ("tcp", 4, CLIENT, 3),
    ):
        for _ in range(2):
            listener.submit(packet(), client, LOCAL, transport, lambda _: None)
            await settle()
        cache = listener.cache(transport, family)
        assert cache is not None
        for _ in range(hits):
            assert cache.get(packet()) is not None
    shown = process.metrics.exposition().decode()
    for proto, total in (("udp", 3), ("tcp", 3)):
        assert f'coredns_packet_cache_hits_total{{proto="{proto}",server="dns://:53"}} {total}.0' in shown


@pytest.mark.parametrize("kind, other", [(("udp", 4), ("tcp", 4)), (("udp", 4), ("udp", 6))])
async def test_each_kind_of_socket_has_a_memory_of_its_own(kind: tuple[str, int], other: tuple[str, int]) -> None:
    listener = make_listener()
    assert listener.cache(*kind) is listener.cache(*kind)
    assert listener.cache(*kind) is not listener.cache(*other)


async def test_memory_can_be_turned_off() -> None:
    assert make_listener(remember=False).cache("udp", 4) is None


async def test_data_that_change_while_a_reply_is_made_are_not_remembered() -> None:
    gate = Gate()

    async def serve(query: Query) -> Message:
        return (await gate(query))._replace(replay=Replay(2000.0, ("data",)))

    listener = make_listener(serve)
    for change in ((), ("data",)):
        submit(listener, "slow. A")
        await gate.until_waiting(1)
        listener.dispatcher.process.changes.publish(change)
        gate.open("slow.")
        await settle()
    cache = listener.cache("udp", 4)
    assert cache is not None
    assert cache.get(packet("slow. A")) is None
