"""Free ports on loopback. Knows nothing else."""

from __future__ import annotations

import random
import socket

PORTS = range(20_000, 32_000)
"""Below the range from which Linux takes the source ports of clients (32768 and up)."""

_given = set[int]()


def free_port() -> int:
    """A port that neither UDP nor TCP uses on any address right now, and that was not given out before.

    Raises `OSError` when there is none left.
    """
    for port in random.sample(PORTS, len(PORTS)):
        if port in _given:
            continue
        _given.add(port)
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            try:
                tcp.bind(("", port))
                udp.bind(("", port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port among {PORTS[0]} to {PORTS[-1]}")
