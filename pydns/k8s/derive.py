"""The cluster that a set of manifests describes: what is written out, and what a control plane would add to it.

Added are namespaces, the Service `kubernetes`, cluster IPs and, for Services with a selector, endpoint slices; Pods
come from `workloads`, slices for Endpoints from `mirror`.  What is written out wins.  The result depends on the
manifests alone, so that two readings of the same files give the same answers.  Does not know files (`documents`) or who
serves the result (`manifests`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct

from pydns.address import is_ip
from pydns.k8s.addresses import IPV4, IPV6, Pools, family_of, suffix
from pydns.k8s.documents import Document
from pydns.k8s.mirror import mirrored
from pydns.k8s.objects import EndpointSlice, Kind, Namespace, Object
from pydns.k8s.source import Interest
from pydns.k8s.store import Key, key_of
from pydns.k8s.survey import is_read
from pydns.k8s.wire import (
    SERVICE_LABEL,
    ConditionsWire,
    EndpointWire,
    Meta,
    ServicePortWire,
    ServiceSpecWire,
    ServiceWire,
    SliceWire,
    TargetWire,
    endpoint_slice,
    service,
)
from pydns.k8s.workloads import ENDED, NOT_WATCHED, RunningPod, running_pods

SERVICE_NETWORKS: Final = ("10.96.0.0/12", "fd00:10:96::/112")
KUBERNETES_IP: Final = "10.96.0.1"
NAMESPACES: Final = ("default", "kube-system")
NAME_LABEL: Final = "kubernetes.io/metadata.name"
SLICE_SIZE: Final = 100
MAX_PORT: Final = 65535
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


SlicePorts = tuple[tuple[str, int, str], ...]
"""Name, number and protocol of each port of a slice."""


class TargetPort(Struct, rename="camel"):
    target_port: int | str | None = None


class ServiceRules(Struct, rename="camel"):
    """What of a Service's spec decides about addresses and slices."""

    selector: dict[str, str] | None = None
    publish_not_ready_addresses: bool = False
    ip_families: list[str] | None = None
    ip_family_policy: str | None = None
    ports: list[TargetPort] | None = None


class ServiceManifest(Struct):
    spec: ServiceRules | None = None


class WrittenService:
    """A Service's manifest, its defaults filled in as the API server does; addresses follow (`families`)."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.wire = document.read(ServiceWire)
        self.wire.metadata.namespace = document.namespace
        self.spec = self.wire.spec = self.wire.spec or ServiceSpecWire()
        self.rules = document.read(ServiceManifest).spec or ServiceRules()
        self.labels = self.wire.metadata.labels or {}
        self.spec.type = self.spec.type or "ClusterIP"
        self._check_ports()
        self._check_addresses()
        if self.external and not self.spec.external_name:
            raise document.error(".spec", "a Service of type ExternalName needs an externalName")

    @property
    def external(self) -> bool:
        return self.spec.type == "ExternalName"

    @property
    def headless(self) -> bool:
        return self.spec.cluster_ips == ["None"]

    @property
    def ports(self) -> list[tuple[ServicePortWire, int | str]]:
        """Each port with its target port."""
        ports, targets = self.spec.ports or [], self.rules.ports or []
        return [(port, target.target_port or port.port or 0) for port, target in zip(ports, targets, strict=True)]

    def families(self) -> list[str]:
        """The IP families asked for, the first one first."""
        given = [family_of(ip) for ip in self.spec.cluster_ips or () if ip != "None"]
        wanted = list(dict.fromkeys([*given, *(self.rules.ip_families or ())])) or [IPV4]
        if self.rules.ip_family_policy in ("PreferDualStack", "RequireDualStack"):
            return list(dict.fromkeys([*wanted, IPV4, IPV6]))
        return wanted

    def _check_ports(self) -> None:
        for at, port in enumerate(self.spec.ports or ()):
            port.protocol = port.protocol or "TCP"
            if port.port is None or not 0 < port.port <= MAX_PORT:
                raise self.document.error(f".spec.ports[{at}].port", f"a number from 1 to {MAX_PORT} is needed")

    def _check_addresses(self) -> None:
        spec = self.spec
        spec.cluster_ips = spec.cluster_ips or ([spec.cluster_ip] if spec.cluster_ip else [])
        for ip in spec.cluster_ips:
            if ip != "None" and not is_ip(ip):
                raise self.document.error(".spec.clusterIP", f"'{ip}' is no IP address, and not None")
        for family in self.rules.ip_families or ():
            if family not in (IPV4, IPV6):
                raise self.document.error(".spec.ipFamilies", f"'{family}' is neither {IPV4} nor {IPV6}")


class Labelled(NamedTuple):
    """An object with the labels by which it is selected."""

    item: Object
    labels: Mapping[str, str]


def build(documents: Sequence[Document], interest: Interest) -> dict[Kind, dict[Key, Object]]:
    """The objects of the cluster by kind, as a watch with these selectors would show them; raises ManifestError."""
    known = unique(documents)
    services = with_addresses([WrittenService(one) for one in known if one.kind == "Service"])
    pods = running_pods(known)
    slices = [written_slice(one) for one in known if one.kind == "EndpointSlice"]
    written = {(one.namespace, one.service) for one, _ in slices}
    derived = [*derived_slices(services, pods, written), *mirrored_slices(known, services, written)]
    objects: dict[Kind, Iterable[Labelled]] = {
        Kind.NAMESPACE: namespaces(documents),
        Kind.SERVICE: [*kubernetes_service(services), *(Labelled(service(one.wire), one.labels) for one in services)],
        Kind.SLICE: [*(Labelled(*one) for one in slices), *derived],
        Kind.POD: [Labelled(pod.object(), pod.labels) for pod in pods if pod.phase not in NOT_WATCHED],
    }
    return {kind: selected(objects[kind], interest, kind) for kind in interest.kinds}


def unique(documents: Iterable[Document]) -> list[Document]:
    """Those that are read in the order of their names; of two for one object the later, as with kubectl apply."""
    named = {(one.kind, one.namespace, one.name): one for one in documents if is_read(one)}
    for document in named.values():
        check_names(document)
    return [named[key] for key in sorted(named)]


def check_names(document: Document) -> None:
    """Names that become labels of domain names must be such labels, as the API server demands."""
    document.check_name()
    labels = {".metadata.namespace": document.namespace}
    if document.kind in ("Service", "Namespace"):
        labels[".metadata.name"] = document.name
    for path, name in labels.items():
        if not LABEL.fullmatch(name):
            raise document.error(path, f"'{name}' is no DNS label: lower-case letters, digits and '-', at most 63")


def selected(objects: Iterable[Labelled], interest: Interest, kind: Kind) -> dict[Key, Object]:
    selector = interest.selector(kind)
    return {key_of(item): item for item, labels in objects if selector.matches(labels)}


def namespaces(documents: Iterable[Document]) -> list[Labelled]:
    """Those written out and those that objects are in."""
    labels: dict[str, Mapping[str, str]] = {name: {} for name in NAMESPACES}
    for document in documents:
        if document.kind == "Namespace" and is_read(document):
            labels[document.name] = document.read(MetaManifest).metadata.labels or {}
        elif "namespace" in document.metadata:
            labels.setdefault(document.namespace, {})
    return [Labelled(Namespace(name), {NAME_LABEL: name, **own}) for name, own in sorted(labels.items())]


class MetaManifest(Struct):
    metadata: Meta


def kubernetes_service(services: Iterable[WrittenService]) -> list[Labelled]:
    """The Service that every API server makes for itself, unless it is written out."""
    if any((one.document.namespace, one.document.name) == ("default", "kubernetes") for one in services):
        return []
    spec = ServiceSpecWire(
        type="ClusterIP", cluster_ips=[KUBERNETES_IP], ports=[ServicePortWire(name="https", port=443, protocol="TCP")]
    )
    wire = ServiceWire(metadata=Meta(name="kubernetes", namespace="default"), spec=spec)
    return [Labelled(service(wire), {"component": "apiserver", "provider": "kubernetes"})]


def with_addresses(services: list[WrittenService]) -> list[WrittenService]:
    """Give each Service the cluster IPs it asks for and does not have."""
    taken = [ip for one in services for ip in one.spec.cluster_ips or ()]
    pools = Pools(*SERVICE_NETWORKS, taken=taken)
    for one in services:
        if not (one.external or one.headless):
            owner = f"Service/{one.document.namespace}/{one.document.name}"
            given = {family_of(ip): ip for ip in one.spec.cluster_ips or ()}
            one.spec.cluster_ips = [given.get(family) or pools.address(family, owner) for family in one.families()]
    return services


def written_slice(document: Document) -> tuple[EndpointSlice, Mapping[str, str]]:
    wire = document.read(SliceWire)
    wire.metadata.namespace = document.namespace
    for at, endpoint in enumerate(wire.endpoints or ()):
        for address in endpoint.addresses or ():
            if wire.address_type != "FQDN":
                document.check_ip(f".endpoints[{at}].addresses", address)
    return endpoint_slice(wire), wire.metadata.labels or {}


def derived_slices(
    services: Iterable[WrittenService], pods: Iterable[RunningPod], written: set[Key]
) -> Iterator[Labelled]:
    """The slices of the Services that select Pods and have no slice `written` out."""
    by_namespace: dict[str, list[RunningPod]] = {}
    for pod in pods:
        if pod.phase not in ENDED:
            by_namespace.setdefault(pod.namespace, []).append(pod)
    for one in services:
        namespace, name = one.document.namespace, one.document.name
        if one.rules.selector and not one.external and (namespace, name) not in written:
            yield from service_slices(one, by_namespace.get(namespace, []))


def mirrored_slices(
    documents: Iterable[Document], services: Iterable[WrittenService], written: set[Key]
) -> Iterator[Labelled]:
    """The slices of Endpoints whose Service selects no Pods and has no slice `written` out."""
    manual = {(one.document.namespace, one.document.name) for one in services if not one.rules.selector} - written
    for document in documents:
        if document.kind == "Endpoints" and (document.namespace, document.name) in manual:
            for wire in mirrored(document):
                yield Labelled(endpoint_slice(wire), wire.metadata.labels or {})


def service_slices(owner: WrittenService, pods: Iterable[RunningPod]) -> Iterator[Labelled]:
    """One slice for each family, each set of ports and each hundred Pods."""
    wanted = (owner.rules.selector or {}).items()
    chosen = [pod for pod in pods if wanted <= pod.labels.items()]
    labels = {**owner.labels, SERVICE_LABEL: owner.document.name}
    for family in owner.families():
        groups: dict[SlicePorts, list[RunningPod]] = {}
        for pod in chosen:
            if family in pod.addresses:
                groups.setdefault(pod_ports(owner, pod), []).append(pod)
        for ports, group in groups.items():
            for number, members in enumerate(batches(group)):
                name = slice_name(owner, family, ports, number)
                yield Labelled(endpoint_slice(slice_wire(owner, name, family, ports, members)), labels)


def pod_ports(owner: WrittenService, pod: RunningPod) -> SlicePorts:
    """The Service's ports on one Pod; a named target port that its containers do not have is left out."""
    found = []
    for port, target in owner.ports:
        protocol = port.protocol or "TCP"
        number = pod.port_number(target, protocol) if isinstance(target, str) else target
        if number is not None:
            found.append((port.name or "", number, protocol))
    return tuple(found)


def batches(pods: Iterable[RunningPod]) -> Iterator[list[RunningPod]]:
    rest = iter(pods)
    while batch := list(islice(rest, SLICE_SIZE)):
        yield batch


def slice_name(owner: WrittenService, family: str, ports: SlicePorts, number: int) -> str:
    """A name that stays while Pods come and go."""
    name, namespace = owner.document.name, owner.document.namespace
    return f"{name}-{suffix(f'EndpointSlice/{namespace}/{name}/{family}/{ports}/{number}', 5)}"


def slice_wire(
    owner: WrittenService, name: str, family: str, ports: SlicePorts, pods: Iterable[RunningPod]
) -> SliceWire:
    document = owner.document
    return SliceWire(
        metadata=Meta(name=name, namespace=document.namespace, labels={SERVICE_LABEL: document.name}),
        address_type=family,
        endpoints=[slice_endpoint(owner, family, pod) for pod in pods],
        ports=[ServicePortWire(*port) for port in ports],
    )


def slice_endpoint(owner: WrittenService, family: str, pod: RunningPod) -> EndpointWire:
    ready = owner.rules.publish_not_ready_addresses or (pod.ready and not pod.terminating)
    named = pod.hostname and pod.subdomain == owner.document.name
    return EndpointWire(
        addresses=[pod.addresses[family]],
        conditions=ConditionsWire(ready=ready),
        hostname=pod.hostname if named else None,
        target_ref=TargetWire(pod.name),
    )
