"""Where a server listens or is asked: a host and a port.  It imports nothing of this package."""

from ipaddress import ip_address
from typing import NamedTuple


class Address(NamedTuple):
    """Host (an IP address or a name, empty for all addresses) and port; as text ``host:port``, IPv6 in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return host_port(self.host, self.port)


def host_port(host: str, port: int) -> str:
    """``127.0.0.1:53``, ``[::1]:53``, ``:53``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_ip(text: str) -> bool:
    """Whether ``text`` is an IP address, IPv6 with or without a zone (``fe80::1%eth0``)."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
