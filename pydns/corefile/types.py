"""Converters: one word of a Corefile to one value.

Duty: what a word means (numbers, durations, addresses, zones).  A converter raises ValueError with a message that
completes the sentence "NAME …" ("must be in range [0, 3600]: 3601"); it does not know where the word stands.
`Mismatch` says that the word is of another kind, so that the next optional argument may take it.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Generic, TypeVar

from pydns.address import Address
from pydns.corefile.goregex import translate
from pydns.corefile.keys import strip_transport, zones_of
from pydns.dns.name import normalize

T = TypeVar("T")
Number = TypeVar("Number", int, float)

_CIDR = re.compile(r"[0-9A-Fa-f:.]+/[0-9]{1,3}")
_PORT = re.compile(r"\+?[0-9]{1,19}")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_DURATION_PART = re.compile(r"([0-9]*\.?[0-9]*)([^0-9.]*)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_DURATION = 2**63 / 1e9


class Mismatch(ValueError):
    """The word is not of this kind at all."""


@dataclass(frozen=True)
class Converter(Generic[T]):
    """A function from word to value, with the word that stands for it in a Syntax section."""

    convert: Callable[[str], T]
    metavar: str

    def __call__(self, word: str) -> T:
        return self.convert(word)


@dataclass(frozen=True)
class Several(Generic[T]):
    """Like `Converter`, for a word that stands for several values; use it with ``many=True``.

    A word that does not convert is left out with a warning, as CoreDNS leaves it out silently.
    """

    convert: Callable[[str], tuple[T, ...]]
    metavar: str


def strict(converter: Converter[T]) -> Converter[T]:
    """The same for an optional argument that is never passed over for the next: a mismatch is an error."""

    def convert(word: str) -> T:
        try:
            return converter(word)
        except Mismatch as error:
            raise ValueError(str(error)) from None

    return Converter(convert, converter.metavar)


def _text(word: str) -> str:
    return word


text = Converter(_text, "TEXT")
path = Converter(_text, "PATH")


def integer(low: int | None = None, high: int | None = None) -> Converter[int]:
    """A whole number in [low, high]."""

    def convert(word: str) -> int:
        if not _INTEGER.fullmatch(word):
            raise Mismatch(f"must be a whole number: {quote(word)}")
        return _within(int(word), low, high)

    return Converter(convert, "N")


def seconds(low: int | None = None, high: int | None = None) -> Converter[int]:
    """A plain number of seconds in [low, high], as TTLs are written."""
    return Converter(integer(low, high).convert, "SECONDS")


def unsigned(high: int) -> Converter[int]:
    """A whole number without a sign in [0, high]."""

    def convert(word: str) -> int:
        if word.startswith("+"):
            raise Mismatch(f"must be a whole number without a sign: {quote(word)}")
        return integer(0, high)(word)

    return Converter(convert, "N")


def number(low: float | None = None, high: float | None = None) -> Converter[float]:
    """A decimal number in [low, high]; NaN and infinities as Go's strconv.ParseFloat takes them."""

    def convert(word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            raise Mismatch(f"must be a number: {quote(word)}") from None
        return _within(value, low, high)

    return Converter(convert, "NUMBER")


def duration(low: float | None = None, high: float | None = None) -> Converter[float]:
    """A Go duration ("1m30s", "100ms", "0") in [low, high] seconds; the value is in seconds."""

    def convert(word: str) -> float:
        return _within(parse_duration(word), low, high)

    return Converter(convert, "DURATION")


def parse_duration(word: str) -> float:
    """Seconds of a duration in the grammar of Go's time.ParseDuration; raises `Mismatch` with Go's words."""
    sign, rest = (-1.0, word[1:]) if word.startswith("-") else (1.0, word.removeprefix("+"))
    if rest == "0":
        return 0.0
    if not rest:
        raise _invalid_duration(word)
    total = 0.0
    while rest:
        value, rest = _duration_part(word, rest)
        total += value
    if total >= _LONGEST_DURATION:
        raise _invalid_duration(word)
    return sign * total


def _duration_part(word: str, rest: str) -> tuple[float, str]:
    """Seconds of the first number with its unit, and what follows it."""
    match = _DURATION_PART.match(rest)
    digits, unit = match.groups() if match else ("", "")
    if digits in ("", "."):
        raise _invalid_duration(word)
    if not unit:
        raise _missing_unit(word)
    if unit not in _UNITS:
        raise Mismatch(f"must be a duration: time: unknown unit {quote(unit)} in duration {quote(word)}")
    return float(digits) * _UNITS[unit], rest[len(digits) + len(unit) :]


def _invalid_duration(word: str) -> Mismatch:
    return Mismatch(f"must be a duration: time: invalid duration {quote(word)}")


def _missing_unit(word: str) -> Mismatch:
    return Mismatch(f"must be a duration: time: missing unit in duration {quote(word)}")


def _percentage(word: str) -> int:
    if not word.endswith("%"):
        raise Mismatch(f"must end in %: {quote(word)}")
    return integer(0, 100)(word[:-1])


percentage = Converter(_percentage, "PERCENTAGE%")


def choice(*words: str) -> Converter[str]:
    """One of ``words``, spelled exactly so."""

    def convert(word: str) -> str:
        if word not in words:
            raise Mismatch(f"must be one of {', '.join(words)}: {quote(word)}")
        return word

    return Converter(convert, "|".join(words))


def named(table: Mapping[str, T], what: str) -> Converter[T]:
    """The value that ``table`` (names in upper case) gives to a name in any case: rcodes, RR types, classes."""

    def convert(word: str) -> T:
        if word.upper() not in table:
            raise Mismatch(f"must be the name of a DNS {what}: {quote(word)}")
        return table[word.upper()]

    return Converter(convert, what.upper())


def regex(limit: int = 10000) -> Converter[re.Pattern[str]]:
    """A regular expression in Go's RE2 syntax, at most ``limit`` characters long.

    Python's engine runs it, so matching may backtrack where Go's does not.
    """

    def convert(word: str) -> re.Pattern[str]:
        if len(word) > limit:
            raise ValueError(f"must be a regular expression of at most {limit} characters: {len(word)}")
        try:
            return re.compile(translate(word), re.ASCII)
        except (ValueError, re.error, OverflowError, RecursionError) as error:
            raise Mismatch(f"must be a regular expression: error parsing regexp: {error}: `{word}`") from None

    return Converter(convert, "REGEX")


def _ip(word: str) -> IPv4Address | IPv6Address:
    try:
        return ipaddress.ip_address(word)
    except ValueError:
        raise Mismatch(f"must be an IP address: {quote(word)}") from None


ip = Converter(_ip, "ADDRESS")


def _cidr(word: str) -> IPv4Network | IPv6Network:
    try:
        if _CIDR.fullmatch(word):
            return ipaddress.ip_network(word, strict=False)
    except ValueError:
        pass
    raise Mismatch(f"must be a network with the length of its prefix: {quote(word)}")


cidr = Converter(_cidr, "CIDR")
"""A network as Go's net.ParseCIDR takes it: never without the length of its prefix, never with a netmask."""


def address(default_port: int) -> Converter[Address]:
    """An IP address with or without port."""

    def convert(word: str) -> Address:
        try:
            return Address(str(_ip(word.removeprefix("[").removesuffix("]"))), default_port)
        except Mismatch:
            pass
        host, port = split_host_port(word)
        return Address(str(_ip(host)), _port(port) if port else default_port)

    return Converter(convert, "ADDRESS[:PORT]")


def _listen_address(word: str) -> Address:
    host, port = split_host_port(word)
    return Address(host, _port(port) if port else 0)


listen_address = Converter(_listen_address, "[HOST]:PORT")


def split_host_port(word: str) -> tuple[str, str]:
    """Host and port of "host:port" or "[v6]:port", with the errors of Go's net.SplitHostPort."""
    host, colon, port = word.rpartition(":")
    if not colon or word.endswith("]"):
        raise _address_error(word, "missing port in address")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise _address_error(word, "too many colons in address")
    if "[" in host or "]" in host:
        raise _address_error(word, "unexpected bracket in address")
    return host, port


def _address_error(word: str, why: str) -> Mismatch:
    return Mismatch(f"must be host:port: address {word}: {why}")


def _port(word: str) -> int:
    if not _PORT.fullmatch(word) or int(word) > 65535:
        raise ValueError(f"must have a port from 0 to 65535: {quote(word)}")
    return int(word)


def _zone(word: str) -> str:
    try:
        return normalize(word)
    except ValueError:
        raise Mismatch(f"must be a domain name: {quote(word)}") from None


def _zone_or_cidr(word: str) -> tuple[str, ...]:
    """Also takes a transport and a port off, as CoreDNS does for every zone among a plugin's arguments."""
    try:
        return zones_of(strip_transport(word)[1])[0]
    except ValueError as error:
        raise Mismatch(f"must be a zone: {error}") from None


zone = Converter(_zone, "ZONE")
zone_or_cidr = Converter(_zone_or_cidr, "ZONE")
zones = Several(_zone_or_cidr, "ZONES")


def _within(value: Number, low: float | None, high: float | None) -> Number:
    if low is not None and high is not None and not low <= value <= high:
        raise ValueError(f"must be in range [{_plain(low)}, {_plain(high)}]: {_plain(value)}")
    if low is not None and value < low:
        raise ValueError(f"must be at least {_plain(low)}: {_plain(value)}")
    if high is not None and value > high:
        raise ValueError(f"must be at most {_plain(high)}: {_plain(value)}")
    return value


def _plain(value: float) -> str:
    return str(int(value)) if math.isfinite(value) and value == int(value) else str(value)


def quote(word: str) -> str:
    """``word`` in double quotes, as Go's %q shows it."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
