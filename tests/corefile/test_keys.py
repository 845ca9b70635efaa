"""Keys of server blocks: zones, transports, ports and duplicates."""

from __future__ import annotations

import pytest

from pydns.corefile.keys import Claim, Key, duplicates, parse_key
from pydns.corefile.line import CorefileError


def keys(text: str, dns_port: int = 53) -> list[str]:
    return [str(key) for key in parse_key(text, "Corefile", 1, dns_port)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".", ["dns://.:53"]),
        ("Example.ORG", ["dns://example.org.:53"]),
        ("example.org.:1053", ["dns://example.org.:1053"]),
        ("dns://example.org", ["dns://example.org.:53"]),
        ("tls://example.org", ["tls://example.org.:853"]),
        ("quic://.", ["quic://.:853"]),
        ("https://.", ["https://.:443"]),
        ("https3://.", ["https3://.:443"]),
        ("grpc://.", ["grpc://.:443"]),
        ("grpc://.:9", ["grpc://.:9"]),
        ("TLS://a", ["dns://tls://a.:53"]),
        ("ftp://x", ["dns://ftp://x.:53"]),
        ("x:abc.", ["dns://x:abc.:53"]),
        ("x:+0053", ["dns://x.:53"]),
        ("10.7.3.4", ["dns://10.7.3.4.:53"]),
        ("10.7.3.0/33", ["dns://10.7.3.0/33.:53"]),
        ("10.0.0.0/24", ["dns://0.0.10.in-addr.arpa.:53"]),
        ("10.0.0.7/24:5353", ["dns://0.0.10.in-addr.arpa.:5353"]),
        ("10.240.0.0/15", ["dns://240.10.in-addr.arpa.:53", "dns://241.10.in-addr.arpa.:53"]),
        ("0.0.0.0/0", ["dns://in-addr.arpa.:53"]),
        ("fd00::/8", ["dns://d.f.ip6.arpa.:53"]),
        ("2001:db8::/31:54", [f"dns://{digit}.b.d.0.1.0.0.2.ip6.arpa.:54" for digit in "89"]),
    ],
)
def test_parse_key(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(("text", "expected"), [(".", 1053), (".:53", 53), ("tls://.", 853)])
def test_dns_port_fills_in_for_dns_alone(text: str, expected: int) -> None:
    assert [key.port for key in parse_key(text, "Corefile", 1, 1053)] == [expected]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (":53", "error inspecting server blocks: zone is not a valid domain name:  (the root zone is written '.')"),
        ("a..b", "error inspecting server blocks: zone is not a valid domain name: a..b"),
        ("a" * 64, f"error inspecting server blocks: zone is not a valid domain name: {'a' * 64}"),
        ("a:", 'error inspecting server blocks: expecting data after last colon: "a:"'),
        ("dns://", 'error inspecting server blocks: expecting data after last colon: ""'),
        ("a" * 256, "error inspecting server blocks: specified zone is too long: 256 > 255"),
        ("::/0", "error inspecting server blocks: invalid CIDR ::/0"),
        ("0::/8", "error inspecting server blocks: invalid CIDR 0::/8"),
        ("a:70000", "address 70000: invalid port (a port is 0 to 65535)"),
        ("a:-1", "address -1: invalid port (a port is 0 to 65535)"),
    ],
)
def test_bad_keys(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as caught:
        keys(text)
    assert str(caught.value) == f"Corefile:1 - {error}"


def test_transport_that_is_not_served() -> None:
    error = Key("tls", "a.", 853, file="Corefile", line=4).not_served()
    assert str(error) == "Corefile:4 - cannot serve tls://a.:853: transport 'tls' is not served by this version yet"


def claim(words: str) -> Claim:
    """``zone [address…] [view]``"""
    zone, *rest = words.split()
    return Claim(Key("dns", zone, 53), [word for word in rest if word != "view"], "view" in rest)


@pytest.mark.parametrize(
    "blocks",
    [
        ["a.", "b."],
        ["a. 127.0.0.1", "a. 127.0.0.2"],
        ["a.", "a. view", "a. view"],
        ["a. view", "a."],
        ["a. view", "a. 127.0.0.1"],
        ["a. 127.0.0.1 view", "a. 127.0.0.1"],
    ],
)
def test_no_duplicates(blocks: list[str]) -> None:
    assert list(duplicates(map(claim, blocks))) == []


ON = "dns://a.:53 on 127.0.0.1"


@pytest.mark.parametrize(
    ("blocks", "errors"),
    [
        (["a.", "a."], ["dns://a.:53 - it is already defined"]),
        (["a.", "b.", "a.", "b."], ["dns://a.:53 - it is already defined", "dns://b.:53 - it is already defined"]),
        (["a. 127.0.0.1 127.0.0.1"], [f"{ON} - it is already defined"]),
        (["a. 127.0.0.1", "a."], [f"dns://a.:53 - zone overlap listener capacity with {ON}"]),
        (["a.", "a. 127.0.0.1"], [f"{ON} - zone overlap listener capacity with dns://a.:53"]),
        (["a. 127.0.0.1", "a. view"], [f"dns://a.:53 - zone overlap listener capacity with {ON}"]),
    ],
)
def test_duplicates(blocks: list[str], errors: list[str]) -> None:
    assert [str(error) for error in duplicates(map(claim, blocks))] == [f"cannot serve {error}" for error in errors]
