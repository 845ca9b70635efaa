"""Records in presentation format (RFC 1035 section 5.1), read and written with dnslib.

For configuration, tests and people; never on a query's path.
"""

import dnslib

from pydns.dns.message import RR
from pydns.dns.name import from_wire
from pydns.dns.types import class_name, type_name

DEFAULT_TTL = 3600
"""The TTL of a record written without one, in seconds (miekg/dns)."""


class _PlainBuffer(dnslib.DNSBuffer):  # type: ignore[misc]
    """Writes every name in full, as rdata is kept here."""

    def encode_name(self, name: dnslib.DNSLabel) -> None:
        self.encode_name_nocompress(name)


def record(text: str, ttl: int = DEFAULT_TTL) -> RR:
    """One record such as ``example.org. 30 IN A 192.0.2.1``.  Raises ValueError."""
    found = records(text, ttl)
    if len(found) != 1:
        raise ValueError(f"one record expected: {text!r}")
    return found[0]


def records(text: str, ttl: int = DEFAULT_TTL, origin: str = ".") -> list[RR]:
    """The records of a zone file's text.  Raises ValueError."""
    try:
        return [_from_dnslib(item) for item in dnslib.RR.fromZone(text, origin=origin, ttl=ttl)]
    except (dnslib.DNSError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"not in presentation format: {text!r}: {error}") from None


def _from_dnslib(item: dnslib.RR) -> RR:
    buffer = _PlainBuffer()
    item.rdata.pack(buffer)
    name = from_wire(_wire(item.rname), 0)[0]
    return RR(name, item.rtype, item.ttl, bytes(buffer.data), item.rclass)


def _wire(label: dnslib.DNSLabel) -> bytes:
    buffer = _PlainBuffer()
    buffer.encode_name(label)
    return bytes(buffer.data)


def to_text(item: RR) -> str:
    """``example.org. 30 IN A 192.0.2.1``; rdata of a type without a format as RFC 3597 section 5 writes it."""
    return f"{item.name} {item.ttl} {class_name(item.cls)} {type_name(item.type)} {rdata_text(item.type, item.rdata)}"


def rdata_text(rrtype: int, data: bytes) -> str:
    """The presentation format of rdata."""
    shape = dnslib.RDMAP.get(type_name(rrtype))
    if shape is None or not data:
        return f"\\# {len(data)} {data.hex()}".rstrip()
    try:
        return str(shape.parse(dnslib.DNSBuffer(data), len(data)).toZone())
    except dnslib.DNSError:
        return f"\\# {len(data)} {data.hex()}"
