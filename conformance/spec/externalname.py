"""Demands on ExternalName Services (R24, R25). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from ipaddress import ip_address

from conformance.spec.demand import Demand, demand
from conformance.spec.names import Names, family, mixed
from conformance.spec.view import EXTERNAL_NAME, HEADLESS, Service, View
from conformance.spec.wants import Denied, Empty, Holds, datum

AREA = "externalname"

ADDRESS = ("external-name-address-denied", Denied())
UNRESOLVED = ("external-name-unresolved-dropped", Empty())

Outside = Mapping[str, Sequence[str]]
"""Addresses of names outside the cluster, by name with a final dot; those that are not known are not looked at."""

_demand = partial(demand, AREA)


def demands(view: View, names: Names, outside: Outside) -> Iterator[Demand]:
    """All demands on all ExternalName Services."""
    for service in view.of_kind(EXTERNAL_NAME):
        name, target = names.service(service), f"{service.external_name.rstrip('.')}."
        alias = Holds(frozenset({datum(name, "CNAME", target)}))
        yield _demand(name, "CNAME", "R24", alias, but=ADDRESS if _is_address(target) else None)
        if not _is_address(target):
            yield _demand(mixed(name), "CNAME", "R2 R24", alias)
            yield from _addresses(view, names, outside, service)


def _is_address(target: str) -> bool:
    try:
        ip_address(target.rstrip("."))
    except ValueError:
        return False
    return True


def _addresses(view: View, names: Names, outside: Outside, service: Service) -> Iterator[Demand]:
    name, target = names.service(service), f"{service.external_name.rstrip('.')}."
    inside = target.lower().endswith(f".{names.zone.lower()}")
    known = _inside(view, names, target) if inside else outside.get(target)
    for rtype in ("A", "AAAA"):
        found = [address for address in known or () if family(address) == rtype]
        data = {datum(name, "CNAME", target), *(datum(target, rtype, address) for address in found)}
        if inside and known is not None and not found:
            yield _demand(name, rtype, "R25", Holds(frozenset(data)), but=UNRESOLVED)
        elif known is not None or not inside:
            yield _demand(name, rtype, "R25", Holds(frozenset(data)))


def _inside(view: View, names: Names, target: str) -> Sequence[str] | None:
    """The addresses of a Service that a name in the cluster is; None where the objects do not tell."""
    service = next((found for found in view.known if names.service(found) == target.lower()), None)
    if service is None:
        return [] if target.lower().endswith(f".{names.services}") else None
    if service.kind == HEADLESS:
        return [endpoint.address for endpoint in service.ready]
    return service.addresses or None
