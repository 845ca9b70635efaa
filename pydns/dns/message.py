"""DNS messages as immutable values, and their wire form.

Rules:

1. A ``Message`` is never changed; ``_replace`` makes another one, and the ``with_`` methods do so in a fraction of the
   time.  Sections are tuples.
2. Rdata is opaque, uncompressed wire data; received names in rdata are expanded, sent ones compressed where RFC 3597
   section 4 lets them be.  The OPT record is no record here but ``Message.edns``.
3. ``parse`` takes what miekg/dns (CoreDNS's codec) takes: records that a count promises but the message lacks are
   forgiven, as is trailing garbage and a question without type or class; a record cut in two is not, nor an address
   of the wrong length.
4. ``pack`` compresses always, and drops whole records from the end (additional, authority, answer) that do not fit.

This is one of the few files that may trade clarity for speed: every query that is not replayed passes through it.
"""

from __future__ import annotations

from bisect import bisect_right
from struct import Struct, error
from typing import NamedTuple

from pydns.dns.compression import Pointers, pointers_into, write_records
from pydns.dns.edns import Edns, parse_options
from pydns.dns.name import from_wire, note_wire, to_wire
from pydns.dns.packed import Packed, Ring
from pydns.dns.rdata import LAYOUTS, Layout
from pydns.dns.replay import Replay
from pydns.dns.types import OPCODE_MASK, RCODE_MASK, Class, Flag, Type, new

HEADER = Struct("!HHHHHH")
MAX_MESSAGE = 65535
_QUESTION = Struct("!HH")
_RR = Struct("!HHIH")


class WireError(ValueError):
    """Octets that are no DNS message."""


class Question(NamedTuple):
    """What is asked: ``name`` in the letter case it was sent in."""

    name: str
    type: int
    cls: int = Class.IN


class RR(NamedTuple):
    """A resource record; ``ttl`` in seconds, ``rdata`` uncompressed wire data."""

    name: str
    type: int
    ttl: int
    rdata: bytes
    cls: int = Class.IN


class Message(NamedTuple):
    """A query or reply.  ``flags`` is the header's flags word without the rcode, ``rcode`` has all twelve bits.

    ``replay``, ``forwarded`` and ``packed`` are no part of the wire form: what is known of a reply travels with it,
    without a wrapper on the hot path.
    """

    id: int = 0
    flags: int = 0
    rcode: int = 0
    question: Question | None = None
    answer: tuple[RR, ...] = ()
    authority: tuple[RR, ...] = ()
    additional: tuple[RR, ...] = ()
    edns: Edns | None = None
    replay: Replay | None = None
    forwarded: bool = False
    """Whether another server wrote this reply: its AA does not hold for a copy that is kept here."""
    packed: Packed | None = None
    """The octets of question and sections, where they are known."""

    @property
    def opcode(self) -> int:
        return (self.flags & OPCODE_MASK) >> 11

    @property
    def truncated(self) -> bool:
        return bool(self.flags & Flag.TC)

    def with_replay(self, replay: Replay | None) -> Message:
        """The same message with another consent."""
        ident, flags, rcode, question, answer, authority, additional, edns, _, forwarded, packed = self
        fields = ident, flags, rcode, question, answer, authority, additional, edns, replay, forwarded, packed
        return new(Message, fields)

    def with_sections(self, answer: tuple[RR, ...], authority: tuple[RR, ...], additional: tuple[RR, ...]) -> Message:
        """The same message with other records."""
        ident, flags, rcode, question, _, _, _, edns, replay, forwarded, _ = self
        fields = ident, flags, rcode, question, answer, authority, additional, edns, replay, forwarded, None
        return new(Message, fields)

    def with_order(self, answer: tuple[RR, ...], authority: tuple[RR, ...], additional: tuple[RR, ...]) -> Message:
        """The same message with the records of each section in another order."""
        ident, flags, rcode, question, _, _, _, edns, replay, forwarded, packed = self
        if packed is not None:
            packed = packed.in_order(answer, authority, additional) if packed.is_of(self) else None
        fields = ident, flags, rcode, question, answer, authority, additional, edns, replay, forwarded, packed
        return new(Message, fields)

    def records(self) -> tuple[RR, ...]:
        """The records of all three sections."""
        return self.answer + self.authority + self.additional


def uncompressed_size(message: Message) -> int:
    """Octets that the message takes without name compression: the size that CoreDNS logs and counts."""
    packed = message.packed
    if packed is not None and packed.is_of(message):
        size = packed.size
    else:
        size = 12
        if message.question is not None:
            size += len(to_wire(message.question.name)) + 4
        for section in (message.answer, message.authority, message.additional):
            owner, head = "", 0
            for name, _, _, rdata, _ in section:
                if name is not owner:
                    owner, head = name, len(to_wire(name)) + _RR.size
                size += head + len(rdata)
    return size if message.edns is None else size + len(message.edns.pack())


def parse(data: bytes) -> Message:
    """Read a message (rule 3).  Raises WireError, which has no more to say than why."""
    try:
        ident, word, qdcount, *counts = HEADER.unpack_from(data)
        offset = 12
        question = None
        for _ in range(qdcount):
            if offset == len(data):
                break
            question, offset = _parse_question(data, offset)
        edns, rcode = None, word & RCODE_MASK
        sections = []
        for count in counts:
            section, offset, opt = _parse_section(data, offset, count)
            sections.append(section)
            if opt is not None and len(sections) == 3:  # anywhere else it has no meaning
                edns = Edns(opt.cls, opt.ttl & 0xFFFF, opt.ttl >> 16 & 0xFF, parse_options(opt.rdata))
                rcode |= opt.ttl >> 24 << 4
    except (ValueError, IndexError, error) as problem:
        raise WireError(str(problem)) from None
    answer, authority, additional = sections
    return Message(ident, word & ~RCODE_MASK, rcode, question, answer, authority, additional, edns)


def _parse_question(data: bytes, offset: int) -> tuple[Question, int]:
    start = offset
    name, offset = from_wire(data, start)
    if offset - start == len(name) + 1 > 2:  # neither compressed nor escaped, not the root: the reply will need it
        note_wire(name, bytes(data[start:offset]))
    left = len(data) - offset
    if left >= 4:
        qtype, qclass = _QUESTION.unpack_from(data, offset)
        return Question(name, qtype, qclass), offset + 4
    if left in (0, 2):
        return Question(name, int.from_bytes(data[offset:], "big"), 0), len(data)
    raise WireError("question cut short")


def _parse_section(data: bytes, offset: int, count: int) -> tuple[tuple[RR, ...], int, RR | None]:
    """``count`` records, fewer where the message ends between two; the last OPT stands apart."""
    if not count:
        return (), offset, None
    records: list[RR] = []
    opt: RR | None = None
    for _ in range(count):
        if offset == len(data):
            break
        name, offset = from_wire(data, offset)
        rrtype, cls, ttl, length = _RR.unpack_from(data, offset)
        offset += 10
        end = offset + length
        if end > len(data):
            raise WireError("record cut short")
        layout = LAYOUTS.get(rrtype)
        rdata = _expand(data, offset, end, layout) if layout and length else data[offset:end]
        record = RR(name, rrtype, ttl, rdata, cls)
        if rrtype == Type.OPT:
            opt = record
        else:
            records.append(record)
        offset = end
    return tuple(records), offset, opt


def _expand(data: bytes, offset: int, end: int, layout: Layout) -> bytes:
    """Rdata of just the length that its type has, with its compressed names written out."""
    parts = [data[offset : offset + layout.prefix]]
    offset += layout.prefix
    for _ in range(layout.names):
        name, offset = from_wire(data, offset)
        parts.append(to_wire(name))
    if offset > end or layout.tail not in (None, end - offset):
        raise WireError("rdata too short or too long")
    parts.append(data[offset:end])
    return b"".join(parts)


def pack(message: Message, limit: int = MAX_MESSAGE) -> bytes:
    """The message on the wire in at most ``limit`` octets (rule 4).

    Records that do not fit are left out from the end and TC is set, also where only additional ones were cut
    (RFC 2181 section 9 would let those go quietly; CoreDNS does not).  The OPT record always stays.
    """
    opt = b"" if message.edns is None else message.edns.pack(message.rcode)
    room = limit - len(opt)
    packed = message.packed
    if packed is not None and packed.is_of(message):
        known = _pack_known(message, packed, opt, room)
        if known is not None:
            return known
    question = message.question
    out = bytearray(HEADER.size)
    pointers: Pointers = {}
    if question is not None:
        wire = to_wire(question.name)
        pointers = pointers_into(wire, HEADER.size)
        out += wire
        out += _QUESTION.pack(question.type, question.cls)
    flags = message.flags
    counts = [0, 0, 0]
    for section, records in enumerate((message.answer, message.authority, message.additional)):
        counts[section] = written = write_records(out, pointers, records, room) if records else 0
        if written < len(records):
            flags |= Flag.TC
            break
    out += opt
    HEADER.pack_into(
        out, 0, message.id, flags | message.rcode & RCODE_MASK,
        question is not None, counts[0], counts[1], counts[2] + (message.edns is not None),
    )  # fmt: skip
    return bytes(out)


def ring_of(message: Message, size: int) -> Ring | None:
    """The records that can change places in what `pack` made of a message, ``size`` octets; None where none can."""
    packed = message.packed
    if packed is None or not packed.movable or not packed.is_of(message):
        return None
    records = tuple(packed.movable.values())
    start = HEADER.size + len(packed.body) - len(records) * len(records[0])
    end = size if message.edns is None else size - len(message.edns.pack())
    return Ring(records, min(start, end), end)


def _pack_known(message: Message, packed: Packed, opt: bytes, room: int) -> bytes | None:
    """What `pack` makes where nothing needs to be written but header and OPT record; None where no record fits."""
    ident, flags, rcode, _, answer, authority, additional, edns, _, _, _ = message
    body = packed.body
    word = flags | rcode & RCODE_MASK
    answers, authorities, others = len(answer), len(authority), len(additional)
    if len(body) + HEADER.size > room:
        kept = bisect_right(packed.ttls, room - HEADER.size, key=packed.end_of)
        if not kept:
            return None
        word |= Flag.TC
        body = body[: packed.end_of(packed.ttls[kept - 1])]
        answers = min(answers, kept)
        authorities = min(authorities, kept - answers)
        others = kept - answers - authorities
    header = HEADER.pack(ident, word, 1, answers, authorities, others + (edns is not None))
    return header + body + opt
