"""Addresses to listen on; errors as CoreDNS's plugin/bind words them."""

import pytest

from pydns.corefile.line import CorefileError
from pydns.net import interface_addresses
from pydns.plugins.bind import Bind
from tests.support import make_block, make_plugin

LOOPBACK = [found.address for found in interface_addresses() if found.interface == "lo"]


@pytest.mark.parametrize(
    "text, addresses",
    [
        ("bind 127.0.0.1", ["127.0.0.1"]),
        ("bind 127.0.0.1 ::1", ["127.0.0.1", "::1"]),
        ("bind 127.0.0.1\nbind 127.0.0.2", ["127.0.0.1", "127.0.0.2"]),
        ("bind lo", LOOPBACK),
        ("bind 127.0.0.9 lo", ["127.0.0.9", *LOOPBACK]),
        ("bind 127.0.0.1 127.0.0.2 {\nexcept 127.0.0.1\n}", ["127.0.0.2"]),
        ("bind 127.0.0.9 lo {\nexcept lo\n}", ["127.0.0.9"]),
        ("bind lo {\nexcept 127.0.0.1\n}", [address for address in LOOPBACK if address != "127.0.0.1"]),
    ],
)
def test_addresses(text: str, addresses: list[str]) -> None:
    block = make_block()
    make_plugin(Bind, text, block)
    assert list(block.settings.addresses) == addresses


def test_without_it_all_addresses_count() -> None:
    assert make_block().settings.addresses == ()


@pytest.mark.parametrize(
    "text, error",
    [
        ("bind", "at least one address or interface name is expected"),
        ("bind example.org", 'not a valid IP address or interface name: "example.org"'),
        ("bind ::1%lo", 'not a valid IP address or interface name: "::1%lo"'),
        ("bind 127.0.0.1 {\nexcept nothing0\n}", 'not a valid IP address or interface name: "nothing0"'),
        ("bind 127.0.0.1 {\nexcept\n}", "Wrong argument count"),
        ("bind 127.0.0.1 {\nexcepts lo\n}", "unknown property 'excepts' (did you mean 'except'?)"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Bind, text)
    assert error in str(raised.value)
    assert str(raised.value).startswith("plugin/bind: Corefile:2 - ") or "Corefile:3" in str(raised.value)
