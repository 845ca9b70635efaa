"""The plainest questions and replies, told by their octets: addresses are asked for, and there are some.

Rules:

1. A plain query asks for A or AAAA records of class IN.  Behind the question it has nothing, or an OPT record of
   version 0 without options.
2. Plain queries that differ in ID and name alone have one `Shape`, which knows the rest.
3. A plain reply says NOERROR, is whole, and repeats the question letter by letter.  Its records are one RRset with one
   TTL (RFC 2181 section 5.2), of the type and under the name asked for; behind them is nothing, or an OPT record
   without options.
4. What is read here is what `parse` reads, and what is made here is what `pack` makes; None says that they must look.
   Neither a plain reply nor what is made of it has more octets than the client takes.

Like ``message`` this file trades clarity for speed.
"""

from __future__ import annotations

from struct import Struct

from pydns.dns.common import parse_query
from pydns.dns.edns import MIN_SIZE, Edns
from pydns.dns.message import HEADER, Message, Question
from pydns.dns.packed import Packed
from pydns.dns.types import Class, Flag, Type, new

MAX_SHAPES = 256
"""Shapes that are known at a time; one too many wipes them all."""
_LENGTHS = {int(Type.A): 4, int(Type.AAAA): 16}
_QUESTION = 4
"""Octets of a question behind its name."""
_OPT = 11
"""Octets of an OPT record without options."""
_RECORD = 12
"""Octets of a record in front of its rdata, its name being a pointer."""
_TTL = Struct("!I")
_PLAIN_BITS = 0xFA0F
"""The bits of a header's flags that a plain reply has in common with others: QR alone is set, not opcode, TC, rcode."""
_ANSWERED = 0x8000
_MOST = 64
"""Records of the longest plain reply."""
_COUNTS = [(1 << 48 | answers << 32).to_bytes(8, "big") for answers in range(_MOST + 1)]
"""A header's counts for each number of answers, and the same with an OPT record."""
_COUNTS_WITH_OPT = [counts[:-1] + b"\1" for counts in _COUNTS]
_PROMISED = {counts: (answers, 0) for answers, counts in enumerate(_COUNTS) if answers} | {
    counts: (answers, _OPT) for answers, counts in enumerate(_COUNTS_WITH_OPT) if answers
}
"""The answers that a header promises, and the octets behind them."""
_OPT_RCODE = 5
"""Where in an OPT record the upper bits of the response code stand."""
_ROOT_OPT = b"\0\0\x29"
_AD = int(Flag.AD)


class Shape:
    """What plain queries say besides ID and name."""

    __slots__ = (
        "asking", "counts", "do", "edns", "flags", "key", "kind", "length", "limit", "mask", "opt", "owner", "qtype",
        "rdata_length", "room", "step",
    )  # fmt: skip

    def __init__(self, flags: int, qtype: int, edns: Edns | None) -> None:
        self.flags = flags
        self.qtype = qtype
        self.edns = edns
        self.do = edns is not None and edns.do
        self.kind = qtype, self.do
        self.key = qtype, int(Class.IN), self.do, bool(flags & Flag.CD)
        """What an answer depends on besides the name: type, class, DO, CD."""
        self.limit = max(MIN_SIZE, 0 if edns is None else edns.size)
        """Octets that a reply may have."""
        self.asking = (flags | _AD).to_bytes(2, "big")
        """The flags with which another server is asked: AD is set."""
        wants_ad = bool(flags & _AD) or self.do
        self.mask = 0xFFFF if wants_ad else 0xFFFF & ~_AD
        """The flags of a reply that the client gets (RFC 6840 section 5.8)."""
        self.length = _LENGTHS[qtype]
        self.step = _RECORD + self.length
        """Octets of a reply's record."""
        self.rdata_length = self.length.to_bytes(2, "big")
        self.owner = b"\xc0\x0c" + qtype.to_bytes(2, "big") + Class.IN.to_bytes(2, "big")
        self.counts = _COUNTS if edns is None else _COUNTS_WITH_OPT
        self.opt = b"" if edns is None else edns.echoed().pack()
        self.room = self.limit - len(self.opt)
        """Octets that a reply may have in front of its OPT record."""

    def query(self, ident: int, question: Question, asked: bytes) -> Message:
        """The query as `parse` reads it; ``asked`` are the octets of ``question``."""
        packed = new(Packed, (question, (), (), (), asked, (), HEADER.size + len(asked), None))
        return new(Message, (ident, self.flags, 0, question, (), (), (), self.edns, None, False, packed))

    def reply(self, ident: bytes, flags: int, asked: bytes, ttl: int, rdatas: list[bytes]) -> bytes:
        """The reply with these records to the question ``asked`` (octets), and OPT as the client is due."""
        head = ident + (flags & self.mask).to_bytes(2, "big") + self.counts[len(rdatas)] + asked
        record = self.owner + _TTL.pack(ttl) + self.rdata_length
        return head + record + record.join(rdatas) + self.opt


class Shapes:
    """The shapes that were met lately."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[bytes, bytes], Shape | None] = {}

    def of(self, query: bytes, end: int) -> Shape | None:
        """The shape of a query whose name ends at ``end``; None for one that is not plain."""
        key = query[2 : HEADER.size], query[end : end + _QUESTION + _OPT + 1]
        try:
            return self._shapes[key]
        except KeyError:
            if len(self._shapes) >= MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[key] = _shape(query, end)
            return shape


def _shape(query: bytes, end: int) -> Shape | None:
    message = parse_query(query) if len(query) - end in (_QUESTION, _QUESTION + _OPT) else None
    if message is None or message.question is None or message.rcode:
        return None
    _, qtype, qclass = message.question
    edns = message.edns
    if qclass != Class.IN or qtype not in _LENGTHS or (edns is not None and (edns.version or edns.options)):
        return None
    return Shape(message.flags, qtype, edns)


def parse_plain(data: bytes, asked: bytes, shape: Shape) -> tuple[int, int, list[bytes]] | None:
    """Flags, TTL and rdata of a plain reply to the question ``asked`` (octets) in a query of ``shape``."""
    promised = _PROMISED.get(data[4 : HEADER.size])
    if promised is None or not data.startswith(asked + shape.owner, HEADER.size):
        return None
    answers, behind = promised
    first = HEADER.size + len(asked) + _RECORD
    end = first - _RECORD + answers * shape.step
    flags = data[2] << 8 | data[3]
    if (
        end + behind != len(data)
        or len(data) > shape.limit
        or end > shape.room
        or flags & _PLAIN_BITS != _ANSWERED
        or data[first - 2 : first] != shape.rdata_length
        or (behind and not _is_plain_opt(data, end))
    ):
        return None
    [ttl] = _TTL.unpack_from(data, first - 6)
    if answers == 1:
        return flags, ttl, [data[first:end]]
    rdatas = [data[at : at + shape.length] for at in range(first, end, shape.step)]
    return (flags, ttl, rdatas) if data[first - _RECORD : first].join(rdatas) == data[first:end] else None


def _is_plain_opt(data: bytes, start: int) -> bool:
    """Whether what starts there, as long as one, is an OPT record without options and without a response code."""
    return data.startswith(_ROOT_OPT, start) and not data[start + _OPT_RCODE] and data.endswith(b"\0\0")
