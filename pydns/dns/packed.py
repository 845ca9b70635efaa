"""The octets of a message that are known before it is packed.

It does not know how messages are packed (`message`), nor what is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydns.dns.types import new

if TYPE_CHECKING:
    from pydns.dns.message import RR, Message, Question


class Ring(NamedTuple):
    """Records of a reply that may come in any order: the octets of each, all of one length, and where they stand.

    Between ``start`` and ``end`` are as many of those octets, one record behind the other, as the reply has room for.
    """

    records: tuple[bytes, ...]
    start: int
    end: int


class Packed(NamedTuple):
    """Octets that `pack` would make of a question and three sections, as far as they are the very objects named here.

    ``body`` lies between the header and the OPT record, ``ttls`` are the offsets in it at which TTLs stand, ``size`` is
    the length of the whole without name compression, header included.  Where the records of the last section can stand
    in any order, ``movable`` has the octets of each by its ``id``, all of one length.  It is an aside and no part of a
    message's value: messages that differ in it alone are equal.
    """

    question: Question
    answer: tuple[RR, ...]
    authority: tuple[RR, ...]
    additional: tuple[RR, ...]
    body: bytes
    ttls: tuple[int, ...]
    size: int
    movable: dict[int, bytes] | None = None

    def is_of(self, message: Message) -> bool:
        """Whether nothing was changed since."""
        return (
            self.question is message.question
            and self.answer is message.answer
            and self.authority is message.authority
            and self.additional is message.additional
        )

    def with_ttl(
        self, ttl: int, answer: tuple[RR, ...], authority: tuple[RR, ...], additional: tuple[RR, ...]
    ) -> Packed:
        """The same for the same records, each with ``ttl``."""
        if answer is self.answer and authority is self.authority and additional is self.additional:
            return self
        body = overwritten(self.body, self.ttls, ttl.to_bytes(4, "big"))
        return new(Packed, (self.question, answer, authority, additional, body, self.ttls, self.size, None))

    def end_of(self, ttl: int) -> int:
        """The offset in ``body`` behind the record whose TTL stands at ``ttl``."""
        return ttl + 6 + int.from_bytes(self.body[ttl + 4 : ttl + 6], "big")

    def of(self, question: Question) -> Packed:
        """The same under an equal question."""
        _, answer, authority, additional, body, ttls, size, movable = self
        return new(Packed, (question, answer, authority, additional, body, ttls, size, movable))

    def in_order(self, answer: tuple[RR, ...], authority: tuple[RR, ...], additional: tuple[RR, ...]) -> Packed | None:
        """The same for the same records in other orders; None where that takes more than moving octets."""
        question, first, second, third, body, ttls, size, movable = self
        moved = additional or answer
        if movable is None or authority is not second or (third and answer is not first):
            return None
        start = len(body) - sum(map(len, movable.values()))
        body = body[:start] + b"".join([movable[id(record)] for record in moved])
        return new(Packed, (question, answer, authority, additional, body, ttls, size, movable))

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Packed)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(None)


def overwritten(octets: bytes, places: tuple[int, ...], piece: bytes) -> bytes:
    """The octets with ``piece`` at each of the offsets ``places``."""
    length = len(piece)
    if len(places) == 1:
        [place] = places
        return octets[:place] + piece + octets[place + length :]
    changed = bytearray(octets)
    for place in places:
        changed[place : place + length] = piece
    return bytes(changed)
