"""Templates by themselves: which replies become one, what is counted, and when they go."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pydns.dns import Edns, Flag, Message, Question, Rcode, Type
from pydns.dns.message import RR, pack
from pydns.dns.rdata import soa
from pydns.dns.replay import Part, Pattern, Replay
from pydns.server.packet_cache import PacketCache
from pydns.server.templates import MAX_SHAPES
from tests.server.parts import packet
from tests.support import Clock

EXISTING = {"yes.zone.", "yes.a.zone."}


def part(name: str, qtype: int) -> Part | None:
    return None if name in EXISTING else Part(Rcode.NXDOMAIN, b"", (name,))


def denied(name: str, *, zone: str = "zone.", ident: int = 4711) -> bytes:
    """An NXDOMAIN for ``name``, with names in it that a question may share labels with."""
    below = zone.lstrip(".")
    rdata = soa(mname=f"ns.dns.{below}", rname=f"host.{below}", serial=1, refresh=2, retry=3, expire=4, minimum=5)
    record = RR(zone, Type.SOA, 5, rdata)
    return pack(Message(ident, Flag.QR | Flag.RD, Rcode.NXDOMAIN, Question(name, 1), authority=(record,)))


class Told:
    """A packet cache with templates for what it was told, and what its counters were told."""

    def __init__(self, zone: str = "zone.") -> None:
        self.clock = Clock(1000.0)
        self.counts: list[int] = []
        self.hits: list[int] = []
        self.cache = PacketCache(self.clock, counters=(self.hits.append,))
        self._zone = zone

    def put(
        self,
        name: str,
        *,
        said: str = "",
        until: float = 1001.0,
        times: int = 2,
        edns: Edns | None = None,
        part: Callable[[str, int], Part | None] = part,
    ) -> None:
        """The reply to ``name`` (about ``said``) was made ``times`` times."""
        pattern = Pattern(self._zone, part, self)
        for number in range(times):
            query = packet(f"{name} A", edns=edns)
            reply = denied(said or name, zone=self._zone)
            consent = Replay(until, (number,), 1, (self.counts.append,), pattern)
            self.cache.put(query, reply, consent, self.cache.ticket(query))

    def get(self, name: str, ident: int = 9) -> bytes | None:
        return self.cache.get(packet(f"{name} A", ident=ident))


def test_the_reply_has_id_and_question_of_the_query() -> None:
    told = Told()
    told.put("no1.zone.")
    assert told.get("no2.zone.") == denied("no2.zone.", ident=9)
    assert told.get("NO3.zone.") == denied("NO3.zone.", ident=9)


@pytest.mark.parametrize("name", ["yes.zone.", "no22.zone.", "no2.zonf.", "no2.ZONE.", "no.zzone."])
def test_what_a_template_does_not_answer(name: str) -> None:
    told = Told()
    told.put("no1.zone.")
    told.put("no.xzone.zone.")
    assert told.get(name) is None


@pytest.mark.parametrize("name, answered", [("a.dns.zone.", False), ("a.abc.zone.", True), ("dns.abc.zone.", True)])
def test_names_that_share_labels_with_a_record(name: str, answered: bool) -> None:
    told = Told()
    told.put("b.xyz.zone.")
    told.put("dns.xyz.zone.")
    assert (told.get(name) is not None) is answered
    assert told.get(name) in (None, denied(name, ident=9))


def test_a_name_that_ends_before_the_zone_is_not_answered() -> None:
    """A pointer ends it, to an octet of the header that is zero; what follows looks like the zone."""
    told = Told()
    told.put("no1.zone.")
    query = packet("no2.zone. A")
    assert told.cache.get(query[:12] + b"\x01a\xc0\x04" + query[16:]) is None
    assert told.cache.get(query) is not None


def test_the_root_is_a_zone_as_well() -> None:
    told = Told(".")
    told.put("no1.")
    told.put("a.xyz.")
    assert told.get("no2.") == denied("no2.", zone=".", ident=9)
    assert told.get("a.dns.") is None
    assert told.get("a.abc.") == denied("a.abc.", zone=".", ident=9)


def test_the_reply_must_be_about_the_question() -> None:
    told = Told()
    told.put("no1.zone.", said="no3.zone.")
    assert told.get("no2.zone.") is None


def test_the_reply_must_be_about_a_name_of_the_zone() -> None:
    told = Told()
    told.put("no1.abc.")
    assert len(told.cache._templates) == 0


@pytest.mark.parametrize("name", ["yes.zone.", "a\\.b.zone.", "zone."])
def test_a_name_that_no_part_is_told_of_makes_no_template(name: str) -> None:
    """One that is of no pattern, one that only the chain reads, and the zone itself."""
    told = Told()
    told.put(name)
    assert len(told.cache._templates) == 0


def test_a_template_asks_the_pattern_that_it_was_made_by() -> None:
    """A reply of the same shape by another pattern, once the first has ended."""
    told = Told()
    told.put("no1.zone.", until=1001.0)
    told.clock.now = 1001.0
    told.put("no1.zone.", until=1009.0, part=lambda name, qtype: None if name == "no2.zone." else part(name, qtype))
    assert told.get("no2.zone.") is None
    assert told.get("no3.zone.") == denied("no3.zone.", ident=9)


def test_a_shape_met_once_makes_no_template() -> None:
    told = Told()
    told.put("no1.zone.", times=1)
    assert told.get("no2.zone.") is None


def test_a_reply_for_this_name_alone_makes_none() -> None:
    told = Told()
    query = packet("no1.zone. A")
    for _ in range(2):
        told.cache.put(query, denied("no1.zone."), Replay(1001.0), told.cache.ticket(query))
    assert told.get("no2.zone.") is None


def test_a_living_template_stays() -> None:
    told = Told()
    told.put("no1.zone.", until=1001.0)
    told.put("no2.zone.", until=1009.0)
    told.clock.now = 1001.0
    assert told.get("no3.zone.") is None
    told.put("no1.zone.", until=1009.0)
    assert told.get("no3.zone.") is not None


# Counting.


def test_replies_are_told_when_asked_for() -> None:
    told = Told()
    told.put("no1.zone.")
    for name in ("no2", "no3", "no4"):
        told.get(f"{name}.zone.")
    told.cache.flush()
    told.cache.flush()
    assert (told.counts, told.hits) == ([3], [3])


@pytest.mark.parametrize("end", ["clear", "another", "wiped"])
def test_replies_are_told_when_a_template_goes(end: str) -> None:
    told = Told()
    told.put("no1.zone.")
    for name in ("no2", "no3"):
        told.get(f"{name}.zone.")
    if end == "clear":
        told.cache.clear()
    elif end == "another":
        told.clock.now = 1001.0
        told.put("no4.zone.", until=1002.0)
    else:
        for size in range(MAX_SHAPES):
            told.put("no1.zone.", edns=Edns(size))
    assert told.counts == [2]


def test_a_denial_that_is_kept_counts_by_itself() -> None:
    told = Told()
    told.put("no1.zone.")
    for _ in range(5):
        assert told.get("no2.zone.") is not None
    told.cache.flush()
    assert sum(told.counts) == sum(told.hits) == 5
    assert packet("no2.zone. A")[2:] in told.cache._entries


def test_a_denial_that_is_kept_ends_with_its_template_or_a_change() -> None:
    told = Told()
    told.put("no1.zone.")
    for name in ("no2.zone.", "no3.zone."):
        for _ in range(2):
            told.get(name)
    told.cache.invalidate(["no2.zone."])
    assert [packet(f"{name}.zone. A")[2:] in told.cache._entries for name in ("no2", "no3")] == [False, True]
    told.clock.now = 1001.0
    assert told.get("no3.zone.") is None
