"""What is kept, for how long, and what goes when there is no room."""

from __future__ import annotations

import pytest

from pydns.plugins.cache.item import Item
from pydns.plugins.cache.store import DENIAL, SUCCESS, Key, Store, capacity
from tests.support import Clock, make_query


def item(ttl: int = 30, rcode: int = 0, now: float = 1000.0) -> Item:
    return Item.of(make_query("www.example.org. A").reply(rcode), 0, ttl, now)


def key(name: str = "www.example.org.") -> Key:
    return name, 1, 1, False, False


def make_store(clock: Clock, stale: float = 0) -> Store:
    return Store(10000, 10000, stale, clock)


@pytest.mark.parametrize(
    ("words", "items"), [(10000, 9984), (1024, 1024), (1023, 1024), (0, 1024), (-1, 1024), (1500, 1280)]
)
def test_capacity(words: int, items: int) -> None:
    assert capacity(words) == items


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (("www.example.org.", 1, 1, False, False), False),
        (("web.example.org.", 1, 1, False, False), True),
        (("www.example.org.", 28, 1, False, False), True),
        (("www.example.org.", 1, 3, False, False), True),
        (("www.example.org.", 1, 1, True, False), True),
        (("www.example.org.", 1, 1, False, True), True),
    ],
)
def test_key(other: Key, differs: bool) -> None:
    store = make_store(Clock())
    store.put(SUCCESS, key(), item())
    assert (store.find(other) is None) is differs


@pytest.mark.parametrize(("stale", "end"), [(0, 30), (60, 90)])
async def test_items_expire(stale: float, end: float) -> None:
    clock = Clock(1000)
    store = make_store(clock, stale)
    store.put(SUCCESS, key(), item())
    clock.now = 1000 + end - 0.001
    assert store.find(key()) is not None
    clock.now = 1000 + end
    assert store.find(key()) is None


@pytest.mark.parametrize(
    ("denial_rcode", "has_success", "where"),
    [(3, True, DENIAL), (0, True, DENIAL), (4, True, DENIAL), (2, True, SUCCESS), (2, False, DENIAL)],
)
def test_which_part_is_asked_first(denial_rcode: int, has_success: bool, where: str) -> None:
    store = make_store(Clock())
    store.put(DENIAL, key(), item(rcode=denial_rcode))
    if has_success:
        store.put(SUCCESS, key(), item())
    found = store.find(key())
    assert found is not None
    assert found.where == where


def test_a_denial_can_be_forgotten() -> None:
    store = make_store(Clock())
    store.put(DENIAL, key(), item(rcode=3))
    store.forget_denial(key())
    store.forget_denial(key())
    assert store.find(key()) is None


def test_the_least_recently_used_goes_first() -> None:
    store = Store(1024, 1024, 0, Clock())
    for number in range(1024):
        assert store.put(SUCCESS, key(f"{number}."), item()) == 0
    assert store.find(key("0.")) is not None
    assert store.put(SUCCESS, key("new."), item()) == 1
    assert store.put(SUCCESS, key("new."), item()) == 0
    assert store.put(DENIAL, key("new."), item()) == 0
    assert store.find(key("0.")) is not None
    assert store.find(key("1.")) is None
    assert (store.size(SUCCESS), store.size(DENIAL)) == (1024, 1)
