"""Addresses as text."""

import pytest

from pydns.address import Address, is_ip


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("192.0.2.1", True),
        ("2001:db8::1", True),
        ("fe80::1%eth0", True),
        ("192.0.2", False),
        ("192.0.2.01", False),
        ("[2001:db8::1]", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_is_ip(text: str, expected: bool) -> None:
    assert is_ip(text) is expected
