"""Prefetch and serve_stale."""

from __future__ import annotations

import asyncio

import pytest

from pydns.dns.message import Message
from pydns.dns.types import Rcode
from pydns.query import Query
from tests.plugins.cache.below import Below, Cached
from tests.support import settle, texts

OLD = "www.example.org. 100 IN A 192.0.2.1"
NEW = "www.example.org. 100 IN A 192.0.2.2"
SOA = "authority: example.org. 600 IN SOA ns.example.org. host.example.org. 1 7200 1800 86400 60"


class TestPrefetch:
    """Popular replies are asked for again shortly before they expire."""

    async def hits(self, cached: Cached, at: float, count: int = 1) -> None:
        cached.clock.now = 1000 + at
        for _ in range(count):
            await cached.ask()
        await settle()

    @pytest.mark.parametrize(
        ("words", "hits", "left", "asked"),
        [
            ("2", 1, 10, 2),
            ("3", 1, 10, 1),
            ("2", 1, 11, 1),
            ("2 1m 50%", 1, 50, 2),
            ("2 5s", 1, 10, 1),
            ("0", 5, 10, 1),
        ],
    )
    async def test_when(self, words: str, hits: int, left: int, asked: int) -> None:
        cached = Cached(Below(OLD), f"cache {{\nprefetch {words}\n}}")
        await self.hits(cached, 0)
        await self.hits(cached, 100 - left - 20, hits)
        await self.hits(cached, 100 - left)
        assert len(cached.below.asked) == asked
        assert cached.count("prefetch_total") == asked - 1

    async def test_the_new_reply_takes_the_old_one_s_place(self) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 1\n}")
        await self.hits(cached, 0)
        cached.below.says(NEW)
        cached.clock.now += 95
        assert texts((await cached.ask()).answer) == [OLD.replace("100", "5")]
        await settle()
        assert texts((await cached.ask()).answer) == [NEW]
        assert len(cached.below.asked) == 2

    async def test_popularity_is_inherited(self) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 3\n}")
        await self.hits(cached, 0, 3)
        await self.hits(cached, 59)
        await self.hits(cached, 95)
        assert len(cached.below.asked) == 2
        await self.hits(cached, 140)
        await self.hits(cached, 190)
        assert len(cached.below.asked) == 3

    async def test_a_denial_goes_when_there_is_a_positive_reply(self) -> None:
        cached = Cached(Below(SOA, rcode=Rcode.NXDOMAIN), "cache {\nprefetch 1\n}")
        await self.hits(cached, 0)
        cached.below.says(NEW)
        await self.hits(cached, 57)
        assert texts((await cached.ask()).answer) == [NEW]

    @pytest.mark.parametrize(
        ("records", "rcode", "then"), [([], Rcode.SERVFAIL, Rcode.NOERROR), ([SOA], Rcode.NXDOMAIN, Rcode.NXDOMAIN)]
    )
    async def test_a_kept_failure_yields_to_a_positive_reply(self, records: list[str], rcode: int, then: int) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 1\n}")
        await self.hits(cached, 0)
        cached.below.says(*records, rcode=rcode)
        await self.hits(cached, 95)
        assert (await cached.ask()).rcode == then

    async def test_one_at_a_time(self) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 1\n}")
        await self.hits(cached, 0)
        cached.clock.now += 95
        for _ in range(5):
            await cached.ask()
        await settle()
        assert len(cached.below.asked) == 2

    async def test_a_failure_leaves_the_old_one(self) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 1\n}")
        await self.hits(cached, 0)
        cached.below.fails()
        await self.hits(cached, 95, 2)
        assert texts((await cached.ask()).answer) == [OLD.replace("100", "5")]

    async def test_the_query_has_no_client_to_be_too_small_for(self) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 1\n}")
        await self.hits(cached, 0)
        await self.hits(cached, 95)
        first, second = cached.below.asked
        assert (first.transport, second.transport) == ("udp", "tcp")
        assert second.asks_ad

    async def test_replays_count_as_hits(self) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 6\n}")
        await cached.ask()
        replay = (await cached.ask()).replay
        assert replay is not None
        for counter in replay.counters:
            counter(4)
        await self.hits(cached, 50)
        await self.hits(cached, 95)
        assert len(cached.below.asked) == 2

    async def test_near_the_end_every_hit_is_looked_at(self) -> None:
        cached = Cached(Below(OLD), "cache {\nprefetch 5\n}")
        await cached.ask()
        assert (await cached.ask()).replay is not None
        cached.clock.now += 95
        assert (await cached.ask()).replay is None


class TestStale:
    """Expired replies."""

    async def expired(self, words: str = "", by: float = 1) -> Cached:
        cached = Cached(Below(OLD), f"cache {{\nserve_stale {words}\n}}")
        await cached.ask()
        cached.clock.now += 100 + by
        return cached

    @pytest.mark.parametrize(
        ("words", "by", "served"),
        [("", 0, True), ("", 3599, True), ("", 3600, False), ("10s", 9, True), ("10s", 10, False)],
    )
    async def test_for_how_long(self, words: str, by: float, served: bool) -> None:
        cached = await self.expired(words, by)
        cached.below.says(NEW)
        expected = OLD.replace("100", "0") if served else NEW
        assert texts((await cached.ask()).answer) == [expected]
        assert cached.count("served_stale_total") == int(served)
        assert cached.count("misses_total") == (1 if served else 2)

    async def test_the_next_one_is_fresh(self) -> None:
        cached = await self.expired()
        cached.below.says(NEW)
        assert (await cached.ask()).replay is None
        await settle()
        assert texts((await cached.ask()).answer) == [NEW]
        assert cached.count("prefetch_total") == 1

    async def test_with_a_ttl_of_its_own(self) -> None:
        assert await (await self.expired("1h immediate 30s")).ttl() == 30

    @pytest.mark.parametrize("mode", ["immediate", "verify"])
    @pytest.mark.parametrize("rcode", [Rcode.SERVFAIL, Rcode.REFUSED])
    async def test_a_bad_reply_does_not_take_its_place(self, mode: str, rcode: int) -> None:
        cached = await self.expired(f"1h {mode}")
        cached.below.says(rcode=rcode)
        for _ in range(3):
            assert texts((await cached.ask()).answer) == [OLD.replace("100", "0")]
            await settle()
        assert len(cached.below.asked) == 4

    @pytest.mark.parametrize("mode", ["immediate", "verify"])
    async def test_nor_does_a_failure(self, mode: str) -> None:
        cached = await self.expired(f"1h {mode}")
        cached.below.fails()
        assert texts((await cached.ask()).answer) == [OLD.replace("100", "0")]
        await settle()

    @pytest.mark.parametrize("mode", ["immediate 0s 30s", "verify 0s 0s 30s"])
    async def test_recheck_bounds_how_often_is_asked(self, mode: str) -> None:
        cached = await self.expired(f"1h {mode}")
        cached.below.fails()
        for seconds in (0, 29, 2):
            cached.clock.now += seconds
            assert (await cached.ask()).rcode == Rcode.NOERROR
            await settle()
        assert len(cached.below.asked) == 3

    async def test_verify_asks_first(self) -> None:
        cached = await self.expired("1h verify")
        cached.below.says(NEW)
        assert texts((await cached.ask()).answer) == [NEW]
        assert cached.count("served_stale_total") == 0

    async def test_a_name_that_is_gone_is_gone(self) -> None:
        cached = await self.expired("1h verify")
        cached.below.says(SOA, rcode=Rcode.NXDOMAIN)
        assert (await cached.ask()).rcode == Rcode.NXDOMAIN


class TestVerifyTimeout:
    """verify waits so long and no longer; the reply may still come."""

    async def waiting(self) -> tuple[Cached, asyncio.Task[Message], asyncio.Event]:
        cached = Cached(Below(OLD), "cache {\nserve_stale 1h verify 100ms\n}")
        await cached.ask()
        cached.clock.now += 101
        go = asyncio.Event()
        cached.below.says(NEW)
        serve = cached.below._serve

        async def slow(query: Query) -> Message:
            await go.wait()
            return await serve(query)

        cached.below._serve = slow
        asking = asyncio.create_task(cached.ask())
        await settle()
        assert not asking.done()
        return cached, asking, go

    async def test_in_time(self) -> None:
        _, asking, go = await self.waiting()
        go.set()
        assert texts((await asking).answer) == [NEW]

    async def test_too_late(self) -> None:
        cached, asking, go = await self.waiting()
        await cached.clock.advance(0.1)
        assert texts((await asking).answer) == [OLD.replace("100", "0")]
        go.set()
        await settle()
        assert texts((await cached.ask()).answer) == [NEW]

    async def test_stop_ends_what_is_under_way(self) -> None:
        cached, asking, _ = await self.waiting()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await cached.plugin.stop()
        assert len(asyncio.all_tasks()) == 1
