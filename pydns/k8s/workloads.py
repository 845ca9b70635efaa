"""Pods for the embedded cluster: those written out, and those that Deployments, StatefulSets and DaemonSets would make.

Knows what endpoint slices need of a Pod, not the Services (`derive`).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Literal

from msgspec import Struct, field

from pydns.k8s.addresses import IPV4, IPV6, Pools, family_of, suffix
from pydns.k8s.documents import Document
from pydns.k8s.objects import Pod
from pydns.k8s.selectors import Requirement, Selector
from pydns.k8s.wire import Meta, label_pairs

POD_NETWORKS: Final = ("10.244.0.0/16", "fd00:10:244::/64")
ENDED: Final = ("Succeeded", "Failed")
NOT_WATCHED: Final = (*ENDED, "Unknown")
"""Phases of Pods that CoreDNS, and so the store, does not watch."""
MAX_PODS: Final = 1 << 15
"""Pods of workloads: half of what the networks hold, so that a free address is found soon."""
WORKLOADS: Final = ("Deployment", "StatefulSet", "DaemonSet")


class ContainerPort(Struct, rename="camel"):
    container_port: int
    name: str | None = None
    protocol: str | None = None


class Container(Struct):
    ports: list[ContainerPort] | None = None


class PodSpec(Struct):
    hostname: str | None = None
    subdomain: str | None = None
    containers: list[Container] | None = None


class PodAddress(Struct):
    ip: str


class Condition(Struct):
    type: str
    status: str


class PodStatus(Struct):
    phase: str | None = None
    pod_ip: str | None = field(name="podIP", default=None)
    pod_ips: list[PodAddress] | None = field(name="podIPs", default=None)
    conditions: list[Condition] | None = None


class PodManifest(Struct):
    metadata: Meta
    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)


class Template(Struct):
    metadata: Meta = field(default_factory=Meta)
    spec: PodSpec = field(default_factory=PodSpec)


class Ordinals(Struct):
    start: int = 0


class Expression(Struct):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str] | None = None


class LabelSelector(Struct, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: list[Expression] | None = None

    def selector(self) -> Selector:
        equal = [Requirement(key, "Equals", (value,)) for key, value in (self.match_labels or {}).items()]
        listed = self.match_expressions or ()
        return Selector((*equal, *(Requirement(one.key, one.operator, tuple(one.values or ())) for one in listed)))


class WorkloadSpec(Struct, rename="camel"):
    template: Template
    selector: LabelSelector = field(default_factory=LabelSelector)
    replicas: int | None = None
    service_name: str | None = None
    ordinals: Ordinals = field(default_factory=Ordinals)


class Workload(Struct):
    metadata: Meta
    spec: WorkloadSpec


class RunningPod:
    """A Pod as the endpoint slice controller sees it."""

    def __init__(self, namespace: str, name: str, labels: Mapping[str, str] | None, spec: PodSpec) -> None:
        self.namespace = namespace
        self.name = name
        self.labels = labels or {}
        self.hostname = spec.hostname or ""
        self.subdomain = spec.subdomain or ""
        self.phase = "Running"
        self.ready = True
        self.terminating = False
        self.addresses: dict[str, str] = {}
        self._containers = spec.containers or []

    def port_number(self, name: str, protocol: str) -> int | None:
        """The container port that a named targetPort means."""
        for container in self._containers:
            for port in container.ports or ():
                if port.name == name and (port.protocol or "TCP") == protocol:
                    return port.container_port
        return None

    def object(self) -> Pod:
        """The Pod as the API would show it, its first address as status.podIP."""
        ip = next(iter(self.addresses.values()), "")
        return Pod(self.namespace, self.name, ip, label_pairs(self.labels), terminating=self.terminating)


def written_pod(document: Document) -> RunningPod:
    """A Pod as its manifest describes it; one without conditions counts as ready."""
    manifest = document.read(PodManifest)
    status = manifest.status
    pod = RunningPod(document.namespace, document.name, manifest.metadata.labels, manifest.spec)
    pod.phase = status.phase or "Running"
    pod.terminating = manifest.metadata.deletion_timestamp is not None
    if status.conditions is not None:
        pod.ready = any(one.type == "Ready" and one.status == "True" for one in status.conditions)
    for address in [status.pod_ip, *(one.ip for one in status.pod_ips or ())]:
        if address:
            document.check_ip(".status.podIP", address)
            pod.addresses.setdefault(family_of(address), address)
    return pod


def derived_pods(document: Document, written: Mapping[str, RunningPod]) -> Iterator[RunningPod]:
    """The Pods of one workload, unless some of them are among `written`, the Pods of its namespace by name.

    Whoever writes out some of them, as the export of a running cluster does, has written out all there are.
    """
    spec = document.read(Workload).spec
    selector = spec.selector.selector()
    if selector.requirements and any(selector.matches(pod.labels) for pod in written.values()):
        return
    for name in pod_names(document, spec):
        if name not in written:
            yield template_pod(document, spec, name)


def pod_names(document: Document, spec: WorkloadSpec) -> Iterable[str]:
    """The names Kubernetes would give, generated parts by hash."""
    name, owner = document.name, f"{document.kind}/{document.namespace}/{document.name}"
    replicas = 1 if spec.replicas is None else spec.replicas
    match document.kind:
        case "StatefulSet":
            return (f"{name}-{spec.ordinals.start + ordinal}" for ordinal in range(replicas))
        case "DaemonSet":
            return [f"{name}-{suffix(owner, 5)}"]
    generated = f"{name}-{suffix(owner, 10)}"
    return (f"{generated}-{suffix(f'{owner}/{number}', 5)}" for number in range(replicas))


def template_pod(document: Document, spec: WorkloadSpec, name: str) -> RunningPod:
    pod = RunningPod(document.namespace, name, spec.template.metadata.labels, spec.template.spec)
    if document.kind == "StatefulSet":
        pod.hostname, pod.subdomain = name, spec.service_name or ""
    return pod


def running_pods(documents: Iterable[Document]) -> list[RunningPod]:
    """All Pods of the cluster, in the order of their names, those without an address given one of each family."""
    documents = list(documents)
    pods: dict[str, dict[str, RunningPod]] = {}
    for document in documents:
        if document.kind == "Pod":
            pods.setdefault(document.namespace, {})[document.name] = written_pod(document)
    derived: list[RunningPod] = []
    for document in documents:
        if document.kind in WORKLOADS:
            found = derived_pods(document, pods.get(document.namespace, {}))
            derived += islice(found, MAX_PODS - len(derived))
            if next(found, None) is not None:
                raise document.error(".spec.replicas", f"there is room for {MAX_PODS} Pods in all")
    running = [*(pod for named in pods.values() for pod in named.values()), *derived]
    return give_addresses(sorted(running, key=lambda pod: (pod.namespace, pod.name)))


def give_addresses(pods: list[RunningPod]) -> list[RunningPod]:
    pools = Pools(*POD_NETWORKS, taken=(address for pod in pods for address in pod.addresses.values()))
    for pod in pods:
        if not pod.addresses and pod.phase != "Pending":
            owner = f"Pod/{pod.namespace}/{pod.name}"
            pod.addresses = {family: pools.address(family, owner) for family in (IPV4, IPV6)}
    return pods
