"""Replies through *cache*: the first time, from the cache, and after."""

from __future__ import annotations

import asyncio
from math import inf

import pytest

from pydns.dns.edns import Edns
from pydns.dns.message import Message, Question
from pydns.dns.replay import FOREVER, Replay
from pydns.dns.types import Flag, Rcode
from pydns.query import Failure, Query
from tests.plugins.cache.below import Below, Cached
from tests.support import settle, texts

A = "www.example.org. 300 IN A 192.0.2.1"
SOA = "authority: example.org. 600 IN SOA ns.example.org. host.example.org. 1 7200 1800 86400 60"
NS = "authority: example.org. 600 IN NS ns.example.org."


class TestHit:
    """The second time."""

    async def test_below_is_asked_once(self) -> None:
        cached = Cached(Below(A))
        first = await cached.ask()
        cached.clock.now += 1.5
        second = await cached.ask()
        assert len(cached.below.asked) == 1
        assert texts(first.answer) == [A]
        assert texts(second.answer) == [A.replace("300", "299")]
        assert (second.id, second.question) == (first.id, first.question)

    async def test_all_sections_and_the_rcode_come_back(self) -> None:
        cached = Cached(Below(A, NS, "additional: ns.example.org. 600 IN A 192.0.2.53", rcode=0, flags=Flag.RA))
        first, second = await cached.ask(), await cached.ask()
        assert second._replace(replay=None) == first

    @pytest.mark.parametrize(
        ("other", "asked"),
        [
            ({"question": "www.example.org. AAAA"}, 2),
            ({"question": "web.example.org. A"}, 2),
            ({"cls": 3}, 2),
            ({"edns": Edns(1232, 0x8000)}, 2),
            ({"flags": Flag.CD}, 2),
            ({"edns": Edns(1232)}, 1),
            ({"flags": 0}, 1),
            ({"flags": Flag.AD}, 1),
            ({"transport": "tcp"}, 1),
            ({"client": "::1"}, 1),
            ({"question": "WWW.example.ORG. A"}, 1),
        ],
    )
    async def test_what_the_reply_depends_on(self, other: dict[str, object], asked: int) -> None:
        cached = Cached(Below(A))
        await cached.ask()
        await cached.ask(**other)  # type: ignore[arg-type]
        assert len(cached.below.asked) == asked

    async def test_spelling(self) -> None:
        """The question as asked, the records as they were first asked for (CoreDNS)."""
        cached = Cached(Below("wWw.example.org. 300 IN A 192.0.2.1"))
        await cached.ask("wWw.example.org. A")
        hit = await cached.ask("www.EXAMPLE.org. A")
        assert hit.question == Question("www.EXAMPLE.org.", 1)
        assert texts(hit.answer) == ["wWw.example.org. 300 IN A 192.0.2.1"]

    async def test_rd_and_cd_are_the_client_s(self) -> None:
        cached = Cached(Below(A, flags=Flag.RA))
        await cached.ask(flags=Flag.RD | Flag.CD)
        assert (await cached.ask(flags=Flag.CD)).flags == Flag.QR | Flag.RA | Flag.CD

    @pytest.mark.parametrize(
        ("flags", "is_forwarded", "expected"),
        [(Flag.AA, False, Flag.AA), (0, False, 0), (Flag.AA | Flag.RA, True, Flag.RA), (Flag.RA, True, Flag.RA)],
    )
    async def test_aa_is_not_made_up(self, flags: int, is_forwarded: bool, expected: int) -> None:
        below = Below()
        below.change = lambda reply: reply._replace(forwarded=is_forwarded)  # type: ignore[method-assign]
        below.says(A, flags=flags)
        cached = Cached(below)
        first = await cached.ask(flags=0)
        assert first.flags == Flag.QR | flags
        assert (await cached.ask(flags=0)).flags == Flag.QR | expected

    @pytest.mark.parametrize(
        ("query", "shown"),
        [({}, False), ({"flags": Flag.AD}, True), ({"edns": Edns(1232, 0x8000)}, True), ({"edns": Edns(1232)}, False)],
    )
    async def test_ad_is_for_who_asks(self, query: dict[str, object], shown: bool) -> None:
        cached = Cached(Below(A, flags=Flag.AD))
        for _ in range(2):
            assert bool((await cached.ask(**query)).flags & Flag.AD) is shown  # type: ignore[arg-type]
        assert len(cached.below.asked) == 1
        assert cached.below.asked[0].asks_ad


class TestTtl:
    """One TTL for all records, within bounds."""

    @pytest.mark.parametrize(
        ("line", "records", "rcode", "ttl"),
        [
            ("cache", [A], 0, 300),
            ("cache", [A, NS], 0, 300),
            ("cache", [A, NS.replace("600", "30")], 0, 30),
            ("cache", [A.replace("300", "0")], 0, 5),
            ("cache", [A.replace("300", "86400")], 0, 3600),
            ("cache 30", [A], 0, 30),
            ("cache 30", [A, SOA], Rcode.NOERROR, 30),
            ("cache {\nsuccess 100 60 20\n}", [A.replace("300", "10")], 0, 20),
            ("cache {\nsuccess 100 60\n}", [A], 0, 60),
            ("cache {\nsuccess 100 60 0\n}", [A.replace("300", "0")], 0, 0),
            ("cache", [NS], 0, 5),
            ("cache", [SOA], 0, 60),
            ("cache", [SOA], Rcode.NXDOMAIN, 60),
            ("cache", [SOA.replace("600", "10")], Rcode.NXDOMAIN, 10),
            ("cache", [SOA.replace(" 60", " 86400").replace("600", "86400")], Rcode.NXDOMAIN, 1800),
            ("cache 30", [SOA], Rcode.NXDOMAIN, 30),
            ("cache {\ndenial 100 20 15\n}", [SOA.replace("600", "1")], Rcode.NXDOMAIN, 15),
            ("cache", [A, NS], Rcode.NXDOMAIN, 5),
            ("cache", [NS], Rcode.NXDOMAIN, 600),
            ("cache", [NS], Rcode.REFUSED, 5),
            ("cache", [NS], Rcode.SERVFAIL, 5),
            ("cache {\nservfail 30s\n}", [NS], Rcode.SERVFAIL, 30),
        ],
    )
    async def test_the_first_time(self, line: str, records: list[str], rcode: int, ttl: int) -> None:
        assert await Cached(Below(*records, rcode=rcode), line).ttl() == ttl

    async def test_it_counts_down_by_whole_seconds(self) -> None:
        cached = Cached(Below(A))
        shown = []
        for _ in range(5):
            shown.append(await cached.ttl())
            cached.clock.now += 0.6
        assert shown == [300, 300, 299, 299, 298]

    async def test_until_it_is_over(self) -> None:
        cached = Cached(Below(A), "cache 10")
        await cached.ask()
        cached.clock.now += 9.9
        assert (await cached.ttl(), len(cached.below.asked)) == (1, 1)
        cached.clock.now += 0.1
        assert (await cached.ttl(), len(cached.below.asked)) == (10, 2)

    async def test_or_not_with_keepttl(self) -> None:
        cached = Cached(Below(A), "cache 10 {\nkeepttl\n}")
        await cached.ask()
        cached.clock.now += 9
        assert (await cached.ttl(), len(cached.below.asked)) == (10, 1)
        cached.clock.now += 1
        assert (await cached.ttl(), len(cached.below.asked)) == (10, 2)

    async def test_opt_goes(self) -> None:
        below = Below(A)
        below.change = lambda reply: reply._replace(edns=Edns(4096))  # type: ignore[method-assign]
        below.says(A)
        assert (await Cached(below).ask(edns=Edns(1232))).edns is None


class TestWhatIsKept:
    """Which replies are served again."""

    @pytest.mark.parametrize(
        ("records", "rcode", "flags", "kept"),
        [
            ([A], 0, 0, "success"),
            ([NS], 0, 0, "success"),
            ([], 0, 0, "success"),
            ([SOA], 0, 0, "denial"),
            ([SOA], Rcode.NXDOMAIN, 0, "denial"),
            ([], Rcode.NXDOMAIN, 0, ""),
            ([], Rcode.SERVFAIL, 0, "denial"),
            ([], Rcode.NOTIMP, 0, "denial"),
            ([], Rcode.REFUSED, 0, ""),
            ([A], 0, Flag.TC, ""),
            (["www.example.org. 300 IN CNAME web.example.org."], 0, 0, ""),
        ],
    )
    async def test_by_kind(self, records: list[str], rcode: int, flags: int, kept: str) -> None:
        cached = Cached(Below(*records, rcode=rcode, flags=flags))
        await cached.ask()
        await cached.ask()
        assert len(cached.below.asked) == (1 if kept else 2)
        if kept:
            assert cached.count("hits_total", kept) == 1

    async def test_servfail_for_five_seconds(self) -> None:
        cached = Cached(Below(rcode=Rcode.SERVFAIL))
        for _ in range(3):
            await cached.ask()
            cached.clock.now += 2.5
        assert len(cached.below.asked) == 2

    async def test_or_not_at_all(self) -> None:
        cached = Cached(Below(rcode=Rcode.SERVFAIL), "cache {\nservfail 0\n}")
        await cached.ask()
        await cached.ask()
        assert len(cached.below.asked) == 2

    async def test_failures_are_not(self) -> None:
        cached = Cached(Below())
        cached.below.fails()
        for _ in range(2):
            with pytest.raises(Failure, match="no healthy proxies"):
                await cached.ask()
        assert len(cached.below.asked) == 2

    @pytest.mark.parametrize("line", ["", "disable success\ndisable denial org"])
    async def test_a_reply_to_another_question_is_dropped(self, line: str) -> None:
        below = Below()
        below.change = lambda reply: reply._replace(question=Question("evil.example.", 1))  # type: ignore[method-assign]
        below.says("evil.example. 300 IN A 192.0.2.66")
        cached = Cached(below, f"cache {{\n{line}\n}}")
        await cached.ask()
        await cached.ask()
        assert (len(below.asked), cached.count("drops_total")) == (2, 2)

    @pytest.mark.parametrize(
        ("line", "question", "asked"),
        [
            ("cache example.org", "www.example.org. A", 1),
            ("cache example.org", "WWW.Example.Org. A", 1),
            ("cache example.org", "www.example.com. A", 2),
            ("cache {\ndisable success\n}", "www.example.org. A", 2),
            ("cache {\ndisable denial\n}", "www.example.org. A", 1),
            ("cache {\ndisable success example.org\n}", "www.Example.org. A", 2),
            ("cache {\ndisable success example.com\n}", "www.example.org. A", 1),
        ],
    )
    async def test_by_zone(self, line: str, question: str, asked: int) -> None:
        name = question.split(maxsplit=1)[0]
        cached = Cached(Below(f"{name} 300 IN A 192.0.2.1"), line)
        await cached.ask(question)
        await cached.ask(question)
        assert len(cached.below.asked) == asked

    async def test_the_block_s_zones_are_the_default(self) -> None:
        cached = Cached(Below(A), key="example.com:53")
        assert await cached.ttl() == 300
        assert cached.count("requests_total", zones="example.com.") is None

    async def test_outside_its_zones_nothing_changes(self) -> None:
        cached = Cached(Below(A, NS), "cache example.com")
        replay = Replay(5000.0, ("tag",))
        cached.below.change = lambda reply: reply._replace(replay=replay, edns=Edns(4096))  # type: ignore[method-assign]
        cached.below.says(A, NS, flags=Flag.AD)
        reply = await cached.ask()
        assert texts(reply.records()) == [A, NS.removeprefix("authority: ")]
        assert (reply.replay, reply.edns, reply.flags & Flag.AD) == (replay, Edns(4096), Flag.AD)
        assert not cached.below.asked[0].asks_ad


class TestReplay:
    """Consent to the packet cache, and exact counts."""

    async def replay(self, cached: Cached) -> Replay:
        replay = (await cached.ask()).replay
        assert replay is not None
        return replay

    async def test_not_the_first_time(self) -> None:
        """The flags of a hit are others: RD and CD are the query's, AA may go."""
        below = Below()
        below.change = lambda reply: reply._replace(replay=Replay(9e9, ("tag",), 4))  # type: ignore[method-assign]
        below.says(A)
        assert (await Cached(below).ask()).replay is None

    @pytest.mark.parametrize(
        ("line", "ttls"), [("cache", [300, 300, 299, 299]), ("cache {\nkeepttl\n}", [300] * 4)], ids=["", "keepttl"]
    )
    async def test_its_lease_ends_with_the_second_and_has_the_ttl(self, line: str, ttls: list[int]) -> None:
        cached = Cached(Below(A), line)
        stored = cached.clock.now
        await cached.ask()
        replays = []
        for _ in range(4):
            replays.append(await self.replay(cached))
            cached.clock.now += 0.6
        assert [replay.lease.until - stored for replay in replays] == [1, 1, 2, 2]
        assert [int.from_bytes(replay.lease.octets, "big") for replay in replays] == ttls
        assert replays[0].lease is replays[1].lease  # so that several orders of one reply go together
        assert {replay.until for replay in replays} == {inf}

    @pytest.mark.parametrize(
        ("line", "passed", "left"),
        [
            ("", 299.9, 1),
            ("", 300.0, None),
            ("serve_stale", 300.0, None),
            ("keepttl", 299.9, 300),
            ("keepttl", 300.0, None),
            ("prefetch 2 10m", 269.9, 31),
            ("prefetch 2 10m", 270.0, None),
        ],
    )
    async def test_the_next_lease_has_the_ttl_of_a_hit(self, line: str, passed: float, left: int | None) -> None:
        """None where a hit is more than a reply with another TTL."""
        cached = Cached(Below(A), f"cache {{\n{line}\n}}" if line else "cache")
        await cached.ask()
        lease = (await self.replay(cached)).lease
        cached.clock.now += passed
        following = lease.latest()
        assert (following and int.from_bytes(following.octets, "big")) == left
        assert following is None or (following is following.latest() and following.until > cached.clock.now)

    async def test_no_lease_follows_when_another_reply_is_kept(self) -> None:
        cached = Cached(Below(A))
        gate = asyncio.Event()

        async def slow(query: Query) -> Message:
            await gate.wait()
            return await cached.below.serve(query)

        cached.plugin.next = slow
        late = asyncio.create_task(cached.ask())
        await settle()
        cached.plugin.next = cached.below.serve
        await cached.ask()
        lease = (await self.replay(cached)).lease
        assert lease.latest() is lease
        gate.set()
        await late
        assert lease.latest() is None

    async def test_to_ask_for_the_next_lease_is_to_use_the_reply(self) -> None:
        """So that it is not the first to go when there are too many."""
        cached = Cached(Below(A), "cache {\nsuccess 1024\n}")
        await cached.ask()
        lease = (await self.replay(cached)).lease
        cached.below.says()  # which fits every question
        for number in range(1030):
            await cached.ask(f"host{number}.example.org. A")
            if number == 1000:
                assert lease.latest() is lease
        assert lease.latest() is lease
        for number in range(1024):
            await cached.ask(f"guest{number}.example.org. A")
        assert lease.latest() is None

    async def test_where_a_gap_between_hits_may_matter_a_second_begins_with_a_hit(self) -> None:
        cached = Cached(Below(A), "cache {\nprefetch 2 1m\n}")
        stored = cached.clock.now
        await cached.ask()
        replay = await self.replay(cached)
        assert (replay.until - stored, replay.lease) == (1, FOREVER)

    async def test_the_data_below_does_not_matter_any_more(self) -> None:
        """What is kept ages as in CoreDNS, whatever changes below."""
        below = Below()
        below.change = lambda reply: reply._replace(replay=Replay(9e9, ("tag",), 4))  # type: ignore[method-assign]
        below.says(A)
        cached = Cached(below)
        await cached.ask()
        replay = await self.replay(cached)
        assert (replay.tags, replay.variants) == ((), 1)

    @pytest.mark.parametrize(
        ("records", "rcode", "kind"), [([A], 0, "success"), ([SOA], Rcode.NXDOMAIN, "denial"), ([], 2, "denial")]
    )
    async def test_a_replay_counts_as_a_hit(self, records: list[str], rcode: int, kind: str) -> None:
        cached = Cached(Below(*records, rcode=rcode))
        await cached.ask()
        for counter in (await self.replay(cached)).counters:
            counter(7)
        assert cached.count("requests_total") == 9
        assert (cached.count("hits_total", kind), cached.count("misses_total")) == (8, 1)

    async def test_without_consent_below_none_above(self) -> None:
        cached = Cached(Below(A), "cache {\ndisable success\n}")
        assert (await cached.ask()).replay is None

    @pytest.mark.parametrize("line", ["disable success", "disable success org\ndisable denial"])
    async def test_what_is_not_kept_is_replayed_as_below_allows_and_counts_as_a_miss(self, line: str) -> None:
        replay = Replay(5000.0, ("tag",), 2, (print,))
        below = Below()
        below.change = lambda reply: reply._replace(replay=replay)  # type: ignore[method-assign]
        below.says(A)
        cached = Cached(below, f"cache {{\n{line}\n}}")
        assert await self.replay(cached) == replay
        for counter in below.asked[0].counters:
            counter(3)
        assert (cached.count("requests_total"), cached.count("misses_total")) == (4, 4)


async def test_metrics() -> None:
    cached = Cached(Below(A), "cache example.org example.com")
    zones = "example.org.,example.com."
    await cached.ask()
    await cached.ask()
    cached.below.says(SOA, rcode=Rcode.NXDOMAIN)
    await cached.ask("nx.example.org. A")
    assert cached.count("requests_total", zones=zones) == 3
    assert cached.count("misses_total", zones=zones) == 2
    assert cached.count("hits_total", "success", zones=zones) == 1
    assert cached.count("hits_total", "denial", zones=zones) == 0
    assert cached.count("entries", "success", zones=zones) == 1
    assert cached.count("entries", "denial", zones=zones) == 1
    for name in ("drops_total", "prefetch_total", "served_stale_total"):
        assert cached.count(name, zones=zones) == 0


async def test_evictions_are_counted() -> None:
    cached = Cached(Below(), "cache {\nsuccess 1\n}")
    for number in range(1025):
        await cached.ask(f"{number}.example.org. A")
    assert (cached.count("evictions_total", "success"), cached.count("entries", "success")) == (1, 1024)
