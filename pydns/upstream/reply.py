"""Whether octets from an upstream are the reply to a question.

Pure: it knows neither sockets nor IDs, which the sockets match before they come here.
"""

from __future__ import annotations

from pydns.dns.common import parse_reply
from pydns.dns.message import Message, Question, WireError, parse
from pydns.dns.types import Flag, Rcode

_HEADER = 12
_QR = 0x80
_ONE = b"\0\1"
_FAILED = (Rcode.FORMERR, Rcode.SERVFAIL, Rcode.NOTIMP, Rcode.REFUSED)


class ExchangeError(Exception):
    """An upstream that gave no usable reply; the text is worded as CoreDNS words it for *errors*."""


def answers(reply: Message, question: Question) -> bool:
    """Whether ``reply`` is a response and repeats ``question``, letter case aside (RFC 5452 section 9.1)."""
    asked = reply.question
    return (
        bool(reply.flags & Flag.QR)
        and asked is not None
        and (asked is question or asked[1:] == question[1:])
        and (asked.name == question.name or asked.name.lower() == question.name.lower())
    )


def read_datagram(data: bytes, question: Question, limit: int, asked: bytes = b"") -> Message | None:
    """The reply in a datagram, or None where it is no reply to ``question`` and the right one may still come.

    ``asked`` are the octets of ``question`` as they were sent, where they are known.
    More octets than the client takes (``limit``), or records that do not parse, make an empty reply with TC, so that
    the client asks again over TCP.  An error without a question is a reply too: servers that do not understand the
    query send it.
    """
    if len(data) < _HEADER or not data[2] & _QR:
        return None
    if asked and len(data) <= limit and data.startswith(asked, _HEADER) and data[4:6] == _ONE:
        common = parse_reply(data, question, _HEADER + len(asked))
        if common is not None:
            return common
    try:
        reply = read(data) if len(data) <= limit else _without_records(data)
    except WireError:
        try:
            reply = _without_records(data)
        except WireError:
            return None
    questions = int.from_bytes(data[4:6], "big")
    if questions == 0:
        return reply if reply.rcode in _FAILED else None
    return reply if questions == 1 and answers(reply, question) else None


def read(data: bytes) -> Message:
    """What another server wrote.  Raises WireError."""
    return parse(data)._replace(forwarded=True)


def _without_records(data: bytes) -> Message:
    """Header and question alone, with TC."""
    message = read(data[:6] + bytes(6) + data[_HEADER:])
    return message._replace(flags=message.flags | Flag.TC)
