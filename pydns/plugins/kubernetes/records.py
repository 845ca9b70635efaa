"""From what a name holds to resource records: addresses, SRV with its additional addresses, CNAME.

Pure: it knows neither the store nor queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from socket import AF_INET, AF_INET6, inet_pton
from typing import NamedTuple

from pydns.dns.message import RR
from pydns.dns.name import BadName, to_wire
from pydns.dns.rdata import srv
from pydns.dns.replay import Replay
from pydns.dns.types import Class, Type, new
from pydns.k8s.objects import NO_PORT, Endpoint, Port

NO_PORTS = (Port("", NO_PORT, ""),)
"""Those of what has no SRV record."""

_MAPPED = bytes(10) + b"\xff\xff"
_PORT_MASK = 0xFFFF


class Item(NamedTuple):
    """One address, or one name to ask further, at one or more ports.

    ``type`` is A, AAAA or CNAME and ``rdata`` of that type; ``target`` is the name that SRV records give it, below the
    zone; ``endpoint`` is an endpoint's label in lower case, ``zone`` its topology zone.
    """

    type: int
    rdata: bytes
    ports: tuple[Port, ...]
    target: str
    endpoint: str = ""
    zone: str = ""


class Asked(NamedTuple):
    """A question to one zone: ``name`` and ``zone`` lower-case, ``owner`` and ``origin`` the same as the client spelt
    them."""

    name: str
    zone: str
    owner: str
    origin: str
    type: int


class Outcome(NamedTuple):
    """What became of a question: no ``answer`` is NODATA where the name ``exists``, else NXDOMAIN.

    ``replay`` is None where the outcome may not be replayed.
    """

    exists: bool
    replay: Replay | None
    answer: tuple[RR, ...] = ()
    additional: tuple[RR, ...] = ()
    truncated: bool = False


def address_rdata(address: str) -> tuple[int, bytes] | None:
    """Type and rdata of an address as Go's net.ParseIP reads it (an IPv4-mapped one is IPv4); None for other text."""
    try:
        if ":" not in address:
            return Type.A, inet_pton(AF_INET, address)
        rdata = inet_pton(AF_INET6, address)
    except (OSError, ValueError):
        return None
    return (Type.A, rdata[12:]) if rdata.startswith(_MAPPED) else (Type.AAAA, rdata)


def host_rdata(text: str) -> tuple[int, bytes] | None:
    """Type and rdata of an address or a name; None for text that is neither."""
    try:
        return address_rdata(text) or (Type.CNAME, to_wire(text if text.endswith(".") else text + "."))
    except BadName:
        return None


def endpoint_name(endpoint: Endpoint, pod_names: bool) -> str:
    """An endpoint's label below its Service: hostname, Pod name where wanted, else the address with dashes."""
    if endpoint.hostname:
        return endpoint.hostname
    if pod_names and endpoint.target:
        return endpoint.target
    if "." in endpoint.address:
        return endpoint.address.replace(".", "-")
    if ":" not in endpoint.address:
        return ""
    dashed = endpoint.address.replace(":", "-")
    return dashed + "0" if dashed.endswith("-") else dashed


def absolute(relative: str, zone: str) -> str:
    """A name below ``zone`` with that zone."""
    return f"{relative}." if zone == "." else f"{relative}.{zone}"


def addresses(items: Sequence[Item], asked: Asked, ttl: int) -> tuple[RR, ...]:
    """The A or AAAA records of the items, each address once."""
    _, _, owner, _, rrtype = asked
    rdatas = dict.fromkeys([item.rdata for item in items if item.type == rrtype])
    return tuple([new(RR, (owner, rrtype, ttl, rdata, Class.IN)) for rdata in rdatas])


def service_records(items: Sequence[Item], asked: Asked, ttl: int) -> tuple[tuple[RR, ...], tuple[RR, ...]]:
    """SRV records and the addresses of their targets, each once (RFC 2782).

    All have priority 0 and share a weight of 100 evenly, by the number of ports of all items, doubles too (CoreDNS
    plugin.SRV).  Names to ask further and ports that are none have no SRV record.
    """
    items = [item for item in items if item.type != Type.CNAME]
    weight = max(1, 100 // max(1, sum([len(item.ports) for item in items])))
    suffix = absolute("", asked.origin)
    answer: dict[RR, None] = {}
    additional: dict[RR, None] = {}
    for rrtype, address, ports, relative, _, _ in items:
        target = relative + suffix
        try:
            rdatas = [
                srv(weight=weight, port=one.port & _PORT_MASK, target=target) for one in ports if one.port != NO_PORT
            ]
        except BadName:
            continue
        for rdata in rdatas:
            answer[new(RR, (asked.owner, Type.SRV, ttl, rdata, Class.IN))] = None
            additional[new(RR, (target, rrtype, ttl, address, Class.IN))] = None
    return tuple(answer), tuple(additional)


def pointers(names: Sequence[str], asked: Asked, rrtype: int, ttl: int) -> tuple[RR, ...]:
    """The PTR or NS records to ``names``, each once; a name that is none is left out."""
    records: dict[RR, None] = {}
    for name in names:
        try:
            records[RR(asked.owner, rrtype, ttl, to_wire(name))] = None
        except BadName:
            continue
    return tuple(records)
