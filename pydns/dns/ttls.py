"""TTLs in the octets of a message: where they stand, and a lease by which they count down there.

It knows neither who counts them down nor who remembers replies.
"""

from __future__ import annotations

from struct import Struct

from pydns.dns.name import from_wire
from pydns.dns.replay import Lease
from pydns.dns.types import Type

_HEADER = Struct("!4xHHHH")
_QUESTION = 4
"""Octets of a question behind its name."""
_RECORD = Struct("!H2xIH")
_TTL = 4
"""Octets of a record between its name and its TTL."""


def ttl_places(message: bytes) -> tuple[int, ...]:
    """The offsets at which the TTLs of the records stand in a message as `pack` makes it; an OPT record has none."""
    questions, *counts = _HEADER.unpack_from(message)
    offset = _HEADER.size
    for _ in range(questions):
        offset = from_wire(message, offset)[1] + _QUESTION
    places: list[int] = []
    for _ in range(sum(counts)):
        _, offset = from_wire(message, offset)
        rrtype, _, length = _RECORD.unpack_from(message, offset)
        if rrtype != Type.OPT:
            places.append(offset + _TTL)
        offset += _RECORD.size + length
    return tuple(places)


class TtlLease(Lease):
    """A lease of replies all of whose records have one TTL, which is another one under the next lease."""

    __slots__ = ()
    counts_down = True

    def places(self, reply: bytes) -> tuple[int, ...]:
        return ttl_places(reply)
