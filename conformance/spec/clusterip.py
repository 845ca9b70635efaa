"""Demands on Services with a ClusterIP (R3 to R10). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from conformance.spec.demand import Demand, demand
from conformance.spec.names import Names, family, mixed, other_family, reverse
from conformance.spec.view import CLUSTER_IP, Port, Service, View
from conformance.spec.wants import Beside, Empty, Holds, Leads, Only, datum

AREA = "clusterip"

_demand = partial(demand, AREA)


def demands(view: View, names: Names) -> Iterator[Demand]:
    """All demands on all ClusterIP Services; those on addresses only where the ClusterIPs are known."""
    for service in view.of_kind(CLUSTER_IP):
        if service.addresses:
            yield from _addresses(service, names.service(service))
            yield from _pointers(service, names.service(service))
        for port in service.ports:
            yield from (_named if port.name else _unnamed)(service, port, names)


def _addresses(service: Service, name: str) -> Iterator[Demand]:
    families = {rtype: [text for text in service.addresses if family(text) == rtype] for rtype in ("A", "AAAA")}
    for rtype, addresses in families.items():
        own = frozenset(datum(name, rtype, address) for address in addresses)
        if own:
            number = "R3" if rtype == "A" else "R4"
            yield _demand(name, rtype, number, Holds(own))
            yield _demand(mixed(name), rtype, f"R2 {number}", Holds(own))
            yield _demand(name, rtype, "X9", Only(rtype, own))
        else:
            yield _demand(name, rtype, "X2", Empty())


def _pointers(service: Service, name: str) -> Iterator[Demand]:
    for address in service.addresses:
        number = "R9" if family(address) == "A" else "R10"
        own = frozenset({datum(reverse(address), "PTR", name)})
        yield _demand(reverse(address), "PTR", number, Holds(own))
        yield _demand(mixed(reverse(address)), "PTR", f"R2 {number}", Holds(own))


def _named(service: Service, port: Port, names: Names) -> Iterator[Demand]:
    name = names.port(service, port)
    own = frozenset({datum(name, "SRV", f"{port.number} {names.service(service)}")})
    yield _demand(name, "SRV", "R5", Holds(own))
    yield _demand(mixed(name), "SRV", "R2 R5", Holds(own))
    yield _demand(name, "SRV", "R6 X9", Only("SRV", own))
    if service.addresses:
        yield _demand(name, "SRV", "R8", Beside(frozenset(service.addresses)))


def _unnamed(service: Service, port: Port, names: Names) -> Iterator[Demand]:
    name, protocol = names.service(service), port.protocol.lower()
    departing = Leads(name, frozenset(each.number for each in service.ports))
    nothing = Only("SRV", frozenset())
    for owner in (name, f"_._{protocol}.{name}"):
        yield _demand(owner, "SRV", "R7", nothing, but=("srv-for-unnamed-ports", departing))
    yield _demand(f"_{port.number}._{protocol}.{name}", "SRV", "R7", nothing)


def families_of(service: Service) -> tuple[str, str]:
    """A type of address that a Service with a ClusterIP has, and the other one."""
    rtype = family(service.addresses[0])
    return rtype, other_family(rtype)
