"""What the controllers of a cluster make of given objects: Pods of workloads, EndpointSlices of Services.

For machines without kube-controller-manager: as little of it as the cases use, and what the real one does is the rule
for it. Pods of a Deployment come without a ReplicaSet. A pure function of the objects, called until nothing is left to
do; it never changes what it was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import count

from conformance.kubernetes.objects import Key, Object, key_of

Objects = Mapping[Key, Object]

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
"""Of Pods alike in readiness the one with the lowest goes first when a Deployment shrinks."""

SERVICE_NAME = "kubernetes.io/service-name"


@dataclass
class Work:
    """Objects to create or replace, and objects to remove; false when there are none."""

    changed: list[Object] = field(default_factory=list)
    removed: list[Object] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


def work(objects: Objects) -> Work:
    """What is to be done next."""
    found = Work()
    for object in list(objects.values()):
        if object["kind"] == "Deployment":
            _deployment(object, objects, found)
        elif object["kind"] == "StatefulSet":
            _stateful_set(object, objects, found)
        elif object["kind"] == "Service":
            found.changed += [slice for slice in _slices(object, objects) if _differs(slice, objects)]
            found.removed += _surplus(object, objects)
        _collect(object, objects, found)
    return found


def _differs(wanted: Object, objects: Objects) -> bool:
    there = objects.get(key_of(wanted))
    return there is None or {**there, "metadata": {**there["metadata"], "resourceVersion": None}} != {
        **wanted,
        "metadata": {**wanted["metadata"], "resourceVersion": None},
    }


def _collect(object: Object, objects: Objects, found: Work) -> None:
    """What belongs to a namespace, a workload or a Service that is gone."""
    kind, namespace, _ = key_of(object)
    if namespace and ("Namespace", "", namespace) not in objects:
        found.removed.append(object)
    elif any(owner not in objects for owner in _owners(object)):
        if kind == "Pod":
            _end(object, found)
        else:
            found.removed.append(object)


def _owners(object: Object) -> Iterator[Key]:
    for owner in object["metadata"].get("ownerReferences") or ():
        yield owner["kind"], object["metadata"]["namespace"], owner["name"]


# -- Pods --


def _deployment(owner: Object, objects: Objects, found: Work) -> None:
    """As many Pods as there should be; those that end do not count."""
    pods = [pod for pod in _selected(owner["spec"]["selector"]["matchLabels"], owner, objects) if not _ends(pod)]
    missing = owner["spec"].get("replicas", 1) - len(pods)
    for pod in sorted(pods, key=_worth)[: max(-missing, 0)]:
        _end(pod, found)
    names = (f"{owner['metadata']['name']}-{number}" for number in count(1))
    free = (name for name in names if ("Pod", owner["metadata"]["namespace"], name) not in objects)
    for _ in range(missing):
        found.changed.append(_pod(owner, next(free)))


def _worth(pod: Object) -> tuple[bool, bool, int]:
    cost = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    return "nodeName" in pod["spec"], _is_ready(pod), int(cost)


def _stateful_set(owner: Object, objects: Objects, found: Work) -> None:
    """Pods by their numbers: in order, each when the one before it is ready, unless the set says `Parallel`."""
    name, replicas = owner["metadata"]["name"], owner["spec"].get("replicas", 1)
    pods = [objects.get(("Pod", owner["metadata"]["namespace"], f"{name}-{number}")) for number in range(replicas)]
    ordered = owner["spec"].get("podManagementPolicy") != "Parallel"
    for number, pod in enumerate(pods):
        if pod is None:
            found.changed.append(_pod(owner, f"{name}-{number}", hostname=True))
        if ordered and (pod is None or _ends(pod) or not _is_ready(pod)):
            break
    for pod in _selected(owner["spec"]["selector"]["matchLabels"], owner, objects):
        if int(pod["metadata"]["name"].rpartition("-")[2]) >= replicas:
            _end(pod, found)


def _pod(owner: Object, name: str, hostname: bool = False) -> Object:
    template = owner["spec"]["template"]
    reference = {"kind": owner["kind"], "name": owner["metadata"]["name"]}
    metadata = {**template["metadata"], "name": name, "namespace": owner["metadata"]["namespace"]}
    named = {"hostname": name, "subdomain": owner["spec"]["serviceName"]} if hostname else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "ownerReferences": [reference]},
        "spec": {**template["spec"], **named},
        "status": {"phase": "Pending"},
    }


def _end(pod: Object, found: Work) -> None:
    """A Pod on a Node stays until its kubelet has ended it."""
    if "nodeName" not in pod["spec"]:
        found.removed.append(pod)
    elif not _ends(pod):
        found.changed.append({**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}})


def _ends(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _selected(labels: Mapping[str, str], owner: Object, objects: Objects) -> Iterator[Object]:
    """The Pods of the owner's namespace with all these labels."""
    namespace = owner["metadata"]["namespace"]
    for (kind, where, _), object in objects.items():
        has = object["metadata"].get("labels") or {}
        if kind == "Pod" and where == namespace and labels.items() <= has.items():
            yield object


# -- EndpointSlices --


def _slices(service: Object, objects: Objects) -> Iterator[Object]:
    """One slice for each family and set of ports; none for a Service without selector or of type ExternalName."""
    spec = service["spec"]
    if not spec.get("selector") or spec.get("type") == "ExternalName":
        return
    groups: dict[tuple[str, str], list[Object]] = {}
    for family in spec.get("ipFamilies") or ["IPv4"]:
        for pod in _selected(spec["selector"], service, objects):
            for address in _addresses(pod, family):
                ports = _ports(spec.get("ports") or (), pod)
                groups.setdefault((family, repr(ports)), [_slice(service, family, ports)]).append(
                    _endpoint(service, pod, address)
                )
    for number, (slice, *endpoints) in enumerate(groups.values(), 1):
        name = f"{service['metadata']['name']}-{number}"
        yield {**slice, "metadata": {**slice["metadata"], "name": name}, "endpoints": endpoints}


def _surplus(service: Object, objects: Objects) -> list[Object]:
    """Slices of a Service that its Pods no longer fill."""
    if not service["spec"].get("selector") or service["spec"].get("type") == "ExternalName":
        return []
    wanted = {key_of(slice) for slice in _slices(service, objects)}
    owner = key_of(service)
    return [
        object
        for key, object in objects.items()
        if key[0] == "EndpointSlice" and owner in _owners(object) and key not in wanted
    ]


def _addresses(pod: Object, family: str) -> Iterator[str]:
    status = pod.get("status") or {}
    if status.get("phase") not in ("Succeeded", "Failed"):
        for entry in status.get("podIPs") or ():
            if f"IPv{ip_address(entry['ip']).version}" == family:
                yield entry["ip"]


def _slice(service: Object, family: str, ports: list[Object]) -> Object:
    metadata = service["metadata"]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "namespace": metadata["namespace"],
            "labels": {SERVICE_NAME: metadata["name"]},
            "ownerReferences": [{"kind": "Service", "name": metadata["name"]}],
        },
        "addressType": family,
        "ports": ports,
    }


def _endpoint(service: Object, pod: Object, address: str) -> Object:
    """One endpoint; it has a host name where the Pod's subdomain is the Service (Pods of a StatefulSet)."""
    serving = _is_ready(pod)
    ready = bool(service["spec"].get("publishNotReadyAddresses")) or (serving and not _ends(pod))
    endpoint: Object = {
        "addresses": [address],
        "conditions": {"ready": ready, "serving": serving, "terminating": _ends(pod)},
        "targetRef": {"kind": "Pod", "name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]},
    }
    if pod["spec"].get("hostname") and pod["spec"].get("subdomain") == service["metadata"]["name"]:
        endpoint["hostname"] = pod["spec"]["hostname"]
    return endpoint


def _ports(ports: Sequence[Object], pod: Object) -> list[Object]:
    """The Service's ports as the Pod has them; one that names a port the Pod has not is left out."""
    found = []
    for port in ports:
        number = _target(port, pod)
        if number is not None:
            found.append({"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")})
    return found


def _target(port: Object, pod: Object) -> int | None:
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    named = (each for container in pod["spec"]["containers"] for each in container.get("ports") or ())
    return next((int(each["containerPort"]) for each in named if each.get("name") == target), None)
