"""Consent to send a reply again without asking the chain, and when it ends.

It travels with a `Message`, is narrowed by each plugin that a reply passes, and is used by the packet cache.  It knows
neither messages nor who remembers them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from typing import ClassVar, NamedTuple

from pydns.dns.types import new


class Part(NamedTuple):
    """What a reply of a `Pattern` does not share with those for other names.

    Its ``rcode``, and the ``octets`` of the one address in it, none where it has no answer; ``tags`` name the data that
    say so at this moment.
    """

    rcode: int
    octets: bytes
    tags: tuple[Hashable, ...]


class Pattern(NamedTuple):
    """Consent to answer questions about other names below ``zone`` like this one, but for the question and a `Part`.

    ``part`` is asked of each such name, in lower case, and a type: what its reply has in place of this one's, or None
    where that reply is of no pattern.  ``zone`` is lower-case, and ``maker`` the link of the chain that says so and
    passes no such query on.
    """

    zone: str
    part: Callable[[str, int], Part | None]
    maker: object


class Lease:
    """An end that replies have in common and that may come nearer: ``until`` is a clock reading, as in `Replay`.

    ``octets`` are those that a reply of this lease has where one of the next lease has others, all else being equal;
    ``latest`` gives the lease of now, or None where replies must be made anew.
    """

    __slots__ = ("latest", "octets", "until")
    counts_down: ClassVar[bool] = False
    """Whether the octets are TTLs, which a reply that is made of such a reply may not have in common with it."""

    def __init__(self, octets: bytes = b"", latest: Callable[[], Lease | None] = lambda: None) -> None:
        self.until = inf
        self.octets = octets
        self.latest = latest

    def places(self, reply: bytes) -> tuple[int, ...] | None:
        """The offsets of the octets in a reply (a whole message) of this lease; None where they are not to be told."""
        return (reply.index(self.octets),) if reply.count(self.octets) == 1 else None


FOREVER = Lease()
"""The lease of replies that have none in common with others."""


class Replay(NamedTuple):
    """Consent to send the bytes of a reply again without asking the chain; a Message without one is sent once.

    ``until`` is the clock reading (seconds) at which the consent ends; ``tags`` name the data that the reply was made
    of: a change of one of them ends it at once; ``variants`` above 1 says that the reply is one of several equally
    right ones (shuffled), of which that many should be kept and sent in turn; each of ``counters`` is called
    with the number of times the reply was sent again, so that metrics stay exact.  ``pattern`` lets the reply serve for
    other names, for the same time.  It ends with its ``lease``, too.  ``any_order`` says that the records which can
    change places (`Packed.movable`) may come in any order, each first as often as the others.
    """

    until: float
    tags: tuple[Hashable, ...] = ()
    variants: int = 1
    counters: tuple[Callable[[int], None], ...] = ()
    pattern: Pattern | None = None
    lease: Lease = FOREVER
    any_order: bool = False

    def has_ended(self, now: float) -> bool:
        """Whether its time is over at the clock reading ``now``."""
        return self.until <= now or self.lease.until <= now

    def with_counters(self, *counters: Callable[[int], None]) -> Replay:
        """The same consent with more counters."""
        until, tags, variants, counted, pattern, lease, any_order = self
        return new(Replay, (until, tags, variants, counted + counters, pattern, lease, any_order))

    def with_pattern(self, pattern: Pattern | None) -> Replay:
        """The same consent, for other names as ``pattern`` says."""
        until, tags, variants, counters, _, lease, any_order = self
        return new(Replay, (until, tags, variants, counters, pattern, lease, any_order))

    def in_any_order(self) -> Replay:
        """The same consent for every order of the records that can change places."""
        until, tags, variants, counters, pattern, lease, _ = self
        return new(Replay, (until, tags, variants, counters, pattern, lease, True))

    def with_lease(self, lease: Lease) -> Replay:
        """The same consent, to end with ``lease``."""
        until, tags, variants, counters, pattern, _, any_order = self
        return new(Replay, (until, tags, variants, counters, pattern, lease, any_order))

    def for_composite(self) -> Replay:
        """Consent for a reply that is made of this one and others: for its own question alone, and while TTLs stand
        still."""
        until, tags, variants, counters, _, lease, any_order = self
        if lease.counts_down:
            until, lease = min(until, lease.until), FOREVER
        return new(Replay, (until, tags, variants, counters, None, lease, any_order))
