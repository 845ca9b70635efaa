"""Runs inside a Pod as `python3 -c`: sends DNS packets for the suite, which cannot reach the cluster's DNS itself.

Standard library only, and nothing of the suite: the text of this file is all that gets there. One JSON object a line:
in `{"id", "transport", "address", "port", "packets", "timeout"}`, packets in hex; out `{"id", "replies"}`, as many as
packets, or `"error"`. The first line out is `{"id": 0, "resolv_conf"}`.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from typing import Any, Dict  # noqa: UP035

Order = Dict[str, Any]  # noqa: UP006  images may have an old Python

OUT = threading.Lock()


def say(answer: Order) -> None:
    with OUT:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def ask_udp(order: Order, packets: list[bytes], deadline: float) -> list[bytes]:
    """Replies by their IDs, all from one socket."""
    replies: dict[bytes, bytes] = {}
    with socket.socket(family(order["address"]), socket.SOCK_DGRAM) as sock:
        sock.connect((order["address"], order["port"]))
        for packet in packets:
            sock.send(packet)
        while len(replies) < len(packets):
            sock.settimeout(max(deadline - time.monotonic(), 0.001))
            reply = sock.recv(65535)
            if any(reply[:2] == packet[:2] for packet in packets):
                replies[reply[:2]] = reply
    return list(replies.values())


def ask_tcp(order: Order, packets: list[bytes], deadline: float) -> list[bytes]:
    """All packets on one connection, two octets of length before each (RFC 1035 section 4.2.2)."""
    wait = max(deadline - time.monotonic(), 0.001)
    with socket.create_connection((order["address"], order["port"]), wait) as sock:
        sock.sendall(b"".join(len(packet).to_bytes(2, "big") + packet for packet in packets))
        return [read(sock, int.from_bytes(read(sock, 2, deadline), "big"), deadline) for _ in packets]


def read(sock: socket.socket, count: int, deadline: float) -> bytes:
    data = b""
    while len(data) < count:
        sock.settimeout(max(deadline - time.monotonic(), 0.001))
        piece = sock.recv(count - len(data))
        if not piece:
            raise OSError("closed by the server")
        data += piece
    return data


def carry_out(order: Order) -> None:
    packets = [bytes.fromhex(text) for text in order["packets"]]
    deadline = time.monotonic() + order["timeout"]
    try:
        replies = (ask_tcp if order["transport"] == "tcp" else ask_udp)(order, packets, deadline)
        say({"id": order["id"], "replies": [reply.hex() for reply in replies]})
    except OSError as error:
        say({"id": order["id"], "replies": [], "error": str(error)})


def main() -> None:
    with open("/etc/resolv.conf") as file:
        say({"id": 0, "resolv_conf": file.read()})
    for line in sys.stdin:
        threading.Thread(target=carry_out, args=(json.loads(line),), daemon=True).start()


if __name__ == "__main__":
    main()
