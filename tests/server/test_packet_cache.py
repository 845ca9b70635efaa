"""What is remembered, for how long, and what it costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.dns.packed import Ring
from pydns.dns.replay import Lease, Replay
from pydns.server.marks import LAST as MARKS_LAST
from pydns.server.packet_cache import MAX_QUERY, MAX_REPLY, OVERHEAD, PacketCache, Ticket
from tests.support import Clock


def query(name: str, ident: int = 1) -> bytes:
    return ident.to_bytes(2, "big") + name.encode()


def reply(text: str, ident: int = 1) -> bytes:
    return ident.to_bytes(2, "big") + text.encode()


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def cache(clock: Clock) -> PacketCache:
    return PacketCache(clock)


def meet(cache: PacketCache, name: str) -> None:
    """Let a query be seen for the first time."""
    cache.put(query(name), b"", Replay(0.0), cache.ticket(query(name)))


def put(cache: PacketCache, name: str, text: str, until: float = 1010.0, *tags: Hashable, variants: int = 1) -> None:
    """Put a reply to a query that was seen before."""
    meet(cache, name)
    cache.put(query(name), reply(text), Replay(until, tags, variants), cache.ticket(query(name)))


def test_a_reply_has_the_id_of_each_query(cache: PacketCache) -> None:
    put(cache, "a", "one")
    assert cache.get(query("a", 7)) == reply("one", 7)
    assert cache.get(query("a", 0xFFFF)) == reply("one", 0xFFFF)


def test_every_octet_behind_the_id_counts(cache: PacketCache) -> None:
    put(cache, "a", "one")
    assert cache.get(query("A")) is None
    assert cache.get(query("a ")) is None
    assert cache.get(b"") is None


@pytest.mark.parametrize("now, known", [(1000.0, True), (1002.9, True), (1003.0, False)])
def test_a_reply_is_remembered_until_its_lease_ends(cache: PacketCache, clock: Clock, now: float, known: bool) -> None:
    meet(cache, "a")
    lease = Lease()
    cache.put(query("a"), reply("one"), Replay(math.inf, lease=lease), cache.ticket(query("a")))
    lease.until = 1003.0
    clock.now = now
    assert (cache.get(query("a")) is not None) is known


def leases(*octets: bytes) -> list[Lease]:
    """Leases that follow each other, all ended but the last."""
    made: list[Lease] = []
    made += [Lease(piece, lambda: made[-1]) for piece in octets]
    for lease in made[:-1]:
        lease.until = 1000.0
    return made


@pytest.mark.parametrize(
    "text, renewed",
    [("the 1st one", "the 3rd one"), ("none", None), ("1st and 1st", None)],
    ids=["as said", "without its octets", "with its octets twice"],
)
def test_a_lease_that_ended_is_renewed(cache: PacketCache, clock: Clock, text: str, renewed: str | None) -> None:
    first = leases(b"1st", b"2nd", b"3rd")[0]
    clock.now = 999.0
    meet(cache, "a")
    cache.put(query("a"), reply(text), Replay(math.inf, lease=first), cache.ticket(query("a")))
    clock.now = 1000.0
    expected = None if renewed is None else reply(renewed)
    assert [cache.get(query("a")) for _ in range(2)] == [expected] * 2


def test_where_its_octets_stand_is_asked_once(cache: PacketCache, clock: Clock) -> None:
    """What else looks like them later is left alone."""
    first, second, _ = leases(b"1", b"2", b"3")
    clock.now = 999.0
    first.latest = lambda: second
    second.until = 1001.0
    meet(cache, "a")
    cache.put(query("a"), reply("12"), Replay(math.inf, lease=first), cache.ticket(query("a")))
    clock.now = 1000.0
    assert cache.get(query("a")) == reply("22")
    clock.now = 1001.0
    assert cache.get(query("a")) == reply("32")


def test_variants_are_renewed_together(cache: PacketCache, clock: Clock) -> None:
    first = leases(b"old", b"new")[0]
    clock.now = 999.0
    for text in ("old one", "two old"):
        meet(cache, "a")
        consent = Replay(math.inf, variants=2, lease=first)
        cache.put(query("a"), reply(text), consent, cache.ticket(query("a")))
    clock.now = 1000.0
    assert [cache.get(query("a")) for _ in range(3)] == [reply(text) for text in ("new one", "two new", "new one")]


def test_variants_made_before_and_after_the_end_of_a_lease_go_together(cache: PacketCache, clock: Clock) -> None:
    clock.now = 999.0
    meet(cache, "a")
    for text, lease in zip(("old one", "new two"), leases(b"old", b"new"), strict=True):
        cache.put(query("a"), reply(text), Replay(math.inf, variants=2, lease=lease), cache.ticket(query("a")))
        clock.now = 1000.0
    assert [cache.get(query("a")) for _ in range(2)] == [reply("new one"), reply("new two")]


def test_replays_are_told_when_a_lease_is_renewed(cache: PacketCache, clock: Clock) -> None:
    told: list[int] = []
    first = leases(b"old", b"new")[0]
    clock.now = 999.0
    meet(cache, "a")
    cache.put(query("a"), reply("old"), Replay(math.inf, (), 1, (told.append,), lease=first), cache.ticket(query("a")))
    for _ in range(3):
        cache.get(query("a"))
    clock.now = 1000.0
    assert (cache.get(query("a")), told) == (reply("new"), [3])


def test_what_has_ended_otherwise_is_not_renewed(cache: PacketCache, clock: Clock) -> None:
    first = leases(b"1st", b"2nd")[0]
    clock.now = 999.0
    meet(cache, "a")
    cache.put(query("a"), reply("1st"), Replay(1000.0, lease=first), cache.ticket(query("a")))
    clock.now = 1000.0
    assert cache.get(query("a")) is None


def test_variants_of_another_lease_begin_anew(cache: PacketCache) -> None:
    put(cache, "a", "old", variants=2)
    lease = Lease()
    for text in ("one", "two"):
        consent = Replay(1010.0, variants=2, lease=lease)
        cache.put(query("a"), reply(text), consent, cache.ticket(query("a")))
    assert {cache.get(query("a")) for _ in range(4)} == {reply("one"), reply("two")}


@pytest.mark.parametrize("now, known", [(1000.0, True), (1009.9, True), (1010.0, False), (1011.0, False)])
def test_a_reply_is_remembered_until_its_time(cache: PacketCache, clock: Clock, now: float, known: bool) -> None:
    put(cache, "a", "one", 1010.0)
    clock.now = now
    assert (cache.get(query("a")) is not None) is known
    assert len(cache) == known


def test_what_is_over_already_is_not_kept(cache: PacketCache) -> None:
    put(cache, "a", "one", 1000.0)
    assert len(cache) == 0


@pytest.mark.parametrize(
    "name, text, kept",
    [
        ("q" * (MAX_QUERY - 2), "", True),
        ("q" * (MAX_QUERY - 1), "", False),
        ("q", "r" * (MAX_REPLY - 2), True),
        ("q", "r" * (MAX_REPLY - 1), False),
    ],
)
def test_large_messages_are_not_kept(cache: PacketCache, name: str, text: str, kept: bool) -> None:
    put(cache, name, text)
    assert len(cache) == kept


def test_a_change_ends_what_it_concerns(cache: PacketCache) -> None:
    put(cache, "a", "one", 1010.0, ("service", "a"), "zone")
    put(cache, "b", "two", 1010.0, ("service", "b"))
    cache.invalidate([("service", "a")])
    assert cache.get(query("a")) is None
    assert cache.get(query("b")) == reply("two")
    cache.invalidate(["zone"])  # its other tag went with it
    assert cache._tagged.keys() == {("service", "b")}


def test_the_first_reply_to_a_query_is_not_kept(cache: PacketCache) -> None:
    for _ in range(2):
        assert cache.get(query("a")) is None
        cache.put(query("a"), reply("one"), Replay(1010.0), cache.ticket(query("a")))
    assert cache.get(query("a")) == reply("one")


def test_a_query_is_known_when_its_reply_is_over(cache: PacketCache, clock: Clock) -> None:
    put(cache, "a", "one", 1001.0)
    clock.now = 1001.0
    assert cache.get(query("a")) is None
    cache.put(query("a"), reply("two"), Replay(1020.0), cache.ticket(query("a")))
    assert cache.get(query("a")) == reply("two")


@pytest.mark.parametrize("seconds, known", [(MARKS_LAST - 0.1, True), (MARKS_LAST, False)])
def test_a_query_that_comes_rarely_stays_new(cache: PacketCache, clock: Clock, seconds: float, known: bool) -> None:
    meet(cache, "a")
    clock.now += seconds
    cache.put(query("a"), reply("one"), Replay(2000.0), cache.ticket(query("a")))
    assert (cache.get(query("a")) is not None) is known


def test_a_reply_made_while_its_data_changed_is_not_kept(cache: PacketCache) -> None:
    for name in ("a", "b"):
        meet(cache, name)
    tickets = [cache.ticket(query(name)) for name in ("a", "b")]
    cache.invalidate(["other"])
    cache.put(query("a"), reply("one"), Replay(1010.0, ("a",)), tickets[0])
    cache.put(query("b"), reply("two"), Replay(1010.0), tickets[1])
    assert cache.get(query("a")) is None
    assert cache.get(query("b")) == reply("two")


def test_variants_have_numbers_one_after_the_other(cache: PacketCache) -> None:
    meet(cache, "a")
    numbers = []
    for _ in range(3):
        ticket = cache.ticket(query("a"))
        numbers.append(ticket.variant)
        for text in ("first", "made at the same time"):
            cache.put(query("a"), reply(f"{text} {len(numbers)}"), Replay(1010.0, variants=3), ticket)
    assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]
    assert [cache.get(query("a")) for _ in range(3)] == [reply(f"first {n}") for n in (1, 2, 3)]


def test_variants_are_sent_in_turn_once_there_are_enough(cache: PacketCache) -> None:
    for text in ("one", "two", "three"):
        assert cache.get(query("a")) is None
        put(cache, "a", text, variants=3)
    sent = [cache.get(query("a")) for _ in range(6)]
    assert sent == [reply("one"), reply("two"), reply("three")] * 2


RECORDS = tuple(b"%03d" % number for number in range(10))


def put_ring(cache: PacketCache, shown: int, lease: Lease | None = None) -> list[int]:
    """Put a reply that has room for ``shown`` records; what its counter is told."""
    told: list[int] = []
    meet(cache, "a")
    text = b"\0\1head" + b"".join(RECORDS[:shown]) + b"tail"
    consent = Replay(1010.0, ("x",), 1, (told.append,), lease=lease or Lease(), any_order=True)
    cache.put(query("a"), text, consent, cache.ticket(query("a")), Ring(RECORDS, 6, 6 + 3 * shown))
    return told


def records_of(sent: bytes | None) -> list[bytes]:
    assert sent is not None
    assert sent[:6] == query("a")[:2] + b"head"
    assert sent[-4:] == b"tail"
    return [sent[place : place + 3] for place in range(6, len(sent) - 4, 3)]


def test_of_a_ring_each_record_comes_first_equally_often(cache: PacketCache) -> None:
    put_ring(cache, 10)
    sent = [records_of(cache.get(query("a"))) for _ in range(50)]
    assert all(sorted(records) == list(RECORDS) for records in sent)
    assert Counter(records[0] for records in sent) == dict.fromkeys(RECORDS, 5)


def test_a_ring_comes_in_ever_new_orders(cache: PacketCache) -> None:
    put_ring(cache, 10)
    followers = {(first, second) for first, second, *_ in (records_of(cache.get(query("a"))) for _ in range(200))}
    assert len(followers) > 50  # of 90; ten are all that one order gives


def test_of_a_ring_that_is_cut_each_record_is_shown_equally_often(cache: PacketCache) -> None:
    put_ring(cache, 4)
    sent = [records_of(cache.get(query("a"))) for _ in range(50)]
    assert all(len(set(records)) == 4 for records in sent)
    assert Counter(record for records in sent for record in records) == dict.fromkeys(RECORDS, 20)


def test_of_a_ring_without_room_the_reply_stays_as_it_is(cache: PacketCache) -> None:
    put_ring(cache, 0)
    assert {cache.get(query("a")) for _ in range(20)} == {query("a")[:2] + b"headtail"}


def test_a_ring_ends_with_its_lease(cache: PacketCache) -> None:
    lease = Lease(b"head", lambda: Lease(b"HEAD"))
    put_ring(cache, 10, lease)
    lease.until = 1000.0
    assert cache.get(query("a")) is None


def test_a_ring_is_counted_and_takes_room(cache: PacketCache) -> None:
    told = put_ring(cache, 10)
    assert cache.octets > OVERHEAD + 1000
    for _ in range(25):
        cache.get(query("a"))
    cache.invalidate(["x"])
    assert (told, cache.octets, len(cache)) == ([25], 0, 0)


def test_variants_live_as_long_as_the_first_to_end(cache: PacketCache, clock: Clock) -> None:
    put(cache, "a", "one", 1010.0, "x", variants=2)
    put(cache, "a", "two", 1005.0, "y", variants=2)
    assert cache.get(query("a")) is not None
    clock.now = 1005.0
    assert cache.get(query("a")) is None


@pytest.mark.parametrize("tag", ["x", "y"])
def test_a_change_of_one_variant_ends_all(cache: PacketCache, tag: str) -> None:
    put(cache, "a", "one", 1010.0, "x", variants=2)
    put(cache, "a", "two", 1010.0, "y", variants=2)
    cache.invalidate([tag])
    assert len(cache) == 0
    assert not cache._tagged


def test_half_a_set_of_variants_that_is_over_is_begun_anew(cache: PacketCache, clock: Clock) -> None:
    put(cache, "a", "old", 1001.0, variants=2)
    clock.now = 1002.0
    put(cache, "a", "one", variants=2)
    put(cache, "a", "two", variants=2)
    assert {cache.get(query("a")), cache.get(query("a"))} == {reply("one"), reply("two")}


def test_of_two_replies_to_one_query_the_first_stays(cache: PacketCache) -> None:
    put(cache, "a", "one")
    put(cache, "a", "two")
    assert cache.get(query("a")) == reply("one")
    assert len(cache) == 1


# Counting.


def counted(cache: PacketCache, name: str, until: float = 1010.0) -> list[int]:
    told: list[int] = []
    meet(cache, name)
    cache.put(query(name), reply("one"), Replay(until, ("tag",), counters=(told.append,)), cache.ticket(query(name)))
    return told


def test_replays_are_told_when_asked_for(cache: PacketCache) -> None:
    told = counted(cache, "a")
    cache.flush()
    for _ in range(3):
        cache.get(query("a"))
    cache.flush()
    cache.flush()
    cache.get(query("a"))
    cache.flush()
    assert told == [3, 1]


def test_a_cache_counts_all_its_replays(clock: Clock) -> None:
    hits: list[int] = []
    cache = PacketCache(clock, counters=(hits.append,))
    told = counted(cache, "a"), counted(cache, "b")
    for name in ("a", "b", "b", "none"):
        cache.get(query(name))
    cache.flush()
    assert (told, hits) == (([1], [2]), [1, 2])


@pytest.mark.parametrize("end", ["time", "change", "clear"])
def test_replays_are_told_at_the_end_of_an_entry(cache: PacketCache, clock: Clock, end: str) -> None:
    told = counted(cache, "a")
    for _ in range(2):
        cache.get(query("a"))
    if end == "time":
        clock.now = 1010.0
        cache.get(query("a"))
    elif end == "change":
        cache.invalidate(["tag"])
    else:
        cache.clear()
    assert told == [2]
    assert (len(cache), cache.octets, dict(cache._tagged)) == (0, 0, {})


# Bounds.

ENTRY = OVERHEAD + len("0000") + len("one")


def test_queries_and_all_their_replies_take_room(cache: PacketCache) -> None:
    put(cache, "a" * 200, "x" * 1000, variants=2)
    put(cache, "a" * 200, "y" * 3000, variants=2)
    assert cache.octets == OVERHEAD + 200 + 1000 + 3000


def test_names_asked_once_push_out_nothing(clock: Clock) -> None:
    cache = PacketCache(clock, max_octets=20 * ENTRY)
    hot = [f"h{number:03}" for number in range(20)]
    for name in hot:
        put(cache, name, "one")
    for number in range(1000):
        one_time = query(f"{number:04}")
        cache.put(one_time, reply("one"), Replay(1010.0), cache.ticket(one_time))
    assert sum(cache.get(query(name)) is not None for name in hot) >= 19  # one in 65,000 is taken for another
    assert cache.octets <= 20 * ENTRY


def test_of_those_asked_again_the_ones_not_asked_lately_go(clock: Clock) -> None:
    cache = PacketCache(clock, max_octets=4 * ENTRY)
    for name in ("aaaa", "bbbb", "cccc", "dddd"):
        put(cache, name, "one")
    put(cache, "eeee", "one")  # all came lately: each gets its second chance, then the oldest goes
    assert cache.get(query("bbbb")) is not None
    put(cache, "ffff", "one")
    kept = {name for name in ("aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff") if cache.get(query(name))}
    assert kept == {"bbbb", "dddd", "eeee", "ffff"}


def test_a_new_entry_is_not_the_first_to_go(clock: Clock) -> None:
    cache = PacketCache(clock, max_octets=ENTRY)
    told: dict[str, list[int]] = {}
    for name in ("aaaa", "bbbb"):
        told[name] = counted(cache, name)
        assert cache.get(query(name)) is not None
    assert cache.get(query("bbbb")) is not None
    cache.flush()
    assert told == {"aaaa": [1], "bbbb": [2]}


def test_evicted_entries_leave_nothing_behind(clock: Clock) -> None:
    cache = PacketCache(clock, max_octets=4 * ENTRY)
    for number in range(100):
        put(cache, f"{number:04}", "one", 1010.0, number)
        cache.get(query(f"{number:04}"))
    assert len(cache._tagged) == len(cache) <= 4


# Any order of events: the cache says what a dictionary without it would say, and counts every replay.

Event = tuple[str, int, int]


@given(
    st.lists(
        st.tuples(st.sampled_from(["ask", "change", "turn", "slow"]), st.integers(0, 4), st.integers(1, 3)), max_size=60
    ),
    st.integers(1, 6),
)
def test_a_replay_is_what_the_chain_would_say(events: list[Event], room: int) -> None:
    """Names depend on one datum each; a reply shows its version and may live until the clock's next whole ten."""
    clock = Clock(0.0)
    cache = PacketCache(clock, max_octets=room * ENTRY)
    versions: Counter[int] = Counter()
    asked = 0
    told: list[int] = []
    slow: list[tuple[int, Ticket, bytes]] = []

    def answer(name: int) -> bytes:
        return reply(f"{name} {versions[name]} {int(clock.now) // 10}")

    for what, name, amount in events:
        meet(cache, str(name))
        if what == "change":
            versions[name] += 1
            cache.invalidate([name])
        elif what == "turn":
            clock.now += 4 * amount
        elif what == "slow":  # a query whose reply is made now and stored at the next question
            slow.append((name, cache.ticket(query(str(name))), answer(name)))
        else:
            for late, ticket, made in slow:
                until = (int(made.split()[-1]) + 1) * 10.0
                cache.put(query(str(late)), made, Replay(until, (late,), 1, (told.append,)), ticket)
            slow.clear()
            for _ in range(amount):
                got = cache.get(query(str(name)))
                if got is None:
                    until = (int(clock.now) // 10 + 1) * 10.0
                    consent = Replay(until, (name,), 1, (told.append,))
                    cache.put(query(str(name)), answer(name), consent, cache.ticket(query(str(name))))
                else:
                    asked += 1
                    assert got == answer(name)
        assert cache.octets <= room * ENTRY
    cache.clear()
    assert sum(told) == asked
    assert cache.octets == 0
