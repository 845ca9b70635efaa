"""pydns behind a relay that breaks it in one way, started as any server is: with `-conf COREFILE`.

The environment variable BREAK names the way. Everything is asked over UDP here; TCP is not relayed.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dnslib import RCODE, DNSRecord

from conformance.servers.ports import free_port
from conformance.servers.processes import tied


def wrong_rcode(query: bytes, reply: bytes) -> bytes:
    """Every answer is a REFUSED."""
    return _changed(reply, lambda record: record.header.set_rcode(RCODE.REFUSED))


def dropped_record(query: bytes, reply: bytes) -> bytes:
    """The last record of the answer is missing."""
    return _changed(reply, lambda record: record.rr and record.rr.pop())


def wrong_ttl(query: bytes, reply: bytes) -> bytes:
    """TTLs are one second too long."""

    def lengthen(record: DNSRecord) -> None:
        for rr in record.rr:
            rr.ttl += 1

    return _changed(reply, lengthen)


def lower_cased_question(query: bytes, reply: bytes) -> bytes:
    """The question does not come back in the letters it was sent in."""
    end = reply.find(b"\0", 12)
    if end < 0:
        return reply
    return reply[:12] + reply[12:end].lower() + reply[end:]


def garbage(query: bytes, reply: bytes) -> bytes:
    """Octets that are no message."""
    return reply[:2] + b"\x81"


def silence(query: bytes, reply: bytes) -> bytes:
    """No reply, but to the probe of the start."""
    return reply if query[2] & 0x78 else b""


def nothing(query: bytes, reply: bytes) -> bytes:
    """It is left as it is."""
    return reply


def dies(query: bytes, reply: bytes) -> bytes:
    """The first question ends it."""
    if query[2] & 0x78:
        return reply
    print("broken_server: out of cheese", flush=True)
    sys.exit(3)


WAYS: dict[str, Callable[[bytes, bytes], bytes]] = {
    way.__name__: way
    for way in (wrong_rcode, dropped_record, wrong_ttl, lower_cased_question, garbage, silence, dies, nothing)
}


def _changed(reply: bytes, change: Callable[[DNSRecord], object]) -> bytes:
    record = DNSRecord.parse(reply)
    change(record)
    packed: bytes = record.pack()
    return packed


def main() -> None:
    """Starts pydns on a port of its own with the same Corefile, and relays."""
    if os.environ["BREAK"] == "never_starts":
        time.sleep(60)
    corefile = Path(sys.argv[sys.argv.index("-conf") + 1])
    port, behind = int(re.findall(r":(\d+)", corefile.read_text())[0]), free_port()
    moved = corefile.with_name("moved")
    moved.write_text(corefile.read_text().replace(f":{port}", f":{behind}"))
    with subprocess.Popen(tied([sys.executable, "-m", "pydns", "-conf", str(moved)])) as server:
        try:
            relay(port, behind, WAYS[os.environ["BREAK"]])
        finally:
            server.terminate()


def relay(port: int, behind: int, way: Callable[[bytes, bytes], bytes]) -> None:
    """One query after the other, for ever."""
    with socket.socket(type=socket.SOCK_DGRAM) as front, socket.socket(type=socket.SOCK_DGRAM) as back:
        front.bind(("127.0.0.1", port))
        back.settimeout(0.5)
        while True:
            query, client = front.recvfrom(4096)
            back.sendto(query, ("127.0.0.1", behind))
            try:
                reply = way(query, back.recv(65535))
            except (TimeoutError, ConnectionError):
                continue
            if reply:
                front.sendto(reply, client)
