"""Services with their endpoints, as the Kubernetes API shows them in JSON. Knows no DNS.

Fields are those of Service (v1) and EndpointSlice (discovery.k8s.io/v1). An endpoint whose `ready` is absent is ready,
as the API says. Slices of addressType FQDN are left out: the specification does not know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from conformance.kubernetes.objects import Object

CLUSTER_IP, HEADLESS, EXTERNAL_NAME = "ClusterIP", "headless", "ExternalName"


@dataclass(frozen=True)
class Port:
    """A port of a Service or a slice; `name` may be empty."""

    name: str
    protocol: str
    number: int


@dataclass(frozen=True)
class Endpoint:
    """One address of a slice's endpoint with the slice's ports; `hostname` may be empty."""

    address: str
    hostname: str
    ready: bool
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Service:
    """A Service. `addresses` are its ClusterIPs: none where the objects do not tell (as in a manifest)."""

    namespace: str
    name: str
    kind: str
    ports: tuple[Port, ...] = ()
    addresses: tuple[str, ...] = ()
    external_name: str = ""
    endpoints: tuple[Endpoint, ...] = ()

    @property
    def ready(self) -> list[Endpoint]:
        """The endpoints that are ready."""
        return [endpoint for endpoint in self.endpoints if endpoint.ready]


@dataclass(frozen=True)
class View:
    """All that is known of a cluster; `others` are Services that nothing is asked about."""

    namespaces: tuple[str, ...]
    services: tuple[Service, ...]
    others: tuple[Service, ...] = ()

    @property
    def known(self) -> tuple[Service, ...]:
        """All Services."""
        return self.services + self.others

    def find(self, namespace: str, name: str) -> Service | None:
        """A Service by its name."""
        return next((found for found in self.known if (found.namespace, found.name) == (namespace, name)), None)

    def of_kind(self, kind: str) -> list[Service]:
        """The Services of one kind that are asked about."""
        return [service for service in self.services if service.kind == kind]


def read_view(objects: Iterable[Object]) -> View:
    """The Services among objects, in the order of their names, each with the endpoints of its slices."""
    by_kind: dict[str, list[Object]] = {"Namespace": [], "Service": [], "EndpointSlice": []}
    for object in objects:
        if object["kind"] in by_kind:
            by_kind[object["kind"]].append(object)
    services = sorted(by_kind["Service"], key=_place)
    return View(
        tuple(sorted(namespace["metadata"]["name"] for namespace in by_kind["Namespace"])),
        tuple(_service(service, by_kind["EndpointSlice"]) for service in services),
    )


def _place(object: Object) -> tuple[str, str]:
    metadata = object["metadata"]
    return metadata.get("namespace") or "default", metadata["name"]


def _service(object: Object, slices: Sequence[Object]) -> Service:
    namespace, name = _place(object)
    spec = object.get("spec", {})
    kind = _kind(spec)
    return Service(
        namespace,
        name,
        kind,
        tuple(map(_port, spec.get("ports") or ())),
        _cluster_ips(spec) if kind == CLUSTER_IP else (),
        spec.get("externalName", "") if kind == EXTERNAL_NAME else "",
        tuple(endpoint for slice in slices if _owner(slice) == (namespace, name) for endpoint in _endpoints(slice)),
    )


def _kind(spec: Object) -> str:
    if spec.get("type") == "ExternalName":
        return EXTERNAL_NAME
    return HEADLESS if spec.get("clusterIP") == "None" else CLUSTER_IP


def _cluster_ips(spec: Object) -> tuple[str, ...]:
    given = spec.get("clusterIPs") or [spec.get("clusterIP", "")]
    return tuple(str(ip_address(text)) for text in given if text)


def _port(port: Object) -> Port:
    return Port(port.get("name") or "", port.get("protocol") or "TCP", port["port"])


def _owner(slice: Object) -> tuple[str, str]:
    labels = slice["metadata"].get("labels") or {}
    return _place(slice)[0], labels.get("kubernetes.io/service-name", "")


def _endpoints(slice: Object) -> Iterable[Endpoint]:
    if slice.get("addressType") not in ("IPv4", "IPv6"):
        return
    ports = tuple(_port(port) for port in slice.get("ports") or () if port.get("port"))
    for endpoint in slice.get("endpoints") or ():
        ready = (endpoint.get("conditions") or {}).get("ready") is not False
        for address in endpoint["addresses"]:
            yield Endpoint(str(ip_address(address)), endpoint.get("hostname") or "", ready, ports)
