"""Queries for other servers on the short way: the octets and the metrics of a server that knows the chain alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from pydns.address import Address
from pydns.dns import Edns, Flag, Message, Question
from pydns.dns.message import RR, parse
from pydns.dns.types import Rcode, Type
from pydns.plugins.cache.plugin import Cache
from pydns.plugins.forward.plugin import Forward
from pydns.server.listener import Listener
from pydns.turn import TURN
from pydns.upstream.udp import USES
from tests.scripted_upstream import Script, closed_address, reply_to, saying, scripted_upstream, silent
from tests.server.corefile_server import CLIENT, LOCAL, CorefileServer
from tests.server.parts import packet
from tests.support import Clock

CHAIN = """\
.:53 {{
    errors
    prometheus 127.0.0.1:9153
    loadbalance
    cache 30 {{
        {cache}
    }}
    loop
    forward . {upstreams} {{
        read_timeout 50ms
        {forward}
    }}
}}
"""


@asynccontextmanager
async def serving(
    *upstreams: Address, remember: bool, cache: str = "", forward: str = ""
) -> AsyncIterator[CorefileServer]:
    to = " ".join(map(str, upstreams))
    corefile = CHAIN.format(upstreams=to, cache=cache, forward=forward)
    server = CorefileServer(corefile, Clock(), remember=remember)
    (plugin,) = (plugin for plugin in server.plugins if plugin.name == "forward")
    await plugin.start()
    yield server
    await server.listener.finish()
    for plugin in server.plugins:
        if plugin.name in ("forward", "cache", "errors"):
            await plugin.stop()


def counted(server: CorefileServer) -> list[str]:
    """All that was counted, but for what only a server that remembers has: time stands still."""
    lines = server.process.metrics.exposition().decode().splitlines()
    return sorted(line for line in lines if re.match("coredns_(?!packet_cache)", line))


def under_way(listener: Listener) -> int:
    return len(listener._errands._under_way)


async def both_ways(script: Script, query: bytes, **more: str) -> tuple[list[Message], list[bytes | None]]:
    """Ask twice on either way; what the upstream was asked, and the replies, once they were found to be the same."""
    outcomes = []
    for remember in (True, False):
        async with (
            scripted_upstream(script) as upstream,
            serving(upstream.address, remember=remember, **more) as server,
        ):
            replies = [await server.ask_chain(query), await server.ask_chain(query)]
            asked = [(transport, message._replace(id=0)) for transport, message in upstream.asked]
            metrics = [line.replace(str(upstream.address), "UPSTREAM") for line in counted(server)]
            outcomes.append((replies, asked, metrics))
    assert outcomes[0] == outcomes[1]
    return [message for _, message in outcomes[0][1]], outcomes[0][0]


WWW = "www.Example.org. A"
QUESTION = Question("www.Example.org.", Type.A)
A = "www.Example.org. {} IN A 192.0.2.1"
SOA = "authority: example.org. 60 IN SOA ns.example.org. admin.example.org. 1 7200 3600 86400 20"


def with_edns(script: Script, edns: Edns) -> Script:
    def said(query: Message, transport: str) -> Sequence[Message | bytes]:
        return [reply._replace(edns=edns) for reply in script(query, transport) if isinstance(reply, Message)]

    return said


def after(wrong: Callable[[Message], Message | bytes], script: Script) -> Script:
    def said(query: Message, transport: str) -> Sequence[Message | bytes]:
        return [wrong(query), *script(query, transport)]

    return said


def without_question(query: Message, transport: str) -> Sequence[Message]:
    return [reply_to(query, rcode=Rcode.FORMERR)._replace(question=None)]


def in_capitals(query: Message, transport: str) -> Sequence[Message]:
    assert query.question is not None
    name = query.question.name.upper()
    records = (RR(name, Type.A, 60, b"\xc0\0\2\1"),)
    return [reply_to(query)._replace(question=query.question._replace(name=name), answer=records)]


REPLIES: dict[str, Script] = {
    "an address": saying(A.format(300)),
    "a short TTL": saying(A.format(7)),
    "TTL 0": saying(A.format(0)),
    "AA, AD and Z": saying(A.format(60), flags=Flag.AA | Flag.AD | 0x40),
    "EDNS": with_edns(saying(A.format(60)), Edns(1232, 0x8000)),
    "EDNS options": with_edns(saying(A.format(60)), Edns(1232, 0, 0, ((10, b"12345678"),))),
    "an extended rcode": with_edns(saying(A.format(60), rcode=Rcode.BADVERS), Edns(1232)),
    "TC": saying(A.format(60), flags=Flag.TC),
    "another opcode": saying(A.format(60), flags=0x2000),
    "two records": saying(A.format(60), A.format(30)),
    "one record twice": saying(A.format(60), A.format(60)),
    "a CNAME": saying("www.Example.org. 60 IN CNAME web.example.org.", "web.example.org. 30 IN A 192.0.2.1"),
    "another owner": saying("web.example.org. 60 IN A 192.0.2.1"),
    "another type": saying("www.Example.org. 60 IN TXT x"),
    "an address and more": saying(A.format(60), "authority: example.org. 30 IN NS ns.example.org."),
    "NODATA": saying(SOA),
    "no records": saying(),
    "NXDOMAIN": saying(SOA, rcode=Rcode.NXDOMAIN),
    "NXDOMAIN and an address": saying(A.format(60), rcode=Rcode.NXDOMAIN),
    "SERVFAIL": saying(rcode=Rcode.SERVFAIL),
    "FORMERR without a question": without_question,
    "other letters": in_capitals,
    "a wrong question first": after(
        lambda query: reply_to(query)._replace(question=Question("x.", Type.A)), saying(A.format(9))
    ),
    "a query first": after(lambda query: query, saying(A.format(9))),
    "octets that are no message": after(lambda query: query.id.to_bytes(2, "big") + b"\x81", saying(A.format(9))),
    "a record that is cut": lambda query, _: [
        packet(WWW, ident=query.id, flags=Flag.QR)[:-4] + b"\0\1\0\1\xc0\x0c\0\1"
    ],
    "nothing": silent,
}


@pytest.mark.parametrize("script", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("edns", [None, Edns(1232), Edns(512, 0x8000)], ids=["plain", "EDNS", "DO"])
async def test_any_reply_is_as_the_chain_has_it(script: Script, edns: Edns | None) -> None:
    asked, _ = await both_ways(script, packet(WWW, edns=edns))
    assert asked and asked[0].question == Question("www.Example.org.", Type.A)


QUERIES = {
    "AAAA": packet("www.Example.org. AAAA"),
    "TXT": packet("www.Example.org. TXT"),
    "DS": packet("www.Example.org. DS"),
    "ANY": packet("www.Example.org. ANY"),
    "class CH": packet(WWW, cls=3),
    "the root": packet(". A"),
    "an escape": packet("w\\.w.Example.org. A"),
    "AD": packet(WWW, flags=Flag.RD | Flag.AD),
    "CD": packet(WWW, flags=Flag.RD | Flag.CD),
    "no RD": packet(WWW, flags=0),
    "Z": packet(WWW, flags=Flag.RD | 0x40),
    "NOTIFY": packet(WWW, flags=0x2000),
    "EDNS version 1": packet(WWW, edns=Edns(1232, 0, 1)),
    "an EDNS option": packet(WWW, edns=Edns(1232, 0, 0, ((10, b"12345678"),))),
    "all flags of EDNS": packet(WWW, edns=Edns(4096, 0xFFFF)),
    "a small size": packet(WWW, edns=Edns(1)),
    "an rcode": packet(WWW, rcode=3),
    "octets behind": packet(WWW) + b"\0",
    "a record": packet(WWW, additional=(RR("x.", Type.A, 1, bytes(4)),)),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("record", [A.format(300), "www.Example.org. 300 IN AAAA 2001:db8::1"], ids=["A", "AAAA"])
async def test_any_query_is_as_the_chain_has_it(query: bytes, record: str) -> None:
    await both_ways(saying(record, flags=Flag.AD), query)


CONFS = {
    "no cache of successes": {"cache": "disable success"},
    "of other zones": {"cache": "disable success example.com"},
    "bounds": {"cache": "success 1000 40 20"},
    "prefetch": {"cache": "prefetch 1"},
    "next": {"forward": "next NOERROR"},
    "force_tcp": {"forward": "force_tcp"},
    "prefer_udp": {"forward": "prefer_udp"},
    "max_concurrent": {"forward": "max_concurrent 1"},
    "failover": {"forward": "failover SERVFAIL NXDOMAIN"},
    "excepted": {"forward": "except example.org"},
    "attempts": {"forward": "max_connect_attempts 1"},
    "failfast": {"forward": "failfast_all_unhealthy_upstreams"},
}


@pytest.mark.parametrize("conf", CONFS.values(), ids=CONFS)
@pytest.mark.parametrize(
    "script", [saying(A.format(300)), saying(A.format(60), flags=Flag.TC), silent, saying(rcode=2)]
)
async def test_any_line_is_as_the_chain_has_it(conf: dict[str, str], script: Script) -> None:
    await both_ways(script, packet(WWW), **conf)


SEVERAL = [f"www.Example.org. 60 IN A 192.0.2.{number}" for number in range(1, 41)]
MOST_IN_512 = 29


@pytest.mark.parametrize("edns", [None, Edns(1232), Edns(512, 0x8000)], ids=["plain", "EDNS", "DO"])
@pytest.mark.parametrize("count", [2, 10, MOST_IN_512 - 1, MOST_IN_512, MOST_IN_512 + 1, 40])
async def test_several_addresses_are_as_the_chain_has_them(count: int, edns: Edns | None) -> None:
    """But for their order, which is drawn."""
    outcomes = []
    for remember in (True, False):
        script = saying(*SEVERAL[:count])
        async with (
            scripted_upstream(script) as upstream,
            serving(upstream.address, remember=remember) as server,
        ):
            octets = await server.ask_chain(packet(WWW, edns=edns))
            assert octets is not None
            reply = parse(octets)
            metrics = [line.replace(str(upstream.address), "UPSTREAM") for line in counted(server)]
            outcomes.append((reply._replace(answer=tuple(sorted(reply.answer))), len(octets), metrics))
    assert outcomes[0] == outcomes[1]


async def test_several_addresses_need_no_task_and_come_in_any_order() -> None:
    async with scripted_upstream(saying(*SEVERAL[:3])) as upstream, serving(upstream.address, remember=True) as server:
        firsts = set()
        for number in range(60):
            name = f"host-{number}.example.org."
            upstream.script = saying(*(record.replace("www.Example.org.", name) for record in SEVERAL[:3]))
            octets = await server.ask_chain(packet(f"{name} A"))
            assert octets is not None
            firsts.add(parse(octets).answer[0].rdata)
        assert not server.listener._pool._tasks
    assert len(firsts) == 3


# What an errand does itself.


async def test_a_plain_query_needs_no_task() -> None:
    async with scripted_upstream(silent) as upstream, serving(upstream.address, remember=True) as server:
        sent: list[bytes | None] = []
        server.listener.submit(packet(WWW, ident=7), CLIENT, LOCAL, "udp", sent.append)
        assert under_way(server.listener) == server.listener._pool.in_flight == 1
        assert not server.listener._pool._tasks
        await upstream.heard(1)
        upstream.late(saying(A.format(60))(upstream.asked[0][1], "udp")[0])
        await server.listener.finish()
        assert not server.listener._pool._tasks
    (octets,) = sent
    assert octets is not None
    reply = parse(octets)
    assert (reply.id, reply.answer) == (7, (RR("www.Example.org.", Type.A, 30, b"\xc0\0\2\1"),))


@pytest.mark.parametrize("policy", ["sequential", "round_robin"])
async def test_what_an_errand_has_tried_is_not_tried_again(policy: str) -> None:
    """Of three upstreams two are silent; each query asks each of them once, and is answered by the third."""
    async with scripted_upstream(silent) as one, scripted_upstream(silent) as two:
        async with scripted_upstream(saying(A.format(60))) as good:
            hosts = (one.address, two.address, good.address)
            async with serving(*hosts, remember=True, forward=f"policy {policy}") as server:
                octets = await server.ask_chain(packet(WWW))
        assert octets is not None and parse(octets).answer
        heard = [[query.question for _, query in each.asked] for each in (one, two, good)]
        assert [questions.count(Question("www.Example.org.", Type.A)) for questions in heard] == [1, 1, 1]


async def test_an_upstream_that_is_closed_is_an_error_of_its_own() -> None:
    async with serving(closed_address(), remember=True, forward="max_connect_attempts 1") as server:
        octets = await server.ask_chain(packet(WWW))
    assert octets is not None and parse(octets).rcode == Rcode.SERVFAIL


async def test_errands_that_are_cancelled_leave_nothing() -> None:
    async with scripted_upstream(silent) as upstream, serving(upstream.address, remember=True) as server:
        sent: list[bytes | None] = []
        for number in range(3):
            server.listener.submit(packet(f"{number}.example.org. A"), CLIENT, LOCAL, "udp", sent.append)
        server.listener.cancel()
        assert under_way(server.listener) == server.listener._pool.in_flight == 0
        await upstream.heard(3)
        upstream.late(saying(A.format(60))(upstream.asked[0][1], "udp")[0])
        await asyncio.sleep(0)
    assert sent == []


async def test_errands_count_among_the_queries_in_flight() -> None:
    async with scripted_upstream(silent) as upstream, serving(upstream.address, remember=True) as server:
        server.listener._max_in_flight = 2
        sent: list[bytes | None] = []
        for number in range(3):
            server.listener.submit(packet(f"{number}.example.org. A"), CLIENT, LOCAL, "udp", sent.append)
        assert (sent, under_way(server.listener)) == ([None], 2)
        server.listener.cancel()


@pytest.mark.parametrize("records", [(A.format(60),), (A.format(60), A.format(30))], ids=["plain", "not plain"])
async def test_the_same_name_twice_at_once_is_missed_twice(records: tuple[str, ...]) -> None:
    counts = []
    for remember in (True, False):
        async with scripted_upstream(silent) as upstream, serving(upstream.address, remember=remember) as server:
            asking = [asyncio.ensure_future(server.ask_chain(packet(WWW))) for _ in range(2)]
            await upstream.heard(2)
            for position, (transport, query) in enumerate(upstream.asked):
                upstream.late(saying(*records)(query, transport)[0], position)
            await asyncio.gather(*asking)
            counts.append([line.replace(str(upstream.address), "UPSTREAM") for line in counted(server)])
    assert counts[0] == counts[1]
    assert any(line.startswith("coredns_cache_misses_total") and line.endswith(" 2.0") for line in counts[0])


class Buggy:
    """A hook with a bug, in place of another."""

    def __call__(self, *_: object) -> bool:
        raise ZeroDivisionError("a bug")


@pytest.mark.parametrize(
    ("plugin", "hook"), [("cache", "back"), ("forward", "back"), ("cache", "ahead"), ("forward", "run")]
)
async def test_a_bug_in_a_link_costs_one_query(
    plugin: str, hook: str, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    kinds = {"cache": Cache, "forward": Forward}
    with monkeypatch.context() as patched:
        patched.setattr(kinds[plugin], hook, lambda *_: Buggy()())
        async with (
            scripted_upstream(saying(A.format(60))) as upstream,
            serving(upstream.address, remember=True) as server,
        ):
            octets = await server.ask_chain(packet(WWW, ident=7, edns=Edns(1232)))
            assert under_way(server.listener) == server.listener._pool.in_flight == 0
            assert "coredns_panics_total 1.0" in counted(server)
    assert octets is not None
    reply = parse(octets)
    assert (reply.id, reply.rcode, reply.question, reply.edns) == (7, Rcode.SERVFAIL, QUESTION, Edns(1232))
    assert len(log_lines) == 1 and "Recovered from panic in server" in log_lines[0]


async def test_the_queries_of_a_turn_leave_by_one_socket_and_those_of_the_next_by_another() -> None:
    async with scripted_upstream(silent) as upstream, serving(upstream.address, remember=True) as server:
        for turn in range(2):
            with TURN:
                for number in range(5):
                    query = packet(f"{turn}-{number}.example.org. A")
                    server.listener.submit(query, CLIENT, LOCAL, "udp", print)
        await upstream.heard(10)
        server.listener.cancel()
    first, second = set(upstream.ports[:5]), set(upstream.ports[5:])
    assert (len(first), len(second), len(first | second)) == (1, 1, 2)


async def test_a_turn_with_more_queries_than_a_socket_may_send_takes_several() -> None:
    async with scripted_upstream(silent) as upstream, serving(upstream.address, remember=True) as server:
        with TURN:
            for number in range(USES + 5):
                server.listener.submit(packet(f"{number}.example.org. A"), CLIENT, LOCAL, "udp", print)
        await upstream.heard(USES + 5)
        server.listener.cancel()
        metrics = counted(server)
    assert sorted(upstream.ports.count(port) for port in set(upstream.ports)) == [5, USES]
    to = f'proto="udp",proxy_name="forward",to="{upstream.address}"'
    assert [line for line in metrics if "conn_cache" in line and "udp" in line] == [
        f"coredns_proxy_conn_cache_hits_total{{{to}}} {USES + 3}.0",
        f"coredns_proxy_conn_cache_misses_total{{{to}}} 2.0",
    ]
