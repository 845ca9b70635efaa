"""Which octets are a query: what is dropped, what is turned away before anything is looked up.

Rules (miekg/dns ``DefaultMsgAcceptFunc`` and ``serveDNS``, which CoreDNS leaves as they are):

1. Fewer octets than a header, or a response: no reply.
2. Another opcode than QUERY and NOTIFY: NOTIMP, the opcode kept.
3. Another number of questions than one, more than one answer or authority record, more than two additional ones, or
   octets that do not parse: FORMERR, opcode QUERY.  So is an EDNS option whose data cannot be what its code says.
4. These replies have the query's flags other than Z and AA, and no records; a question only where nothing but the
   records behind it is wrong.
5. A header that promises a question where the message ends: SERVFAIL, RD and CD kept.

It knows no zones and no sockets.
"""

from __future__ import annotations

from collections.abc import Callable

from pydns.dns.common import parse_query
from pydns.dns.edns import Edns, OptionCode
from pydns.dns.message import HEADER, Message, Question, WireError, parse
from pydns.dns.types import OPCODE_MASK, Flag, Opcode, Rcode

_QUERY = Opcode.QUERY << 11
_NOTIFY = Opcode.NOTIFY << 11
_KEPT = Flag.TC | Flag.RD | Flag.RA | Flag.AD | Flag.CD


class Rejected(Exception):
    """Octets that are answered with ``reply`` alone."""

    def __init__(self, reply: Message) -> None:
        super().__init__()
        self.reply = reply


def accept(data: bytes) -> Message | None:
    """The query in ``data``, None for what gets no reply; raises `Rejected` for what gets a bare header."""
    if len(data) < HEADER.size:
        return None
    common = parse_query(data)
    if common is not None and (common.edns is None or _well_formed(common.edns)):
        return common
    ident, word, questions, answers, authorities, additionals = HEADER.unpack_from(data)
    if word & Flag.QR:
        return None
    opcode = word & OPCODE_MASK
    if opcode not in (_QUERY, _NOTIFY):
        raise Rejected(Message(ident, Flag.QR | opcode | word & _KEPT, Rcode.NOTIMP))
    question = None
    if questions == 1 and answers <= 1 and authorities <= 1 and additionals <= 2:
        try:
            message = parse(data)
            if message.question is None:
                raise Rejected(_without_question(message))
            if message.edns is None or _well_formed(message.edns):
                return message
            question = message.question
        except WireError:
            question = _question(data)
    raise Rejected(Message(ident, Flag.QR | word & _KEPT, Rcode.FORMERR, question))


def _without_question(message: Message) -> Message:
    kept = OPCODE_MASK | (Flag.RD | Flag.CD if message.opcode == Opcode.QUERY else 0)
    return Message(message.id, Flag.QR | message.flags & kept, Rcode.SERVFAIL)


def _question(data: bytes) -> Question | None:
    """The question of a message whose records do not parse."""
    try:
        return parse(data[:6] + bytes(6) + data[HEADER.size :]).question
    except WireError:
        return None


def _well_formed(edns: Edns) -> bool:
    return not edns.options or all(_OPTION_DATA[code](data) for code, data in edns.options if code in _OPTION_DATA)


def _is_subnet(data: bytes) -> bool:
    """RFC 7871 section 6; ``dig +subnet=0`` sends family 0."""
    longest = {0: 0, 1: 32, 2: 128}.get(int.from_bytes(data[:2], "big"))
    if longest is None or len(data) < 4:
        return False
    source, scope = data[2:4]
    return source <= longest and (scope <= longest or not longest)


_OPTION_DATA: dict[int, Callable[[bytes], bool]] = {
    OptionCode.LLQ: lambda data: len(data) >= 18,
    OptionCode.UPDATE_LEASE: lambda data: len(data) in (4, 8),
    OptionCode.SUBNET: _is_subnet,
    OptionCode.EXPIRE: lambda data: not data or len(data) >= 4,
    OptionCode.KEEPALIVE: lambda data: len(data) in (0, 2),
    OptionCode.ERROR: lambda data: len(data) >= 2,
}
