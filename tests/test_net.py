"""What the kernel says about the machine's addresses."""

from __future__ import annotations

import socket
import struct

import pytest

from pydns.net import InterfaceAddress, interface_addresses, split_messages


def test_the_loopback_interface_is_there() -> None:
    found = interface_addresses()
    assert InterfaceAddress("lo", "127.0.0.1") in found
    for address in found:
        socket.getaddrinfo(address.address, 53, flags=socket.AI_NUMERICHOST)


@pytest.mark.parametrize(
    "address, is_loopback",
    [("127.0.0.1", True), ("127.0.0.2", True), ("::1", True), ("10.0.0.1", False), ("fe80::1%eth0", False)],
)
def test_loopback_addresses(address: str, is_loopback: bool) -> None:
    assert InterfaceAddress("x", address).is_loopback is is_loopback


def message(kind: int, body: bytes) -> bytes:
    padding = bytes(-len(body) % 4)
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 1, 0) + body + padding


@pytest.mark.parametrize(
    "data, messages",
    [
        (b"", []),
        (message(20, b"abcd"), [(20, b"abcd")]),
        (message(20, b"abcde") + message(3, b""), [(20, b"abcde"), (3, b"")]),
        (message(20, b"abcd") + b"cut", [(20, b"abcd")]),
        (bytes(32), [(0, b""), (0, b"")]),  # a length of nothing does not stop the walk
    ],
)
def test_netlink_messages_are_split(data: bytes, messages: list[tuple[int, bytes]]) -> None:
    assert list(split_messages(data)) == messages
