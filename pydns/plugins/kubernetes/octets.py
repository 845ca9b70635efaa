"""The octets of the most common shapes of replies, made in less time than `pack` needs.

Rules:

1. What is made is what `pack` makes of that reply, without its OPT record; of any other shape nothing is made.
2. One address under the name asked for: a pointer to that name stands before it.
3. A zone's SOA record alone, to a question about a name in that zone: all that stands behind the question depends on
   where the zone begins in the name.  That is not so where the server's or the hostmaster's name can point further
   into the question, so where the label before the zone is one of theirs.
4. Several records, to be sent again: the addresses in the last section can change places, as each has a pointer for
   its name.  Where there is nothing but addresses of one type under the name asked for, each is as in rule 2; all else
   is made by `pack`.

It knows neither the store nor queries.
"""

from __future__ import annotations

from struct import Struct

from pydns.dns.message import HEADER, MAX_MESSAGE, RR, Message, Question, pack, uncompressed_size
from pydns.dns.name import to_wire
from pydns.dns.packed import Packed
from pydns.dns.types import ADDRESSES, Flag, new
from pydns.plugins.kubernetes.apex import HOSTMASTER, SERVER

_QUESTION = Struct("!HH")
_BOTH = Struct("!HHHHHIH")
"""Type and class of a question, then the head of a record that is under its name."""
_RECORD = Struct("!HHHIH")
"""A pointer to a name, and the head of a record that is under it."""
_OWNER = 0xC000 | HEADER.size
_TTL = _QUESTION.size + 6
"""Octets between the end of the question's name and the TTL of a record behind it whose owner is a pointer."""
_TC = Flag.TC >> 8
"""The bit in the header's third octet that says that a message was cut."""
_HEAD = 10
"""Octets between a record's owner and its rdata."""
_SOA_LABELS = (SERVER.rpartition(".")[2], HOSTMASTER)


def of_address(question: Question, answer: tuple[RR, ...]) -> Packed | None:
    """The octets of a reply with just this answer (rule 2)."""
    [(name, rrtype, ttl, rdata, cls)] = answer
    if rrtype not in ADDRESSES or name != question.name:
        return None
    wire = to_wire(name)
    length = len(rdata)
    body = wire + _BOTH.pack(question.type, question.cls, _OWNER, rrtype, cls, ttl, length) + rdata
    size = HEADER.size + 2 * len(wire) + _QUESTION.size + _HEAD + length
    return new(Packed, (question, answer, (), (), body, (len(wire) + _TTL,), size, None))


def of_records(question: Question, answer: tuple[RR, ...], additional: tuple[RR, ...]) -> Packed | None:
    """The octets of a reply with these records, which can be put in other orders (rule 4); None for too many of them
    for any message."""
    if not additional and (known := _of_addresses(question, answer)) is not None:
        return known
    message = Message(question=question, answer=answer, additional=additional)
    whole = pack(message)
    if whole[2] & _TC:
        return None
    body = whole[HEADER.size :]
    places = _places(body, len(to_wire(question.name)) + _QUESTION.size, len(answer) + len(additional))
    last = additional or answer
    blocks = [body[start:end] for start, _, end in places[-len(last) :]]
    can_move = all(
        record.type in ADDRESSES and len(block) == 2 + _HEAD + len(record.rdata) == len(blocks[0])
        for record, block in zip(last, blocks, strict=True)
    )
    movable = dict(zip(map(id, last), blocks, strict=True)) if can_move else None
    ttls = tuple([ttl for _, ttl, _ in places])
    return Packed(question, answer, (), additional, body, ttls, uncompressed_size(message), movable)


def _of_addresses(question: Question, answer: tuple[RR, ...]) -> Packed | None:
    """The same for addresses of one type under the name asked for; None for all else, and for a very long message."""
    name, rrtype, ttl, first, cls = answer[0]
    alike = {(record[0], record[1], record[2], len(record[3]), record[4]) for record in answer}
    if rrtype not in ADDRESSES or name != question.name or len(alike) > 1:
        return None
    wire, length = to_wire(name), len(first)
    head = _RECORD.pack(_OWNER, rrtype, cls, ttl, length)
    blocks = [head + record[3] for record in answer]
    start, step = len(wire) + _QUESTION.size, len(blocks[0])
    body = b"".join((wire, _QUESTION.pack(question.type, question.cls), *blocks))
    if HEADER.size + len(body) > MAX_MESSAGE:
        return None
    ttls = tuple(range(len(wire) + _TTL, len(body), step))
    size = HEADER.size + start + len(answer) * (len(wire) + _HEAD + length)
    movable = dict(zip(map(id, answer), blocks, strict=True))
    return new(Packed, (question, answer, (), (), body, ttls, size, movable))


def _places(body: bytes, offset: int, count: int) -> list[tuple[int, int, int]]:
    """Where each of ``count`` records begins, has its TTL, and ends."""
    places = []
    for _ in range(count):
        start = offset
        while 0 < (length := body[offset]) < 0xC0:
            offset += length + 1
        offset += 2 if length else 1
        ttl = offset + _QUESTION.size
        offset += _HEAD
        offset += int.from_bytes(body[offset - 2 : offset], "big")
        places.append((start, ttl, offset))
    return places


class Denials:
    """The octets of replies that have an SOA record alone (rule 3)."""

    def __init__(self) -> None:
        self._soa: tuple[RR, ...] = ()
        self._tails: dict[int, bytes] = {}
        """What stands behind the question, by the offset of the zone in its name."""

    def packed(self, question: Question, soa: tuple[RR, ...]) -> Packed | None:
        """The octets of a reply to ``question``, with ``soa`` in the authority section."""
        if soa is not self._soa:
            self._soa = soa
            self._tails.clear()
        name, qtype, qclass = question
        zone = soa[0].name
        if zone == "." or name[: -len(zone) - 1].endswith(_SOA_LABELS):
            return None
        wire, zone_wire = to_wire(name), to_wire(zone)
        offset = len(wire) - len(zone_wire)
        tail = self._tails.get(offset)
        if tail is None:
            whole = pack(Message(question=question, authority=soa))
            tail = self._tails[offset] = whole[HEADER.size + len(wire) + _QUESTION.size :]
        body = wire + _QUESTION.pack(qtype, qclass) + tail
        size = HEADER.size + len(wire) + _QUESTION.size + len(zone_wire) + _HEAD + len(soa[0].rdata)
        return new(Packed, (question, (), soa, (), body, (len(wire) + _TTL,), size, None))
