"""Records written into a message, their names compressed (RFC 1035 section 4.1.4).

Rules:

1. A name is written up to its longest suffix that stands in the message before, then a pointer to that; suffixes match
   in their letter case.  Owner names are compressed, and names in the rdata of types where RFC 3597 section 4 lets them
   be; those in other rdata can still be pointed to.
2. What stands further on than a pointer can reach is not pointed to.  So of each suffix that is known all suffixes are,
   except those that nothing written later could reach either.

It does not know messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING

from pydns.dns.name import to_wire
from pydns.dns.rdata import LAYOUTS, Layout
from pydns.dns.types import ADDRESSES

if TYPE_CHECKING:
    from pydns.dns.message import RR

_RR = Struct("!HHIH")
_POINTER = 0xC000
_POINTER_LIMIT = 0x4000
_WITH_NAMES = {rrtype: layout for rrtype, layout in LAYOUTS.items() if layout.names}

Pointers = dict[bytes, int]
"""The pointer to each name that can be pointed to, by its wire form."""


def pointers_into(wire: bytes, here: int) -> Pointers:
    """What can be pointed to where only the name ``wire`` stands, at offset ``here``, in reach of all pointers."""
    pointers: Pointers = {}
    position = 0
    here |= _POINTER
    while length := wire[position]:
        pointers[wire[position:]] = here + position
        position += length + 1
    return pointers


def write_records(out: bytearray, pointers: Pointers, records: Sequence[RR], room: int) -> int:
    """Append the records as long as they end within ``room`` octets; how many these are."""
    if len(records) > 2 and _write_alike(out, pointers, records, room):
        return len(records)
    owner, pointer = None, b""
    for count, (name, rrtype, ttl, rdata, cls) in enumerate(records):
        start = len(out)
        if name is owner:
            out += pointer
        else:
            wire = to_wire(name)
            _write_name(out, pointers, wire)
            if wire in pointers:
                owner, pointer = name, pointers[wire].to_bytes(2, "big")
        layout = _WITH_NAMES.get(rrtype)
        out += _RR.pack(rrtype, cls, ttl, len(rdata))
        if layout is None or not rdata:
            out += rdata
        elif layout.compressible:
            _write_compressed(out, pointers, rdata, layout)
        else:
            _write_whole(out, pointers, rdata, layout)
        if len(out) > room:
            del out[start:]
            return count
    return len(records)


def _write_alike(out: bytearray, pointers: Pointers, records: Sequence[RR], room: int) -> bool:
    """Append addresses of one name in a fraction of the time, if the records are that, and all fit."""
    name, rrtype, ttl, first, cls = records[0]
    pointer = pointers.get(to_wire(name))
    if pointer is None or rrtype not in ADDRESSES:
        return False
    length = len(first)
    head = pointer.to_bytes(2, "big") + _RR.pack(rrtype, cls, ttl, length)
    if len(out) + len(records) * (len(head) + length) > room:
        return False
    rdatas = [
        rdata for owner, kind, seconds, rdata, group in records
        if owner is name and kind == rrtype and seconds == ttl and len(rdata) == length and group == cls
    ]  # fmt: skip
    if len(rdatas) < len(records):
        return False
    out += head
    out += head.join(rdatas)
    return True


def _write_name(out: bytearray, pointers: Pointers, wire: bytes) -> None:
    known = pointers.get(wire)
    if known is not None:
        out += known.to_bytes(2, "big")
        return
    here = len(out)
    position = 0
    while length := wire[position]:
        suffix = wire[position:]
        known = pointers.get(suffix)
        if known is not None:
            out += wire[:position]
            out += known.to_bytes(2, "big")
            return
        if here + position < _POINTER_LIMIT:
            pointers[suffix] = _POINTER | here + position
        position += length + 1
    out += wire


def _write_compressed(out: bytearray, pointers: Pointers, rdata: bytes, layout: Layout) -> None:
    """Append rdata with its names compressed, and correct its length, which stands before it."""
    start = len(out)
    position = layout.prefix
    out += rdata[:position]
    for end in _ends(rdata, layout):
        _write_name(out, pointers, rdata[position:end])
        position = end
    out += rdata[position:]
    out[start - 2 : start] = (len(out) - start).to_bytes(2, "big")


def _write_whole(out: bytearray, pointers: Pointers, rdata: bytes, layout: Layout) -> None:
    """Append rdata, and note its names: SRV targets come again as owners in the additional section."""
    here = len(out)
    out += rdata
    position = layout.prefix
    for end in _ends(rdata, layout):
        _note_name(pointers, rdata[position:end], here + position)
        position = end


def _note_name(pointers: Pointers, wire: bytes, here: int) -> None:
    """Note where each suffix of a name that is written in full stands, up to one that stands before it (rule 2)."""
    position = 0
    while (length := wire[position]) and here + position < _POINTER_LIMIT:
        suffix = wire[position:]
        if suffix in pointers:
            return
        pointers[suffix] = _POINTER | here + position
        position += length + 1


def _ends(rdata: bytes, layout: Layout) -> list[int]:
    """The offsets behind the names in ``rdata``."""
    if layout.names == 1 and layout.tail == 0:
        return [len(rdata)]
    ends = []
    position = layout.prefix
    for _ in range(layout.names - (layout.tail is not None)):
        while length := rdata[position]:
            position += length + 1
        position += 1
        ends.append(position)
    return ends if layout.tail is None else [*ends, len(rdata) - layout.tail]
