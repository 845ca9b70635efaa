"""Times of signatures (RFC 4034 section 3.1.5).  Nothing here verifies one."""

from pydns.dns.message import Message
from pydns.dns.types import Type

_EXPIRATION, _INCEPTION, _KEY_TAG = 8, 12, 16
_HALF = 2**31
_WHOLE = 2**32


def has_expired_signature(reply: Message, now: float) -> bool:
    """Whether a reply whose OPT record has DO carries a signature that is not valid at ``now`` (Unix seconds)."""
    if reply.edns is None or not reply.edns.do:
        return False
    signatures = (record.rdata for record in reply.records() if record.type == Type.RRSIG)
    return any(len(rdata) >= _KEY_TAG and not _is_valid(rdata, int(now)) for rdata in signatures)


def _is_valid(rdata: bytes, now: int) -> bool:
    """Whether a signature's times enclose ``now``, in serial number arithmetic."""
    expiration = int.from_bytes(rdata[_EXPIRATION:_INCEPTION], "big")
    inception = int.from_bytes(rdata[_INCEPTION:_KEY_TAG], "big")
    return (now - inception) % _WHOLE < _HALF and (expiration - now) % _WHOLE < _HALF
