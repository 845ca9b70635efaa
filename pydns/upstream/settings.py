"""How long the sockets to an upstream live, and how Go words what goes wrong with them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Settings:
    """Times are in seconds."""

    read_timeout: float = 2.0
    """How long one upstream has to reply."""
    expire: float = 10.0
    """How long a UDP socket is used, and a TCP connection may be idle."""
    max_age: float = 0.0
    """How long a TCP connection is used at all; 0 without a bound."""
    max_idle: int = 0
    """Idle TCP connections, and UDP sockets, that are kept; 0 for any number of connections and `udp.SOCKETS`."""
    source: str = ""
    """The local IP address that queries leave from; empty for the kernel's choice."""


class Dialled(Protocol):
    """Is told of each query with the transport and whether a socket was there already, perhaps of several at once."""

    def __call__(self, transport: str, reused: bool, times: int = 1) -> None: ...


def reason(error: OSError) -> str:
    """An error's text without its number, in lower case as Go writes it."""
    text = os.strerror(error.errno) if error.errno else str(error)
    return text[:1].lower() + text[1:]
