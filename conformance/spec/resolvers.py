"""Demands that resolvers make beyond the specification (X1 to X12), on each Service. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from conformance.spec.clusterip import families_of
from conformance.spec.demand import Demand, demand
from conformance.spec.headless import MANY
from conformance.spec.names import Names, family, mixed
from conformance.spec.view import CLUSTER_IP, EXTERNAL_NAME, HEADLESS, Service, View
from conformance.spec.wants import Cut, Deniable, Denied, Echoed, Empty, Extended, Holds, OneTtl, Want, datum
from conformance.wire.question import DEFAULT_EDNS_SIZE

AREA = "resolvers"
OUTSIDE_NAME = "example.com"
RESERVED = ("svc", "pod")
"""Labels below the zone that are no namespace's."""

_demand = partial(demand, AREA)


def demands(view: View, names: Names) -> Iterator[Demand]:
    """All demands on all Services with addresses."""
    for service in view.services:
        if service.kind != EXTERNAL_NAME:
            yield from _walks(service, view, names)
            yield from _ports(service, names)
        if service.kind == CLUSTER_IP and service.addresses:
            yield from _found(service, names)
        if service.kind == HEADLESS and service.ready:
            yield from _headless(service, names)


# --- names that a search list makes ----------------------------------------------------------------------------


def _walks(service: Service, view: View, names: Names) -> Iterator[Demand]:
    for name in _expanded(service, view, names):
        for rtype in ("A", "AAAA"):
            yield _demand(name, rtype, "X1 X2", Denied())
        yield _demand(name, "AAAA", "X3 X10", Deniable(flags=True, soa=True))
        yield _demand(name, "A", "X4", Denied(), "+tcp")


def _expanded(service: Service, view: View, names: Names) -> Iterator[str]:
    """What a resolver with ndots:5 asks on its way to this Service, and for a name outside, that does not exist."""
    short = f"{service.name}.{service.namespace}"
    if not view.find(service.namespace, service.namespace):
        yield f"{short}.{names.namespace(service.namespace)}"
        yield f"{names.service(service)}{names.namespace(service.namespace)}"
    if service.namespace not in RESERVED:
        yield f"{short}.{names.zone}"
    if not view.find(service.namespace, OUTSIDE_NAME.rpartition(".")[2]):
        yield f"{OUTSIDE_NAME}.{names.namespace(service.namespace)}"
    yield f"no-such-name.{names.service(service)}"


def _ports(service: Service, names: Names) -> Iterator[Demand]:
    """The name between `_PORT._PROTOCOL` and the Service exists where the one below it does."""
    named = service.ports if service.kind == CLUSTER_IP else [each for end in service.ready for each in end.ports]
    for protocol in sorted({port.protocol.lower() for port in named if port.name}):
        name = f"_{protocol}.{names.service(service)}"
        yield _demand(name, "A", "X11", Empty(), but=("empty-non-terminals-denied", Denied()))


# --- names that exist ------------------------------------------------------------------------------------------


def _found(service: Service, names: Names) -> Iterator[Demand]:
    name, (rtype, other) = names.service(service), families_of(service)
    own = Holds(frozenset(datum(name, rtype, each) for each in service.addresses if family(each) == rtype))
    yield _demand(name, rtype, "X4", own, "+tcp")
    yield _demand(name, rtype, "X5", own, "+pipeline=3")
    yield from _forms(name, rtype, own)
    yield _demand(name, "MX", "X11", Empty())
    if all(family(each) == rtype for each in service.addresses):
        yield _demand(name, other, "X3 X10", Deniable(flags=True, soa=True))
        yield _demand(name, other, "X2 X4", Empty(), "+tcp")
        yield _demand(mixed(name), other, "X7", Echoed(f"{mixed(name)} IN {other}"))


def _forms(name: str, rtype: str, own: Want) -> Iterator[Demand]:
    """One question in the forms that resolvers give it."""
    yield _demand(mixed(name), rtype, "X7", Echoed(f"{mixed(name)} IN {rtype}"))
    yield _demand(name, rtype, "X7", Echoed(f"{name} IN {rtype}", recursion=False), "+norec")
    yield _demand(name, rtype, "X8", own, "+edns")
    yield _demand(name, rtype, "X8", Extended(True), "+edns")
    yield _demand(name, rtype, "X8", Extended(True), "+edns=4096", "+do")
    yield _demand(name, rtype, "X8", Extended(False))


def _headless(service: Service, names: Names) -> Iterator[Demand]:
    name = names.service(service)
    for rtype in ("A", "AAAA"):
        own = frozenset(datum(name, rtype, each.address) for each in service.ready if family(each.address) == rtype)
        count = len(own)
        if 0 < count < MANY:
            yield from _forms(name, rtype, Holds(own))
        if count > 1:
            yield _demand(name, rtype, "X12", OneTtl())
        if count >= MANY:
            yield _demand(name, rtype, "X6", Cut(512))
        if count * (16 if rtype == "A" else 28) > DEFAULT_EDNS_SIZE:
            yield _demand(name, rtype, "X6", Cut(DEFAULT_EDNS_SIZE), "+edns")
