"""What the names at and below one Service hold.

Duty: which addresses, at which ports, belong to a Service, one of its endpoints or one of its ports.  It does not know
the store, zones or records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from pydns.dns.types import Type, new
from pydns.k8s.objects import Endpoint, EndpointSlice, Port, Service
from pydns.plugins.kubernetes.qname import SERVICES, Name
from pydns.plugins.kubernetes.records import NO_PORTS, Item, endpoint_name, host_rdata

EXTERNAL_NAME = "ExternalName"


class ServiceItems:
    """The items of one Service; made anew when the Service or one of its slices changes.

    ``pod_names`` calls endpoints without a hostname by their Pods.
    """

    def __init__(self, service: Service, slices: Sequence[EndpointSlice], pod_names: bool = False) -> None:
        self._service = service
        self._slices = slices
        self._pod_names = pod_names
        self._target = f"{service.name}.{service.namespace}.{SERVICES}"

    @property
    def is_headless(self) -> bool:
        return self._service.headless

    @property
    def is_external(self) -> bool:
        return self._service.type == EXTERNAL_NAME

    @property
    def has_endpoints(self) -> bool:
        return any(item.endpoints for item in self._slices)

    def depends_on_slices(self, name: Name) -> bool:
        """Whether what ``name`` asks for depends on the slices."""
        return self.is_headless or bool(name.endpoint)

    def select(self, name: Name) -> Sequence[Item]:
        """The items that ``name`` asks for; none means that there is no such name, below a topology zone no data."""
        if self.is_external:
            return self._external if not (name.endpoint or name.port or name.protocol or name.zone) else ()
        if name.zone:
            return self._in_zone(name) if self.is_headless else ()
        return matching(self._candidates(name.endpoint), name.port, name.protocol)

    def _candidates(self, endpoint: str) -> Sequence[Item]:
        if endpoint:
            return self._named.get(endpoint, ())
        return self._endpoints if self.is_headless else self._own

    def _in_zone(self, name: Name) -> Sequence[Item]:
        local = [item for item in self._endpoints if item.zone == name.zone]
        return local or (self._endpoints if name.prefer else ())

    @cached_property
    def _external(self) -> Sequence[Item]:
        """The name it stands for; none where that is an address (or no name at all)."""
        found = host_rdata(self._service.external_name)
        return (Item(*found, NO_PORTS, self._target),) if found is not None and found[0] == Type.CNAME else ()

    @cached_property
    def _own(self) -> Sequence[Item]:
        """Every ClusterIP at every port.  A ClusterIP not given yet is a name, the root, as in CoreDNS."""
        if not (ports := self._service.ports):
            return ()
        hosts = [found for ip in self._service.cluster_ips if (found := host_rdata(ip)) is not None]
        return tuple([Item(*found, ports, self._target) for found in hosts])

    @cached_property
    def _endpoints(self) -> Sequence[Item]:
        """Every endpoint at every port of its slice."""
        found = [self._at(one, part.ports) for part in self._slices if part.ports for one in part.endpoints]
        return tuple([item for item in found if item is not None])

    def _at(self, endpoint: Endpoint, ports: tuple[Port, ...]) -> Item | None:
        address = host_rdata(endpoint.address)
        if address is None:
            return None
        rrtype, rdata = address
        label = endpoint_name(endpoint, self._pod_names)
        target = f"{label}.{self._target}" if label else self._target
        return new(Item, (rrtype, rdata, ports, target, label.lower(), endpoint.zone))

    @cached_property
    def _named(self) -> dict[str, list[Item]]:
        found: dict[str, list[Item]] = {}
        for item in self._endpoints:
            found.setdefault(item.endpoint, []).append(item)
        return found


def matching(items: Sequence[Item], port: str, protocol: str) -> Sequence[Item]:
    """The items at ports of that name and protocol, both lower-case and each matching all where empty."""
    if not port and not protocol:
        return items
    return tuple(_matching(items, port, protocol))


def _matching(items: Iterable[Item], port: str, protocol: str) -> Iterable[Item]:
    for item in items:
        ports = tuple(
            [one for one in item.ports if port in ("", one.name.lower()) and protocol in ("", one.protocol.lower())]
        )
        if ports:
            yield item._replace(ports=ports)
