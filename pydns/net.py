"""The addresses of this machine's interfaces, asked of the kernel (rtnetlink, RTM_GETADDR).

Duty: what ``getifaddrs(3)`` tells, which Python's library does not offer.  It knows nothing of DNS or of this package.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from struct import Struct
from typing import NamedTuple

_RTM_NEWADDR = 20
_RTM_GETADDR = 22
_NLM_F_REQUEST_DUMP = 0x301
_IFA_ADDRESS = 1
_IFA_LOCAL = 2

_HEADER = Struct("=IHHII")
_IFADDRMSG = Struct("=BBBBI")
_ATTRIBUTE = Struct("=HH")


class InterfaceAddress(NamedTuple):
    """One address of an interface; ``address`` is text, IPv6 link-local ones with their zone (``fe80::1%eth0``)."""

    interface: str
    address: str

    @property
    def is_loopback(self) -> bool:
        return ip_address(self.address).is_loopback


def interface_addresses() -> list[InterfaceAddress]:
    """All IPv4 and IPv6 addresses of all interfaces, in the kernel's order.  Raises OSError."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        request = _HEADER.pack(_HEADER.size + _IFADDRMSG.size, _RTM_GETADDR, _NLM_F_REQUEST_DUMP, 1, 0)
        kernel.send(request + _IFADDRMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0))
        messages = list(_dump(kernel))
    return [found for body in messages if (found := _address(body)) is not None]


def _dump(kernel: socket.socket) -> Iterator[bytes]:
    """The bodies of the address messages up to the end of the dump."""
    while True:
        data = kernel.recv(65536)
        for kind, body in split_messages(data):
            if kind == _RTM_NEWADDR:
                yield body
            else:
                return


def split_messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(type, body) of the netlink messages in ``data``; the end of a dump and errors have types of their own."""
    offset = 0
    while offset + _HEADER.size <= len(data):
        length, kind, *_ = _HEADER.unpack_from(data, offset)
        yield kind, data[offset + _HEADER.size : offset + length]
        offset += max(_aligned(length), _HEADER.size)


def _address(body: bytes) -> InterfaceAddress | None:
    """The address in the body of an address message; None where the interface is gone by now."""
    family, _, _, _, index = _IFADDRMSG.unpack_from(body)
    attributes = dict(_attributes(body[_IFADDRMSG.size :]))
    packed = attributes.get(_IFA_LOCAL) or attributes.get(_IFA_ADDRESS)
    if packed is None or family not in (socket.AF_INET, socket.AF_INET6):
        return None
    try:
        interface = socket.if_indextoname(index)
    except OSError:
        return None
    address = ip_address(packed)
    zone = f"%{interface}" if isinstance(address, IPv6Address) and address.is_link_local else ""
    return InterfaceAddress(interface, f"{address}{zone}")


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        yield kind, data[offset + _ATTRIBUTE.size : offset + length]
        offset += max(_aligned(length), _ATTRIBUTE.size)


def _aligned(length: int) -> int:
    """Netlink pads everything to four octets."""
    return (length + 3) & ~3
