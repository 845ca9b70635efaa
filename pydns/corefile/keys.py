"""Keys of server blocks: transport, zone and port.

Duty: read ``[transport://]zone[:port]`` as CoreDNS does, CIDR notation included, and find zones that two blocks claim.
It does not open ports and does not know which transports are served.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pydns.corefile.line import INSPECTING, CorefileError
from pydns.dns.name import normalize, reverse_zones

DEFAULT_PORT = 53
PORTS = {"dns": 53, "tls": 853, "quic": 853, "grpc": 443, "https3": 443, "https": 443}

_PORT = re.compile(r"[+-]?[0-9]{1,19}")
_CIDR = re.compile(r"[0-9a-fA-F:.]+/[0-9]{1,3}")
_LONGEST_ZONE = 255


@dataclass(frozen=True)
class Key:
    """One zone of a server block.  ``zone`` is lower-case with its final dot; ``text`` is how it was written."""

    transport: str
    zone: str
    port: int
    text: str = field(default="", compare=False)
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.transport}://{self.zone}:{self.port}"

    def error(self, message: str, hint: str = "", *, kind: str = "") -> CorefileError:
        """A located error about this key."""
        return CorefileError(message, self.file, self.line, hint=hint, kind=kind)

    def not_served(self) -> CorefileError:
        """The error for a transport that parses but has no server."""
        return self.error(f"cannot serve {self}: transport '{self.transport}' is not served by this version yet")


@dataclass(frozen=True)
class Claim:
    """A key, the addresses its block binds to (none: all) and whether a view filters its queries."""

    key: Key
    addresses: Sequence[str] = ()
    has_view: bool = False


def parse_key(text: str, file: str, line: int, dns_port: int = DEFAULT_PORT) -> tuple[Key, ...]:
    """The keys that one word stands for; a CIDR that is no whole octet or nibble stands for several.

    ``dns_port`` is the port of dns:// keys that name none.  Raises `CorefileError`.
    """
    transport, rest = strip_transport(text)
    try:
        zones, port = zones_of(rest)
    except ValueError as error:
        raise CorefileError(str(error), file, line, hint=_zone_hint(rest), kind=INSPECTING) from None
    if port is None:
        port = dns_port if transport == "dns" else PORTS[transport]
    if not 0 <= port <= 65535:
        raise CorefileError(f"address {port}: invalid port", file, line, hint="a port is 0 to 65535", kind="")
    return tuple(Key(transport, zone, port, text, file, line) for zone in zones)


def strip_transport(text: str) -> tuple[str, str]:
    """The transport that ``text`` starts with ("dns" when it names none) and the rest."""
    transport, separator, rest = text.partition("://")
    return (transport, rest) if separator and transport in PORTS else ("dns", text)


def zones_of(text: str) -> tuple[tuple[str, ...], int | None]:
    """Zones and port of ``zone[:port]``; raises ValueError.

    What follows the last colon is a port when it is a number, else part of the name (plugin/normalize.go).
    """
    zone, colon, port = text.rpartition(":")
    if not colon or not _PORT.fullmatch(port):
        zone, port = text, ""
    if text.endswith(":") or not text:
        raise ValueError(f'expecting data after last colon: "{text}"')
    if len(zone.encode()) > _LONGEST_ZONE:
        raise ValueError(f"specified zone is too long: {len(zone.encode())} > {_LONGEST_ZONE}")
    return _expand(zone), int(port) if port else None


def _expand(zone: str) -> tuple[str, ...]:
    if _CIDR.fullmatch(zone):
        try:
            reverse = tuple(reverse_zones(zone))
        except ValueError:
            reverse = ()  # 10.7.3.0/33 is a name
        if reverse and ":" in zone and zone[0] in ":0":
            raise ValueError(f"invalid CIDR {zone}")
        if reverse:
            return reverse
    try:
        if zone:
            return (normalize(zone),)
    except ValueError:
        pass
    raise ValueError(f"zone is not a valid domain name: {zone}")


def _zone_hint(text: str) -> str:
    return "the root zone is written '.'" if text.startswith(":") and _PORT.fullmatch(text[1:]) else ""


def duplicates(claims: Iterable[Claim]) -> Iterator[CorefileError]:
    """An error for each zone and port that two blocks without views serve on the same address.

    An unbound block also collides with a bound one (core/dnsserver/address.go).  Claims come in file order.
    """
    exact: set[tuple[Key, str]] = set()
    by_key: dict[Key, str] = {}
    for claim in claims:
        for address in claim.addresses or ("",):
            if error := _duplicate(claim, address, exact, by_key):
                yield error
            if not claim.has_view:
                exact.add((claim.key, address))
                by_key[claim.key] = address


def _duplicate(claim: Claim, address: str, exact: set[tuple[Key, str]], by_key: dict[Key, str]) -> CorefileError | None:
    key = claim.key
    if (key, address) in exact:
        return None if claim.has_view else key.error(f"cannot serve {_on(key, address)} - it is already defined")
    other = by_key.get(key)
    if other is None or (address and (key, "") not in exact):
        return None
    overlap = _on(key, other if not address else "")
    return key.error(f"cannot serve {_on(key, address)} - zone overlap listener capacity with {overlap}")


def _on(key: Key, address: str) -> str:
    return f"{key} on {address}" if address else str(key)
