"""EDNS(0): the OPT pseudo-record as a value (RFC 6891)."""

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from pydns.dns.types import Type, direct, new

DO = 0x8000
"""The DNSSEC OK bit of the OPT record's flags (RFC 3225)."""

KEPT_FLAGS = 0xFF00
"""The flags of a query's OPT record that come back."""

MIN_SIZE = 512
"""A smaller advertised UDP payload size counts as this (RFC 6891 section 6.2.3)."""


_OPT = Struct("!BHHBBHH")


@direct
class OptionCode(IntEnum):
    """EDNS option codes (IANA)."""

    LLQ = 1
    UPDATE_LEASE = 2
    NSID = 3
    SUBNET = 8
    EXPIRE = 9
    COOKIE = 10
    KEEPALIVE = 11
    PADDING = 12
    ERROR = 15


class Edns(NamedTuple):
    """What an OPT record says, the extended rcode excepted (that is part of ``Message.rcode``).

    ``size`` is the sender's UDP payload size in octets as written (0 to 65535), ``flags`` its 16 flag bits,
    ``options`` the (code, data) pairs in order.
    """

    size: int = 0
    flags: int = 0
    version: int = 0
    options: tuple[tuple[int, bytes], ...] = ()

    @property
    def do(self) -> bool:
        return bool(self.flags & DO)

    def echoed(self) -> "Edns":
        """What a reply has where nobody adds to it: the sender's size and upper flags (DO is one), version 0."""
        return new(Edns, (self.size, self.flags & KEPT_FLAGS, 0, ()))

    def pack(self, rcode: int = 0) -> bytes:
        """The OPT record on the wire, with the upper eight bits of ``rcode``."""
        if not self.options:
            return _OPT.pack(0, Type.OPT, self.size, rcode >> 4, self.version, self.flags, 0)
        options = b"".join(code.to_bytes(2, "big") + len(data).to_bytes(2, "big") + data for code, data in self.options)
        return _OPT.pack(0, Type.OPT, self.size, rcode >> 4, self.version, self.flags, len(options)) + options


def parse_options(rdata: bytes) -> tuple[tuple[int, bytes], ...]:
    """The options in an OPT record's rdata.  Raises ValueError where one is cut short."""
    options = []
    offset = 0
    while offset < len(rdata):
        code, length = rdata[offset : offset + 2], rdata[offset + 2 : offset + 4]
        data = rdata[offset + 4 : offset + 4 + int.from_bytes(length, "big")]
        if len(length) < 2 or len(data) < int.from_bytes(length, "big"):
            raise ValueError("EDNS option cut short")
        options.append((int.from_bytes(code, "big"), data))
        offset += 4 + len(data)
    return tuple(options)
