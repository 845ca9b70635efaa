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

from functools import lru_cache
from struct import Struct, error
from typing import NamedTuple

from pydns.dns.edns import Edns, parse_options
from pydns.dns.message import HEADER, RR, Message, Question
from pydns.dns.name import WIRES, BadName, note_wire, plain_name
from pydns.dns.packed import Packed
from pydns.dns.rdata import LAYOUTS
from pydns.dns.types import RCODE_MASK, Type, new

MAX_RESTS = 256
"""Queries without their names that are known at a time."""

_QUESTION = Struct("!HH")
_RECORD = Struct("!HHHIH")
_OPT = Struct("!BHHBBHH")
_OWNER = 0xC000 | HEADER.size
"""The pointer to the question's name."""
_QUERY = 0xF8
"""The bits of the header's third octet that are clear in a query of opcode QUERY."""
_LENGTHS = {rrtype: -1 if layout.names else layout.prefix for rrtype, layout in LAYOUTS.items()} | {Type.OPT: -1}
"""The octets that rdata without names must have, of types for which that is known; -1 for types with names."""
_MAX_REST = _QUESTION.size + _OPT.size
"""Octets of type, class and an OPT record without options."""
_names: dict[bytes, str] = {}
"""The names that queries had lately, by their octets."""
_ROOT_END = HEADER.size + 1 + _QUESTION.size
_ALONE, _WITH_OPT = bytes.fromhex("0001 0000 0000 0000"), bytes.fromhex("0001 0000 0000 0001")
"""The counts of a header: a question, and no record or one additional."""


class _Rest(NamedTuple):
    """What a query says besides its ID and its name."""

    flags: int
    rcode: int
    qtype: int
    qclass: int
    edns: Edns | None


def parse_query(data: bytes) -> Message | None:
    """The query in ``data`` (rules 1 to 3)."""
    end = data.find(0, HEADER.size) + 1
    name = _names.get(data[HEADER.size : end])
    if name is None:
        try:
            name, end = plain_name(data, HEADER.size)
        except (BadName, IndexError):
            return None
        _note_name(name, data[HEADER.size : end])
    read = _rest if len(data) - end <= _MAX_REST else _read_rest
    rest = read(data[2 : HEADER.size], data[end:])
    if rest is None:
        return None
    flags, rcode, qtype, qclass, edns = rest
    question = new(Question, (name, qtype, qclass))
    end += _QUESTION.size
    packed = new(Packed, (question, (), (), (), data[HEADER.size : end], (), end, None))
    return new(Message, (data[0] << 8 | data[1], flags, rcode, question, (), (), (), edns, None, False, packed))


def _note_name(name: str, wire: bytes) -> None:
    note_wire(name, wire)
    if len(_names) >= WIRES:
        _names.clear()
    _names[wire] = name


def _read_rest(head: bytes, behind: bytes) -> _Rest | None:
    """What a query says with what stands between its ID and its name, and behind its name."""
    counts = head[2:]
    if head[0] & _QUERY or counts not in (_ALONE, _WITH_OPT) or len(behind) < _QUESTION.size:
        return None
    qtype, qclass = _QUESTION.unpack_from(behind)
    word = head[0] << 8 | head[1]
    edns, rcode = None, word & RCODE_MASK
    if counts == _WITH_OPT:
        read = _parse_opt(behind, _QUESTION.size)
        if read is None:
            return None
        edns, rcode = read[0], rcode | read[1]
    elif len(behind) > _QUESTION.size:
        return None
    return _Rest(word & ~RCODE_MASK, rcode, qtype, qclass, edns)


_rest = lru_cache(MAX_RESTS)(_read_rest)
"""The same for the few that most queries have in common."""


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
