"""What *cache* keeps, remembered while its TTLs count down: octets and metrics of a server that remembers nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydns.dns import Edns, Flag, Message, Question
from pydns.dns.message import pack, parse
from pydns.dns.types import Rcode, Type
from pydns.plugins.cache.plugin import Cache
from tests.scripted_upstream import Script, ScriptedUpstream, saying, scripted_upstream
from tests.server.corefile_server import CorefileServer
from tests.support import Clock

CHAIN = """\
.:53 {{
    errors
    prometheus 127.0.0.1:9153
    loadbalance
    cache 30 {{
        {cache}
    }}
    forward . {upstream}
}}
"""
LINES = (
    "",
    "keepttl",
    "prefetch 2",
    "prefetch 3 1m 50%",
    "prefetch 3 10s 50%",
    "prefetch 2 1s 20%\nkeepttl",
    "serve_stale",
    "serve_stale 10s verify",
    "serve_stale 10s immediate 7s\nkeepttl",
    "servfail 2s",
    "denial 9984 5",
    "success 9984 7 0",
)
SOA = "authority: example.org. 20 IN SOA ns.example.org. host.example.org. 1 7200 1800 86400 12"
ADDRESS = "one.example.org. 17 IN A 192.0.2.1"
LONG_CHAIN = ["cut.example.org.", *(f"{letter * 60}.{letter * 60}.example.org." for letter in "abcdefgh")]
"""More than 512 octets."""
REPLIES: dict[str, Script] = {
    "one.example.org.": saying(ADDRESS),
    "two.example.org.": saying("two.example.org. 17 IN A 192.0.2.1", "two.example.org. 17 IN A 192.0.2.2"),
    "short.example.org.": saying("short.example.org. 2 IN A 192.0.2.1"),
    "chain.example.org.": saying(
        "chain.example.org. 300 IN CNAME web.example.org.",
        "web.example.org. 25 IN CNAME one.example.org.",
        ADDRESS,
    ),
    "zero.example.org.": saying("zero.example.org. 0 IN A 192.0.2.1", "zero.example.org. 300 IN A 192.0.2.2"),
    "endless.example.org.": saying(
        f"endless.example.org. {2**31} IN A 192.0.2.1", f"authority: example.org. {2**32 - 1} IN NS ns.example.org."
    ),
    "cut.example.org.": saying(
        *(f"{one} {20 + place} IN CNAME {other}" for place, (one, other) in enumerate(pairwise(LONG_CHAIN))),
        f"{LONG_CHAIN[-1]} 17 IN A 192.0.2.1",
    ),
    "glue.example.org.": saying(
        "glue.example.org. 25 IN A 192.0.2.1",
        "authority: example.org. 9 IN NS ns.example.org.",
        "additional: ns.example.org. 600 IN A 192.0.2.53",
    ),
    "none.example.org.": saying(SOA),
    "absent.example.org.": saying(SOA, rcode=Rcode.NXDOMAIN),
    "bare.example.org.": saying(rcode=Rcode.NXDOMAIN),
    "empty.example.org.": saying(),
    "broken.example.org.": saying(rcode=Rcode.SERVFAIL),
}


QUERIES = [
    pack(Message(7, flags, question=Question(name, Type.A), edns=edns))
    for name in REPLIES
    for flags, edns in ((Flag.RD, None), (Flag.RD | Flag.AD, Edns(1232)), (Flag.RD, Edns(1232, 0x8000)))
]
Step = bytes | float


def upstream_script(query: Message, transport: str) -> Sequence[Message | bytes]:
    assert query.question is not None
    return REPLIES[query.question.name](query, transport)


def set_out(reply: bytes | None) -> Message | None:
    """A reply but for the order of its answers."""
    if reply is None:
        return None
    message = parse(reply)
    return message._replace(answer=tuple(sorted(message.answer)))


class Twins:
    """A server that remembers and one that does not, asked the same at the same time."""

    def __init__(self, cache: str, upstream: ScriptedUpstream) -> None:
        self.clock = Clock()
        corefile = CHAIN.format(cache=cache, upstream=upstream.address)
        self.one, self.other = (CorefileServer(corefile, self.clock, remember=remember) for remember in (True, False))
        self._upstream = upstream

    async def run(self, script: Sequence[Step]) -> None:
        for step in script:
            if isinstance(step, float):
                self.clock.now += step
                continue
            got, asked = await self._ask(self.one, step)
            wanted, asked_too = await self._ask(self.other, step)
            assert set_out(got) == set_out(wanted)
            assert asked == asked_too
        assert self.one.counted() == self.other.counted()

    async def _ask(self, server: CorefileServer, query: bytes) -> tuple[bytes | None, list[tuple[str, Message]]]:
        """The reply, and what the upstream was asked for it, or in its wake."""
        before = len(self._upstream.asked)
        reply = await server.ask(query)
        for plugin in server.plugins:
            if isinstance(plugin, Cache):
                await asyncio.gather(*plugin._refresher._tasks._running)
        return reply, [(transport, message._replace(id=0)) for transport, message in self._upstream.asked[before:]]

    async def __aenter__(self) -> Twins:
        for plugin in (*self.one.plugins, *self.other.plugins):
            if plugin.name == "forward":
                await plugin.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in (self.one, self.other):
            await server.listener.finish()
            for plugin in server.plugins:
                if plugin.name in ("forward", "cache", "errors"):
                    await plugin.stop()


async def run(cache: str, script: Sequence[Step]) -> None:
    async with scripted_upstream(upstream_script) as upstream, Twins(cache, upstream) as twins:
        await twins.run(script)


@pytest.mark.parametrize("cache", LINES)
async def test_each_second_of_each_reply(cache: str) -> None:
    """With a second's tick between two of three steps, and at just the second."""
    script: list[Step] = []
    for query in QUERIES[::3]:
        for step in (0.0, 0.0, 0.0, *[0.6] * 60, *[1.0] * 40):
            script += [step, query]
    await run(cache, script)


@pytest.mark.parametrize("gap, silence", [(10, 9.0), (10, 11.0), (1, 0.75), (1, 1.25)])
async def test_hits_that_are_told_late_count_for_when_they_came(gap: int, silence: float) -> None:
    """Those from before a gap do not make *prefetch* ask again."""
    query = QUERIES[0]
    until_then = 17 - silence - 6.0
    script: list[Step] = [query, until_then, *[query] * 6, silence, query, 0.0, query, 5.0, query]
    await run(f"prefetch 4 {gap}s 50%", script)


LIVES = {
    "one.example.org.": 17,
    "short.example.org.": 5,
    "chain.example.org.": 17,
    "zero.example.org.": 5,
    "endless.example.org.": 30,
    "glue.example.org.": 9,
    "none.example.org.": 12,
    "absent.example.org.": 12,
    "empty.example.org.": 5,
    "broken.example.org.": 5,
}
"""Seconds that replies are kept: their lowest TTL, or an SOA record's MINIMUM, or what *cache* says."""


@pytest.mark.parametrize(("name", "life"), LIVES.items())
async def test_the_chain_is_asked_no_more_while_a_reply_is_kept(name: str, life: int) -> None:
    query = pack(Message(7, Flag.RD, question=Question(name, Type.A)))
    async with scripted_upstream(upstream_script) as upstream, Twins("", upstream) as twins:
        cache = twins.one.cache
        assert cache is not None
        await twins.run([query] * 4)
        for left in range(life, 0, -1):
            reply = cache.get(query)
            assert reply is not None
            assert {record.ttl for record in parse(reply).records()} <= {left}
            twins.clock.now += 1
        assert cache.get(query) is None


@pytest.mark.parametrize("cache", LINES)
@settings(max_examples=25, deadline=None)
@given(
    script=st.lists(st.sampled_from(QUERIES), min_size=1, max_size=3).flatmap(
        lambda some: st.lists(
            st.sampled_from(some) | st.sampled_from((0.1, 0.5, 0.9, 1.0, 1.1, 2.5, 7.0)), min_size=20, max_size=80
        )
    )
)
def test_it_is_as_if_nothing_were_remembered(cache: str, script: list[Step]) -> None:
    asyncio.run(run(cache, script))
