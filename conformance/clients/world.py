"""What there is to be found: `world.case` as servers serve it, and the same as a function, for the models.

The function is written from the Kubernetes DNS specification (1.1.0) and from what the zones outside are made to do;
where the running CoreDNS knows better, that is said. Knows no resolver and no socket.
"""

from __future__ import annotations

from pathlib import Path

from conformance.clients.model import Answer, Kind, World
from conformance.table.case import Case
from conformance.table.case_file import parse_cases

CLUSTER_DOMAIN = "cluster.local"
NAMESPACE = "shop"
NAMESPACES = ("default", NAMESPACE, "stock")

CROWD = tuple(f"10.244.7.{number}" for number in range(1, 46))
"""Too many for a reply of 512 octets, few enough for 1232."""

SERVICES = {
    "kubernetes.default": ("10.96.0.1",),
    "web.shop": ("10.96.3.1",),
    "dual.shop": ("10.96.3.2", "fd00:10:96::302"),
    "db.stock": ("10.96.3.3",),
    "dns-backend.stock": ("10.96.3.4",),
    "test-service-2.shop": ("10.96.3.5",),
    "dns-test-service.shop": ("10.244.1.40",),
    "dns-querier-1.dns-test-service.shop": ("10.244.1.40",),
    "peers.shop": ("10.244.1.50", "10.244.1.51"),
    "one.peers.shop": ("10.244.1.50",),
    "two.peers.shop": ("10.244.1.51",),
    "crowd.shop": CROWD,
}
"""Addresses of Services and of endpoints that have names, by their name below svc.cluster.local."""

PORTS = {
    "_https._tcp.kubernetes.default": ("kubernetes.default",),
    "_http._tcp.web.shop": ("web.shop",),
    "_http._tcp.dual.shop": ("dual.shop",),
    "_sql._tcp.db.stock": ("db.stock",),
    "_http._tcp.test-service-2.shop": ("test-service-2.shop",),
    "_http._tcp.dns-test-service.shop": ("dns-querier-1.dns-test-service.shop",),
    "_http._tcp.peers.shop": ("one.peers.shop", "two.peers.shop"),
}
"""SRV targets of named ports, both sides below svc.cluster.local."""

OUTSIDE = {
    "ok": (Kind.ANSWER, "192.0.2.1", "2001:db8::1"),
    "truncated": (Kind.TRUNCATED, "192.0.2.2", "2001:db8::2"),
    "nodata": (Kind.NODATA,),
    "servfail": (Kind.SERVFAIL,),
    "refused": (Kind.REFUSED,),
    "timeout": (Kind.TIMEOUT,),
}
"""What happens to a name below ZONE.test, and the addresses found there. The last one is not in world.case."""

_HEAD, _RECORD = 12 + 34, 16
"""Octets of a reply before its records, and of an A record whose owner is a pointer (RFC 1035 section 4.1)."""

_SVC = f".svc.{CLUSTER_DOMAIN}."
_NODATA = Answer(Kind.NODATA)
_NXDOMAIN = Answer(Kind.NXDOMAIN)


def load_world() -> Case:
    """The objects, the upstream's script and the Corefile."""
    (case,) = parse_cases(Path(__file__).with_name("world.case").read_text(), "clients/world")
    return case


def world(name: str, qtype: str) -> Answer:
    """What the right server answers."""
    labels = name.lower().split(".")
    return _outside(labels, qtype) if labels[-2:-1] == ["test"] else _cluster(name.lower(), qtype)


def whole(kind: Kind) -> World:
    """A server that does the same to every question."""
    return lambda name, qtype: Answer(kind)


def _outside(labels: list[str], qtype: str) -> Answer:
    """Names below ZONE.test; the zones' own names do not exist."""
    kind, *addresses = OUTSIDE.get(labels[-3], (Kind.NXDOMAIN,)) if len(labels) > 3 else (Kind.NXDOMAIN,)
    assert isinstance(kind, Kind)
    if not addresses:
        return Answer(kind)
    found = {"A": addresses[:1], "AAAA": addresses[1:], "SRV": [f"target.{labels[-3]}.test."]}.get(qtype, [])
    if not found and kind == Kind.ANSWER:
        return _NODATA
    return Answer(kind, tuple(map(str, found)))


def _cluster(name: str, qtype: str) -> Answer:
    """The cluster's zone: what exists has NODATA for its other types, and so have names between it and the apex."""
    if name in (f"{CLUSTER_DOMAIN}.", _SVC[1:], *(f"{namespace}{_SVC}" for namespace in NAMESPACES)):
        return _NODATA
    if not name.endswith(_SVC):
        return _NXDOMAIN
    key = name.removesuffix(_SVC)
    if key in PORTS:
        return _port(key, qtype)
    if key not in SERVICES:
        return _NXDOMAIN
    if qtype == "SRV":
        return _service(key)
    return _addresses(key, qtype)


def _addresses(key: str, qtype: str) -> Answer:
    found = tuple(each for each in SERVICES[key] if qtype == ("AAAA" if ":" in each else "A"))
    return Answer(Kind.ANSWER, found, size=_HEAD + _RECORD * len(found)) if found else _NODATA


def _port(key: str, qtype: str) -> Answer:
    """SRV records; CoreDNS answers A and AAAA of such a name, too, with the addresses of its Service."""
    if qtype == "SRV":
        return Answer(Kind.ANSWER, tuple(f"{target}{_SVC}" for target in PORTS[key]))
    return _addresses(key.split(".", 2)[2], qtype)


def _service(key: str) -> Answer:
    """CoreDNS answers SRV of a Service's own name with all its ports."""
    targets = {target for port, found in PORTS.items() if port.endswith(f".{key}") for target in found}
    return Answer(Kind.ANSWER, tuple(f"{target}{_SVC}" for target in targets or {key}))
