"""Addresses as text."""

import pytest

from pydns.address import Address


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (Address("127.0.0.1", 53), "127.0.0.1:53"),
        (Address("::1", 53), "[::1]:53"),
        (Address("fe80::1%eth0", 5353), "[fe80::1%eth0]:5353"),
        (Address("localhost", 8080), "localhost:8080"),
        (Address("", 53), ":53"),
    ],
)
def test_text(address: Address, text: str) -> None:
    assert str(address) == text
