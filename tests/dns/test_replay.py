"""Consent to send a reply again: when it ends, and what each step on its way makes of it."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import pytest

from pydns.dns.replay import FOREVER, Lease, Pattern, Replay

PATTERN = Pattern("zone.", lambda name, qtype: None, None)


def lease(until: float = inf, octets: bytes = b"") -> Lease:
    made = Lease(octets)
    made.until = until
    return made


def count(times: int) -> None:
    """A counter."""


def count_too(times: int) -> None:
    """Another."""


WHOLE = Replay(10.0, ("data",), 3, (count,), PATTERN, lease(9.0), any_order=False)
"""But for the order, nothing is as it is by default."""


class CountsDown(Lease):
    """Of TTLs."""

    __slots__ = ()
    counts_down: ClassVar[bool] = True


@pytest.mark.parametrize(
    "until, leased, now, over",
    [
        (10.0, inf, 9.9, False),
        (10.0, inf, 10.0, True),
        (inf, 10.0, 9.9, False),
        (inf, 10.0, 10.0, True),
        (10.0, 5.0, 4.9, False),
        (10.0, 5.0, 5.0, True),
    ],
)
def test_it_ends_with_its_time_or_its_lease(until: float, leased: float, now: float, over: bool) -> None:
    assert Replay(until, lease=lease(leased)).has_ended(now) is over


def test_each_step_changes_one_thing() -> None:
    other = lease(3.0)
    assert WHOLE.with_counters(count_too) == WHOLE._replace(counters=(count, count_too))
    assert WHOLE.with_pattern(None) == WHOLE._replace(pattern=None)
    assert WHOLE.with_lease(other) == WHOLE._replace(lease=other)
    assert WHOLE.in_any_order() == WHOLE._replace(any_order=True)
    assert WHOLE.in_any_order().with_counters().any_order


@pytest.mark.parametrize("until, ends", [(inf, 9.0), (7.0, 7.0)])
def test_of_a_reply_that_is_made_of_others_no_ttl_counts_down(until: float, ends: float) -> None:
    """It ends when the second does in which its TTLs are right."""
    made = CountsDown()
    made.until = 9.0
    assert WHOLE._replace(until=until, lease=made).for_composite() == WHOLE._replace(
        until=ends, lease=FOREVER, pattern=None
    )


def test_a_reply_that_is_made_of_others_keeps_a_lease_of_theirs() -> None:
    assert WHOLE.for_composite() == WHOLE._replace(pattern=None)


@pytest.mark.parametrize("reply, places", [(b"..ab..", (2,)), (b"......", None), (b"ab..ab", None)])
def test_octets_of_a_lease_are_overwritten_where_they_stand_once(reply: bytes, places: tuple[int, ...] | None) -> None:
    assert lease(octets=b"ab").places(reply) == places


def test_a_lease_of_its_own_is_not_renewed() -> None:
    assert lease().latest() is None
