"""When the garbage collector runs, and what it passes over."""

from __future__ import annotations

import gc
import weakref

import pytest

from pydns import garbage

pytestmark = pytest.mark.usefixtures("collector_as_before")


class Cycle:
    """What only a collection finds, once nobody else has it."""

    def __init__(self) -> None:
        self.itself = self


def test_a_start_collects_nothing_and_what_it_made_is_passed_over() -> None:
    garbage.put_off()
    assert not gc.isenabled()
    made = weakref.ref(Cycle())
    garbage.set_apart()
    gc.collect()
    assert made() is not None
    assert (gc.isenabled(), gc.get_threshold()[0]) == (True, garbage.THRESHOLD)


def test_what_came_later_is_collected() -> None:
    garbage.set_apart()
    made = weakref.ref(Cycle())
    gc.collect()
    assert made() is None


def test_what_a_reload_leaves_is_collected_though_it_was_passed_over() -> None:
    garbage.put_off()
    made = weakref.ref(Cycle())
    garbage.set_apart()
    garbage.set_apart()
    assert made() is None
