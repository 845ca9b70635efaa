"""Where a server listens or is asked: a host and a port.  It imports nothing of this package."""

from typing import NamedTuple


class Address(NamedTuple):
    """Host (an IP address or a name, empty for all addresses) and port; as text ``host:port``, IPv6 in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
