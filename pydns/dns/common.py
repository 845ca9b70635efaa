"""The common shapes of queries and replies, read in a third of the time that `parse` takes.

Rules:

1. What is read here is what `parse` reads; None says that the octets have another shape, and that `parse` must look.
2. The message comes with its `Packed` octets, so that it goes on without being packed anew.  So only shapes count whose
   octets `pack` would make just so: names written in full once, and pointers to the question.
3. A query has one question, and behind it nothing or one OPT record.
4. A reply begins with the octets of its query's question.  All its records stand under that name, and their rdata has
   no names in it; behind them nothing or one OPT record.

Like ``message`` this file trades clarity for speed: each query that is not replayed passes through it.
"""

from __future__ import annotations

from struct import Struct, error

from pydns.dns.edns import Edns, parse_options
from pydns.dns.message import HEADER, RR, Message, Question
from pydns.dns.name import BadName, note_wire, plain_name
from pydns.dns.packed import Packed
from pydns.dns.rdata import LAYOUTS
from pydns.dns.types import RCODE_MASK, Type, new

_QUESTION = Struct("!HH")
_RECORD = Struct("!HHHIH")
_OPT = Struct("!BHHBBHH")
_OWNER = 0xC000 | HEADER.size
"""The pointer to the question's name."""
_QUERY = 0xF8
"""The bits of the header's third octet that are clear in a query of opcode QUERY."""
_LENGTHS = {rrtype: -1 if layout.names else layout.prefix for rrtype, layout in LAYOUTS.items()} | {Type.OPT: -1}
"""The octets that rdata without names must have, of types for which that is known; -1 for types with names."""
_ROOT_END = HEADER.size + 1 + _QUESTION.size
_ALONE, _WITH_OPT = bytes.fromhex("0001 0000 0000 0000"), bytes.fromhex("0001 0000 0000 0001")
"""The counts of a header: a question, and no record or one additional."""


def parse_query(data: bytes) -> Message | None:
    """The query in ``data`` (rules 1 to 3)."""
    counts = data[4:12]
    if data[2] & _QUERY or counts not in (_ALONE, _WITH_OPT):
        return None
    try:
        name, end = plain_name(data, HEADER.size)
        question = new(Question, (name, *_QUESTION.unpack_from(data, end)))
    except (BadName, IndexError, error):
        return None
    note_wire(name, data[12:end])
    end += 4
    word = data[2] << 8 | data[3]
    edns, rcode = None, word & RCODE_MASK
    if counts == _WITH_OPT:
        read = _parse_opt(data, end)
        if read is None:
            return None
        edns, rcode = read[0], rcode | read[1]
    elif end != len(data):
        return None
    packed = new(Packed, (question, (), (), (), data[12:end], (), end, None))
    ident, flags = data[0] << 8 | data[1], word & ~RCODE_MASK
    return new(Message, (ident, flags, rcode, question, (), (), (), edns, None, False, packed))


def _parse_opt(data: bytes, offset: int) -> tuple[Edns, int] | None:
    """The OPT record that takes the rest of ``data``, and the upper bits of the rcode in it."""
    try:
        root, rrtype, size, rcode, version, flags, length = _OPT.unpack_from(data, offset)
        if root or rrtype != Type.OPT or offset + _OPT.size + length != len(data):
            return None
        options = parse_options(data[offset + _OPT.size :]) if length else ()
    except (ValueError, error):
        return None
    return Edns(size, flags, version, options), rcode << 4


def parse_reply(data: bytes, question: Question, end: int) -> Message | None:
    """The reply of another server in ``data`` (rules 1, 2 and 4), which has ``question`` up to ``end``, spelled as in
    the query.
    """
    ident, word, _, answers, authorities, additionals = HEADER.unpack_from(data)
    total = answers + authorities + additionals
    edns, rcode = None, word & RCODE_MASK
    ttls: list[int] = []
    records, offset = _records(data, question.name, end, total, ttls)
    if offset != len(data) or len(records) != total:
        read = _parse_opt(data, offset) if additionals and len(records) == total - 1 else None
        if read is None:
            return None
        edns, rcode = read[0], rcode | read[1]
    if end == _ROOT_END:
        return None  # its name takes less than a pointer
    answer: tuple[RR, ...] = tuple(records)
    authority: tuple[RR, ...] = ()
    additional: tuple[RR, ...] = ()
    if authorities or len(records) > answers:
        answer, authority = answer[:answers], answer[answers:]
        authority, additional = authority[:authorities], authority[authorities:]
    size = offset + len(records) * (end - HEADER.size - _QUESTION.size - 2)
    packed = new(Packed, (question, answer, authority, additional, data[12:offset], tuple(ttls), size, None))
    fields = ident, word & ~RCODE_MASK, rcode, question, answer, authority, additional, edns, None, True, packed
    return new(Message, fields)


def _records(data: bytes, name: str, offset: int, count: int, ttls: list[int]) -> tuple[list[RR], int]:
    """The records at ``offset`` as far as they have the shape of rule 4, at most ``count``, and the offset behind them.

    ``ttls`` gets where in `Packed.body` their TTLs stand.
    """
    records: list[RR] = []
    for _ in range(count):
        if offset + _RECORD.size > len(data):
            break
        owner, rrtype, cls, ttl, length = _RECORD.unpack_from(data, offset)
        end = offset + _RECORD.size + length
        if owner != _OWNER or end > len(data) or _LENGTHS.get(rrtype, length) != length:
            break
        ttls.append(offset - 6)
        records.append(new(RR, (name, rrtype, ttl, data[end - length : end], cls)))
        offset = end
    return records, offset
