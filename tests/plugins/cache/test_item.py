"""A reply that is kept."""

from __future__ import annotations

import pytest

from pydns.plugins.cache.item import Item
from tests.support import make_query, sections, texts

QUERY = make_query("www.example.org. A")
REPLY = QUERY.reply(
    **sections("www.example.org. 30 IN A 192.0.2.1", "authority: example.org. 30 IN NS ns.example.org.")
)


def item(ttl: int = 30) -> Item:
    return Item.of(REPLY, 0, ttl, 1000.0)


@pytest.mark.parametrize(
    ("now", "left", "tick"),
    [(1000, 30, 1001), (1000.9, 30, 1001), (1001, 29, 1002), (1029.5, 1, 1030), (1031, -1, 1032)],
)
def test_time(now: float, left: int, tick: float) -> None:
    assert (item().left(now), item().next_tick(now)) == (left, tick)


def test_every_record_shows_the_ttl_asked_for() -> None:
    kept = item()
    for ttl in (30, 29, 29, 0, 30):
        assert {record.ttl for record in kept.reply(QUERY, ttl).records()} == {ttl}
    assert texts(kept.reply(QUERY, 7).answer) == ["www.example.org. 7 IN A 192.0.2.1"]


@pytest.mark.parametrize(
    ("hits", "expected"), [([(1000, 1)], 1), ([(1000, 1), (1060, 1)], 2), ([(1000, 5), (1061, 1)], 1), ([(1010, 7)], 7)]
)
def test_hits_without_a_gap(hits: list[tuple[float, int]], expected: int) -> None:
    kept = item()
    for now, times in hits:
        kept.count(now, times, 60)
    assert kept.hits == expected


def test_one_refresh_at_a_time_and_none_soon_after_a_failure() -> None:
    kept = item()
    assert kept.begin_refresh(1000)
    assert not kept.begin_refresh(1000)
    kept.end_refresh(1001, 30, succeeded=False)
    assert not kept.begin_refresh(1030.9)
    assert kept.begin_refresh(1031)
    kept.end_refresh(1031, 30, succeeded=True)
    assert kept.begin_refresh(1031)
