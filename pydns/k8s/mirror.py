"""Endpoint slices for Endpoints, as a cluster's mirroring controller makes them.

Endpoints are how addresses outside a cluster were written before there were slices; those of a Service with a selector
are the control plane's own work, and not looked at.  Does not know Pods (`derive`).
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from pydns.k8s.addresses import family_of, suffix
from pydns.k8s.documents import Document
from pydns.k8s.wire import (
    SERVICE_LABEL,
    AnyWire,
    ConditionsWire,
    EndpointWire,
    Meta,
    ServicePortWire,
    SliceWire,
    TargetWire,
)

SKIP_LABEL: Final = "endpointslice.kubernetes.io/skip-mirror"


class AddressWire(Struct, rename="camel"):
    ip: str
    hostname: str | None = None
    target_ref: TargetWire | None = None


class SubsetWire(Struct, rename="camel"):
    addresses: list[AddressWire] | None = None
    not_ready_addresses: list[AddressWire] | None = None
    ports: list[ServicePortWire] | None = None


class EndpointsWire(AnyWire):
    subsets: list[SubsetWire] | None = None


def mirrored(document: Document) -> Iterator[SliceWire]:
    """One slice for each subset and family; raises ManifestError for an address that is none."""
    wire = document.read(EndpointsWire)
    labels = wire.metadata.labels or {}
    if labels.get(SKIP_LABEL) == "true":
        return
    for at, subset in enumerate(wire.subsets or ()):
        families: dict[str, list[EndpointWire]] = {}
        for address, endpoint in endpoints(subset):
            document.check_ip(f".subsets[{at}]", address)
            families.setdefault(family_of(address), []).append(endpoint)
        for family, members in families.items():
            name = f"{document.name}-{suffix(f'Endpoints/{document.namespace}/{document.name}/{family}/{at}', 5)}"
            meta = Meta(name, document.namespace, {**labels, SERVICE_LABEL: document.name})
            yield SliceWire(meta, family, members, ports(subset))


def endpoints(subset: SubsetWire) -> Iterator[tuple[str, EndpointWire]]:
    """Each address of a subset, with its endpoint."""
    for addresses, ready in ((subset.addresses, True), (subset.not_ready_addresses, False)):
        for one in addresses or ():
            yield one.ip, EndpointWire([one.ip], ConditionsWire(ready), one.hostname, one.target_ref)


def ports(subset: SubsetWire) -> list[ServicePortWire]:
    return [ServicePortWire(one.name, one.port, one.protocol or "TCP") for one in subset.ports or ()]
