"""Converters: the values of words, and how errors are worded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from pydns.address import Address
from pydns.corefile import types
from pydns.corefile.types import Mismatch


@pytest.mark.parametrize(
    ("convert", "word", "value"),
    [
        (types.integer(), "-7", -7),
        (types.integer(0, 3600), "+3600", 3600),
        (types.seconds(1), "030", 30),
        (types.number(0, 1), "0.5", 0.5),
        (types.duration(), "0", 0.0),
        (types.duration(), "5s", 5.0),
        (types.duration(), "1m30s", 90.0),
        (types.duration(), "1h", 3600.0),
        (types.duration(), "100ms", 0.1),
        (types.duration(), "1.5h", 5400.0),
        (types.duration(), ".5s", 0.5),
        (types.duration(), "5.s", 5.0),
        (types.duration(), "-2s", -2.0),
        (types.duration(), "+2s", 2.0),
        (types.duration(), "30s1m", 90.0),
        (types.strict(types.duration()), "5s", 5.0),
        (types.percentage, "10%", 10),
        (types.choice("a", "b"), "b", "b"),
        (types.named({"NXDOMAIN": 3}, "rcode"), "nxdomain", 3),
        (types.text, "", ""),
        (types.zone, "Example.ORG", "example.org."),
        (types.zone, ".", "."),
        (types.zone_or_cidr, "10.0.0.0/15", ("0.10.in-addr.arpa.", "1.10.in-addr.arpa.")),
        (types.zone_or_cidr, "tls://Example.org:853", ("example.org.",)),
        (types.ip, "::1", ip_address("::1")),
        (types.cidr, "10.1.2.3/8", ip_network("10.0.0.0/8")),
        (types.cidr, "2001:DB8::/32", ip_network("2001:db8::/32")),
        (types.unsigned(5), "5", 5),
        (types.number(), "inf", math.inf),
        (types.address(53), "10.0.0.1", Address("10.0.0.1", 53)),
        (types.address(53), "10.0.0.1:5300", Address("10.0.0.1", 5300)),
        (types.address(53), "::1", Address("::1", 53)),
        (types.address(53), "[::1]:5300", Address("::1", 5300)),
        (types.listen_address, ":8080", Address("", 8080)),
        (types.listen_address, "localhost:9153", Address("localhost", 9153)),
        (types.listen_address, "[::1]:", Address("::1", 0)),
    ],
)
def test_value(convert: Callable[[str], Any], word: str, value: object) -> None:
    assert convert(word) == value


@pytest.mark.parametrize("unit", ["us", "µs", "μs"])
def test_microseconds(unit: str) -> None:
    assert types.duration()(f"250{unit}") == pytest.approx(250e-6)


@pytest.mark.parametrize(
    ("convert", "word", "error"),
    [
        (types.integer(), "x", 'must be a whole number: "x"'),
        (types.integer(), "1_0", 'must be a whole number: "1_0"'),
        (types.integer(), "١", 'must be a whole number: "١"'),
        (types.integer(), "9" * 5000, f'must be a whole number: "{"9" * 5000}"'),
        (types.number(), "x", 'must be a number: "x"'),
        (types.unsigned(5), "+5", 'must be a whole number without a sign: "+5"'),
        (types.duration(), "", 'must be a duration: time: invalid duration ""'),
        (types.duration(), "x", 'must be a duration: time: invalid duration "x"'),
        (types.duration(), ".s", 'must be a duration: time: invalid duration ".s"'),
        (types.duration(), "5", 'must be a duration: time: missing unit in duration "5"'),
        (types.duration(), "00", 'must be a duration: time: missing unit in duration "00"'),
        (types.duration(), "5.5.5s", 'must be a duration: time: missing unit in duration "5.5.5s"'),
        (types.duration(), "5d", 'must be a duration: time: unknown unit "d" in duration "5d"'),
        (types.duration(), "5 s", 'must be a duration: time: unknown unit " s" in duration "5 s"'),
        (types.duration(), "1s5", 'must be a duration: time: missing unit in duration "1s5"'),
        (types.duration(), "-", 'must be a duration: time: invalid duration "-"'),
        (types.duration(), "2562048h", 'must be a duration: time: invalid duration "2562048h"'),
        (types.percentage, "10", 'must end in %: "10"'),
        (types.choice("a", "b"), "c", 'must be one of a, b: "c"'),
        (types.named({}, "rcode"), "3", 'must be the name of a DNS rcode: "3"'),
        (types.zone, "a..b", 'must be a domain name: "a..b"'),
        (types.zone_or_cidr, "a:", 'must be a zone: expecting data after last colon: "a:"'),
        (types.ip, "10.0.0", 'must be an IP address: "10.0.0"'),
        (types.cidr, "10.0.0.0/33", 'must be a network with the length of its prefix: "10.0.0.0/33"'),
        (types.cidr, "10.1.2.3", 'must be a network with the length of its prefix: "10.1.2.3"'),
        (types.cidr, "10.0.0.0/255.0.0.0", 'must be a network with the length of its prefix: "10.0.0.0/255.0.0.0"'),
        (types.address(53), "localhost:53", 'must be an IP address: "localhost"'),
        (types.address(53), "x", "must be host:port: address x: missing port in address"),
        (types.listen_address, "127.0.0.1", "must be host:port: address 127.0.0.1: missing port in address"),
        (types.listen_address, "::1:53", "must be host:port: address ::1:53: too many colons in address"),
        (types.listen_address, "[::1]", "must be host:port: address [::1]: missing port in address"),
        (types.listen_address, "[::1:53", "must be host:port: address [::1:53: too many colons in address"),
        (types.listen_address, "a]:53", "must be host:port: address a]:53: unexpected bracket in address"),
        (types.regex(), "(", "must be a regular expression: error parsing regexp: missing closing ): `(`"),
    ],
)
def test_mismatch(convert: Callable[[str], Any], word: str, error: str) -> None:
    with pytest.raises(Mismatch) as caught:
        convert(word)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("convert", "word", "error"),
    [
        (types.number(0), "-inf", "must be at least 0: -inf"),
        (types.unsigned(5), "6", "must be in range [0, 5]: 6"),
        (types.integer(0, 3600), "3601", "must be in range [0, 3600]: 3601"),
        (types.integer(1), "0", "must be at least 1: 0"),
        (types.integer(None, 4), "5", "must be at most 4: 5"),
        (types.integer(0, 10_000_000), "10000001", "must be in range [0, 10000000]: 10000001"),
        (types.duration(2), "1.5s", "must be at least 2: 1.5"),
        (types.percentage, "101%", "must be in range [0, 100]: 101"),
        (types.listen_address, ":http", 'must have a port from 0 to 65535: "http"'),
        (types.listen_address, ":65536", 'must have a port from 0 to 65535: "65536"'),
        (types.strict(types.duration()), "5", 'must be a duration: time: missing unit in duration "5"'),
        (types.strict(types.seconds(1)), "0", "must be at least 1: 0"),
        (types.regex(3), "abcd", "must be a regular expression of at most 3 characters: 4"),
    ],
)
def test_error_that_is_no_mismatch(convert: Callable[[str], Any], word: str, error: str) -> None:
    with pytest.raises(ValueError, match=re.escape(error)) as caught:
        convert(word)
    assert not isinstance(caught.value, Mismatch)


def test_regex_knows_ascii_only() -> None:
    assert not types.regex()(r"^\w$").search("é")
