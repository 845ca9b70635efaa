"""The API's JSON: what of it is read, and how it becomes the compact objects.

Follows CoreDNS's own reading (plugin/kubernetes/object): fields that are missing or null count as empty, fields that
DNS has no use for are not looked at.  A value of the wrong type raises msgspec.ValidationError.  Knows neither requests
nor the store.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec import Raw, Struct, field
from msgspec.json import Decoder

from pydns.k8s.objects import NO_PORT, Endpoint, EndpointSlice, Kind, Namespace, Object, Pod, Port, Service

SERVICE_LABEL: Final = "kubernetes.io/service-name"
TRIGGER_TIME: Final = "endpoints.kubernetes.io/last-change-trigger-time"
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
"""The annotation of the bookmark that a streaming list ends with."""
MAX_TARGET: Final = 63
"""A longer Pod name cannot be a label of a domain name, so it is not kept."""

W = TypeVar("W")
"""An object as it is decoded, or msgspec.Raw for one that is not."""


class Meta(Struct, rename="camel"):
    name: str = ""
    namespace: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None
    resource_version: str | None = None


class Identity(Struct, rename="camel"):
    """Who an object is, read even where the rest of it is odd."""

    name: str = ""
    namespace: str | None = None
    resource_version: str | None = None
    annotations: dict[str, Any] | None = None


class IdentityWire(Struct):
    metadata: Identity = field(default_factory=Identity)


class AnyWire(Struct):
    """What every object has."""

    metadata: Meta = field(default_factory=Meta)


class ServicePortWire(Struct):
    name: str | None = None
    port: int | None = None
    protocol: str | None = None


class ServiceSpecWire(Struct, rename="camel"):
    type: str | None = None
    cluster_ip: str | None = field(name="clusterIP", default=None)
    cluster_ips: list[str] | None = field(name="clusterIPs", default=None)
    external_name: str | None = None
    external_ips: list[str] | None = field(name="externalIPs", default=None)
    ports: list[ServicePortWire] | None = None


class IngressWire(Struct):
    ip: str | None = None
    hostname: str | None = None


class LoadBalancerWire(Struct):
    ingress: list[IngressWire] | None = None


class ServiceStatusWire(Struct, rename="camel"):
    load_balancer: LoadBalancerWire | None = None


class ServiceWire(AnyWire):
    spec: ServiceSpecWire | None = None
    status: ServiceStatusWire | None = None


class ConditionsWire(Struct):
    ready: bool | None = None


class TargetWire(Struct):
    name: str | None = None


class EndpointWire(Struct, rename="camel"):
    addresses: list[str] | None = None
    conditions: ConditionsWire | None = None
    hostname: str | None = None
    target_ref: TargetWire | None = None
    zone: str | None = None


class SliceWire(AnyWire, rename="camel"):
    address_type: str | None = None
    endpoints: list[EndpointWire] | None = None
    ports: list[ServicePortWire] | None = None


class PodStatusWire(Struct):
    pod_ip: str | None = field(name="podIP", default=None)


class PodWire(AnyWire):
    status: PodStatusWire | None = None


class ListMetaWire(Struct, rename="camel"):
    resource_version: str | None = None
    continue_: str | None = field(name="continue", default=None)


class PageWire(Struct):
    """One page of a list; its items are decoded one by one, so that a bad one spoils no other."""

    metadata: ListMetaWire = field(default_factory=ListMetaWire)
    items: list[Raw] | None = None


class EventWire(Struct, Generic[W]):
    """One line of a watch."""

    type: str
    object: W


class StatusWire(Struct):
    """What the API says in place of what was asked for."""

    code: int | None = None
    reason: str | None = None
    message: str | None = None


@lru_cache(maxsize=4096)
def port(name: str, number: int, protocol: str) -> Port:
    """A Port, shared among all that have the same."""
    return Port(name, number, protocol)


def service(wire: ServiceWire) -> Service:
    meta, spec = wire.metadata, wire.spec or ServiceSpecWire()
    return Service(
        namespace=intern(meta.namespace or ""),
        name=intern(meta.name),
        type=intern(spec.type or ""),
        cluster_ips=tuple(spec.cluster_ips or [spec.cluster_ip or ""]),
        external_name=spec.external_name or "",
        ports=service_ports(spec.ports),
        external_ips=(*(spec.external_ips or ()), *ingress_points(wire.status)),
    )


def service_ports(ports: list[ServicePortWire] | None) -> tuple[Port, ...]:
    if not ports:
        return (port("", NO_PORT, ""),)
    return tuple(port(one.name or "", one.port or 0, one.protocol or "") for one in ports)


def ingress_points(status: ServiceStatusWire | None) -> tuple[str, ...]:
    balancer = status.load_balancer if status else None
    return tuple(one.ip or one.hostname or "" for one in (balancer.ingress if balancer else None) or ())


def endpoint_slice(wire: SliceWire) -> EndpointSlice:
    meta = wire.metadata
    return EndpointSlice(
        namespace=intern(meta.namespace or ""),
        name=meta.name,
        service=intern((meta.labels or {}).get(SERVICE_LABEL, "")),
        address_type=intern(wire.address_type or ""),
        endpoints=ready_endpoints(wire.endpoints or ()),
        ports=slice_ports(wire.ports),
        trigger_time=(meta.annotations or {}).get(TRIGGER_TIME, ""),
    )


def ready_endpoints(endpoints: Iterable[EndpointWire]) -> tuple[Endpoint, ...]:
    """An endpoint that says nothing of its readiness is ready; serving and terminating are not looked at.

    A large cluster has 100,000 of them, hence no function is called for each.
    """
    return tuple(
        [
            Endpoint(address, one.hostname or "", target(one.target_ref), intern(one.zone.lower()) if one.zone else "")
            for one in endpoints
            if one.conditions is None or one.conditions.ready is not False
            for address in one.addresses or ()
        ]
    )


def target(reference: TargetWire | None) -> str:
    name = reference.name if reference else None
    return name if name and len(name) <= MAX_TARGET else ""


def slice_ports(ports: list[ServicePortWire] | None) -> tuple[Port, ...]:
    if not ports:
        return (port("", NO_PORT, ""),)
    return tuple(port(one.name or "", NO_PORT if one.port is None else one.port, one.protocol or "") for one in ports)


def pod(wire: PodWire) -> Pod:
    meta = wire.metadata
    return Pod(
        namespace=intern(meta.namespace or ""),
        name=meta.name,
        ip=(wire.status.pod_ip if wire.status else None) or "",
        labels=label_pairs(meta.labels),
        terminating=meta.deletion_timestamp is not None,
    )


def label_pairs(labels: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    return tuple((intern(key), intern(value)) for key, value in (labels or {}).items())


def namespace(wire: AnyWire) -> Namespace:
    return Namespace(intern(wire.metadata.name))


class Resource(NamedTuple):
    """A kind as the API serves it, cluster-wide.

    `decode` reads an object's JSON and `decode_event` a line of a watch (both raise msgspec.DecodeError); of what they
    read, `convert` makes a compact object.
    """

    kind: Kind
    path: str
    decode: Callable[[bytes | Raw], Any]
    decode_event: Callable[[bytes], EventWire[Any]]
    convert: Callable[[Any], Object]
    field_selector: str = ""


decode_event: Final = Decoder(EventWire[Raw]).decode
decode_identity: Final = Decoder(IdentityWire).decode
decode_page: Final = Decoder(PageWire).decode
decode_status: Final = Decoder(StatusWire).decode

RUNNING: Final = "status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown"


def _resource(
    kind: Kind, path: str, wire: type[AnyWire], convert: Callable[[Any], Object], fields: str = ""
) -> Resource:
    return Resource(kind, path, Decoder(wire).decode, Decoder(EventWire[wire]).decode, convert, fields)  # type: ignore[valid-type]


RESOURCES: Final[Mapping[Kind, Resource]] = {
    Kind.NAMESPACE: _resource(Kind.NAMESPACE, "/api/v1/namespaces", AnyWire, namespace),
    Kind.SERVICE: _resource(Kind.SERVICE, "/api/v1/services", ServiceWire, service),
    Kind.SLICE: _resource(Kind.SLICE, "/apis/discovery.k8s.io/v1/endpointslices", SliceWire, endpoint_slice),
    Kind.POD: _resource(Kind.POD, "/api/v1/pods", PodWire, pod, RUNNING),
}
