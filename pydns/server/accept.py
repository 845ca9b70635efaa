"""Which octets are a query: what is dropped, what is turned away before anything is looked up.

Rules (miekg/dns ``DefaultMsgAcceptFunc`` and ``serveDNS``, which CoreDNS leaves as they are):

1. Fewer octets than a header, or a response: no reply.
2. Another opcode than QUERY and NOTIFY: NOTIMP, the opcode kept.
3. Another number of questions than one, more than one answer or authority record, more than two additional ones, or
   octets that do not parse: FORMERR, opcode QUERY.
4. These replies are a bare header; the query's flags other than Z and AA are kept.

It knows no zones and no sockets.
"""

from __future__ import annotations

from pydns.dns.message import HEADER, Message, WireError, parse
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
    ident, word, questions, answers, authorities, additionals = HEADER.unpack_from(data)
    if word & Flag.QR:
        return None
    opcode = word & OPCODE_MASK
    if opcode not in (_QUERY, _NOTIFY):
        raise Rejected(Message(ident, Flag.QR | opcode | word & _KEPT, Rcode.NOTIMP))
    if questions == 1 and answers <= 1 and authorities <= 1 and additionals <= 2:
        try:
            return parse(data)
        except WireError:
            pass
    raise Rejected(Message(ident, Flag.QR | word & _KEPT, Rcode.FORMERR))
