"""Demands on headless Services (R11 to R23, R26). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from conformance.spec.demand import Demand, demand, question
from conformance.spec.names import Names, family, mixed, reverse
from conformance.spec.view import HEADLESS, Endpoint, Port, Service, View
from conformance.spec.wants import Beside, Datum, Denied, Empty, Holds, Lacks, Leads, Only, datum

AREA = "headless"

MANY = 40
"""Endpoints that no UDP reply without EDNS has room for: an A record takes 16 octets of 512."""

NUMBERS = {"A": "R11", "AAAA": "R17"}

_demand = partial(demand, AREA)


def demands(view: View, names: Names) -> Iterator[Demand]:
    """All demands on all headless Services."""
    for service in view.of_kind(HEADLESS):
        yield from _addresses(service, names) if service.ready else _nobody(service, names)
        yield from _hostnames(service, names)
        yield from _pointers(service, names)
        for port in sorted({port for endpoint in service.ready for port in endpoint.ports}, key=str):
            yield from (_named if port.name else _unnamed)(service, port, names)


def _owned(name: str, rtype: str, endpoints: Iterable[Endpoint]) -> frozenset[Datum]:
    """The address records of one type that endpoints make at a name."""
    return frozenset(datum(name, rtype, each.address) for each in endpoints if family(each.address) == rtype)


def _nobody(service: Service, names: Names) -> Iterator[Demand]:
    for rtype, number in (("A", "R13"), ("AAAA", "R17")):
        yield _demand(names.service(service), rtype, f"R12 {number}", Denied())


def _addresses(service: Service, names: Names) -> Iterator[Demand]:
    name = names.service(service)
    for rtype in NUMBERS:
        own = _owned(name, rtype, service.ready)
        if own:
            yield from _family(service, name, rtype, own)
        else:
            yield _demand(name, rtype, "X2", Empty())


def _family(service: Service, name: str, rtype: str, own: frozenset[Datum]) -> Iterator[Demand]:
    number = NUMBERS[rtype]
    # all that there are fit only a TCP reply
    options = ["+tcp"] if len(own) >= MANY else []
    tags = f"{number} R26 X4" if options else number
    yield _demand(name, rtype, tags, Holds(own), *options)
    yield _demand(mixed(name), rtype, f"R2 {number}", Holds(own), *options)
    yield _demand(name, rtype, "X9", Only(rtype, own))
    absent = _owned(name, rtype, service.endpoints) - own
    if absent:
        yield _demand(name, rtype, f"R12 {number}", Holds(own, absent), *options)


# --- endpoints -------------------------------------------------------------------------------------------------


def _hostnames(service: Service, names: Names) -> Iterator[Demand]:
    for hostname in sorted({endpoint.hostname for endpoint in service.endpoints} - {""}):
        ready = [endpoint for endpoint in service.ready if endpoint.hostname == hostname]
        yield from _hostname(names.endpoint(service, hostname), ready)


def _hostname(name: str, ready: list[Endpoint]) -> Iterator[Demand]:
    for rtype, number in (("A", "R14"), ("AAAA", "R18")):
        own = _owned(name, rtype, ready)
        if own:
            tags = f"{number} R15" if len(own) > 1 and rtype == "A" else number
            yield _demand(name, rtype, tags, Holds(own))
            yield _demand(mixed(name), rtype, f"R2 {number}", Holds(own))
            yield _demand(name, rtype, "X9", Only(rtype, own))
        else:
            yield _demand(name, rtype, "X2" if ready else f"R12 {number}", Empty() if ready else Denied())


def _pointers(service: Service, names: Names) -> Iterator[Demand]:
    for endpoint in dict.fromkeys(each for each in service.endpoints if each.hostname):
        owner = reverse(endpoint.address)
        number = "R22" if family(endpoint.address) == "A" else "R23"
        own = frozenset({datum(owner, "PTR", names.endpoint(service, endpoint.hostname))})
        if endpoint.ready:
            yield _demand(owner, "PTR", number, Holds(own))
            yield _demand(mixed(owner), "PTR", f"R2 {number}", Holds(own))
        elif all(each.address != endpoint.address for each in service.ready):
            yield _demand(owner, "PTR", f"R12 {number}", Lacks(own))


# --- ports -----------------------------------------------------------------------------------------------------


def _named(service: Service, port: Port, names: Names) -> Iterator[Demand]:
    name = names.port(service, port)
    reached = [endpoint for endpoint in service.ready if port in endpoint.ports]
    called = [endpoint for endpoint in reached if endpoint.hostname]
    own = frozenset(_srv(service, port, endpoint, names) for endpoint in called)
    every = frozenset(_srv(service, port, endpoint, names) for endpoint in service.endpoints if endpoint.hostname)
    options = ["+tcp"] if len(reached) >= MANY else []
    yield _demand(name, "SRV", "R19", Holds(own, every - own), *options)
    yield _demand(mixed(name), "SRV", "R2 R19", Holds(own), *options)
    yield _demand(name, "SRV", "R21", Beside(frozenset(endpoint.address for endpoint in service.ready)), *options)
    yield from _nameless(service, port, names, reached, options)


def _nameless(
    service: Service, port: Port, names: Names, reached: list[Endpoint], options: list[str]
) -> Iterator[Demand]:
    """The names that the server chose for endpoints are found through SRV."""
    addresses = frozenset(endpoint.address for endpoint in reached if not endpoint.hostname)
    if addresses and len(reached) < MANY:
        asked = question(names.port(service, port), "SRV", *options)
        want = Leads(names.service(service), frozenset({port.number}))
        yield Demand(AREA, asked, ("R16", "R19"), want, follow=addresses)


def _srv(service: Service, port: Port, endpoint: Endpoint, names: Names) -> Datum:
    target = names.endpoint(service, endpoint.hostname)
    return datum(names.port(service, port), "SRV", f"{port.number} {target}")


def _unnamed(service: Service, port: Port, names: Names) -> Iterator[Demand]:
    name, protocol = names.service(service), port.protocol.lower()
    ports = frozenset(each.number for endpoint in service.ready for each in endpoint.ports)
    nothing, departing = Only("SRV", frozenset()), Leads(name, ports)
    for owner in (name, f"_._{protocol}.{name}"):
        yield _demand(owner, "SRV", "R20", nothing, but=("srv-for-unnamed-ports", departing))
    yield _demand(f"_{port.number}._{protocol}.{name}", "SRV", "R20", nothing)
