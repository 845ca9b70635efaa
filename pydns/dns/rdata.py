"""Rdata of the types that this server makes or looks into; every other type stays opaque.

Rdata is always the uncompressed wire form.  ``message`` compresses the names in it where RFC 3597 section 4 allows.
"""

from ipaddress import ip_address
from struct import Struct

from pydns.dns.name import from_wire, to_wire
from pydns.dns.types import Type

_SRV = Struct("!HHH")
_SOA = Struct("!IIIII")


class Layout:
    """Where names stand in the rdata of a type: ``names`` of them between ``prefix`` and ``tail`` octets.

    A ``tail`` of None has any length.  ``compressible`` types may be compressed in what we send (RFC 1035's own); the
    others only in what we receive.
    """

    __slots__ = ("compressible", "names", "prefix", "tail")

    def __init__(self, prefix: int, names: int, compressible: bool, tail: int | None = 0) -> None:
        self.prefix = prefix
        self.names = names
        self.compressible = compressible
        self.tail = tail


LAYOUTS: dict[int, Layout] = {
    Type.A: Layout(4, 0, False),
    Type.AAAA: Layout(16, 0, False),
    Type.NS: Layout(0, 1, True),
    Type.MD: Layout(0, 1, True),
    Type.MF: Layout(0, 1, True),
    Type.CNAME: Layout(0, 1, True),
    Type.SOA: Layout(0, 2, True, _SOA.size),
    Type.MB: Layout(0, 1, True),
    Type.MG: Layout(0, 1, True),
    Type.MR: Layout(0, 1, True),
    Type.PTR: Layout(0, 1, True),
    Type.MINFO: Layout(0, 2, True),
    Type.MX: Layout(2, 1, True),
    Type.RP: Layout(0, 2, False),
    Type.AFSDB: Layout(2, 1, False),
    Type.RT: Layout(2, 1, False),
    Type.PX: Layout(2, 2, False),
    Type.SRV: Layout(6, 1, False),
    Type.KX: Layout(2, 1, False),
    Type.DNAME: Layout(0, 1, False),
    Type.NXT: Layout(0, 1, False, None),
    Type.SIG: Layout(18, 1, False, None),
}


def address(text: str) -> bytes:
    """Rdata of A or AAAA, by the address's family.  Raises ValueError."""
    return ip_address(text).packed


def address_text(rdata: bytes) -> str:
    """The canonical text of A or AAAA rdata."""
    return str(ip_address(rdata))


def target(name: str) -> bytes:
    """Rdata of CNAME, NS, PTR or DNAME."""
    return to_wire(name)


def srv(*, priority: int = 0, weight: int = 0, port: int, target: str) -> bytes:
    """Rdata of SRV (RFC 2782); numbers 0 to 65535."""
    return _SRV.pack(priority, weight, port) + to_wire(target)


def txt(*strings: str | bytes) -> bytes:
    """Rdata of TXT: each string at most 255 octets."""
    return b"".join(bytes((len(octets),)) + octets for octets in map(_octets, strings))


def hinfo(cpu: str, os: str) -> bytes:
    """Rdata of HINFO."""
    return txt(cpu, os)


def _octets(string: str | bytes) -> bytes:
    return string.encode() if isinstance(string, str) else string


SOA_NUMBERS = _SOA.size
"""Octets of SOA rdata behind its names: serial, refresh, retry, expire, minimum."""


def soa(*, mname: str, rname: str, serial: int, refresh: int, retry: int, expire: int, minimum: int) -> bytes:
    """Rdata of SOA; times in seconds (RFC 1035 section 3.3.13)."""
    return to_wire(mname) + to_wire(rname) + _SOA.pack(serial, refresh, retry, expire, minimum)


def soa_minimum(rdata: bytes) -> int:
    """The MINIMUM field of SOA rdata in seconds: the bound of a negative answer's life (RFC 2308 section 4)."""
    return int.from_bytes(rdata[-4:], "big")


def target_of(rrtype: int, rdata: bytes) -> str | None:
    """The last name in the rdata of a type with names (CNAME's target, SRV's target, MX's exchange), else None."""
    names = names_in(rrtype, rdata)
    return names[-1] if names else None


def names_in(rrtype: int, rdata: bytes) -> list[str]:
    """The names in the rdata of a type, none for a type without."""
    layout = LAYOUTS.get(rrtype)
    names: list[str] = []
    if layout is not None:
        offset = layout.prefix
        for _ in range(layout.names):
            name, offset = from_wire(rdata, offset)
            names.append(name)
    return names
