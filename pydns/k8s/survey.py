"""What is in a set of manifests beside what is wrong: kinds that are not read, and what is likely to be a mistake.

A cluster would refuse or overwrite such things; here they are read as far as that makes sense, and told.  Does not
know what objects mean for one another (`derive`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final

from pydns.k8s.documents import Document

API_VERSIONS: Final = {
    "Namespace": "v1",
    "Service": "v1",
    "Endpoints": "v1",
    "EndpointSlice": "discovery.k8s.io/v1",
    "Pod": "v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
}
"""The kinds that are read, as they are written today."""
SERVICE_SPEC: Final = (
    *("allocateLoadBalancerNodePorts", "clusterIP", "clusterIPs", "externalIPs", "externalName"),
    *("externalTrafficPolicy", "healthCheckNodePort", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy"),
    *("loadBalancerClass", "loadBalancerIP", "loadBalancerSourceRanges", "ports", "publishNotReadyAddresses"),
    *("selector", "sessionAffinity", "sessionAffinityConfig", "trafficDistribution", "type"),
)
"""The fields of a Service's spec (Kubernetes 1.34)."""


def is_read(document: Document) -> bool:
    """Whether DNS has a use for the object; a Knative Service is another kind than a Service."""
    expected = API_VERSIONS.get(document.kind)
    return expected is not None and group_of(api_version(document) or expected) == group_of(expected)


def api_version(document: Document) -> str:
    return str(document.data.get("apiVersion") or "")


def group_of(version: str) -> str:
    return version.rpartition("/")[0]


def skipped_kinds(documents: Iterable[Document]) -> Counter[str]:
    """How many objects there are of each kind that DNS has no use for."""
    skipped = [one for one in documents if one.kind and not is_read(one)]
    return Counter(
        f"{one.kind}.{group_of(api_version(one))}" if one.kind in API_VERSIONS else one.kind for one in skipped
    )


def warnings(documents: Sequence[Document]) -> Iterator[str]:
    """What a person should know, a line each.  The objects have been read before: their fields have the right types."""
    for document in documents:
        if not document.kind:
            yield f"{document.place()} - skipped: no Kubernetes object, which has apiVersion, kind and metadata"
    read = [document for document in documents if is_read(document)]
    yield from old_versions(read)
    yield from written_again(read)
    services = [one for one in last_of_each(read) if one.kind == "Service"]
    yield from unknown_fields(services)
    yield from shared_addresses(services)


def old_versions(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        version, expected = api_version(document), API_VERSIONS[document.kind]
        if version and version != expected:
            yield document.remark(".apiVersion", f"'{version}' is read as {expected}; a cluster would refuse it")


def last_of_each(documents: Iterable[Document]) -> list[Document]:
    """Of several documents for one object the last, which is the one that counts."""
    return list({document.title: document for document in documents}.values())


def written_again(documents: Iterable[Document]) -> Iterator[str]:
    before: dict[str, Document] = {}
    for document in documents:
        if document.title in before:
            yield document.remark("", f"takes the place of the one in {before[document.title].place()}")
        before[document.title] = document


def unknown_fields(services: Iterable[Document]) -> Iterator[str]:
    for service in services:
        for name in service.data.get("spec") or {}:
            if name not in SERVICE_SPEC:
                near = get_close_matches(str(name), SERVICE_SPEC, n=1)
                hint = f" (did you mean '{near[0]}'?)" if near else ""
                yield service.remark(f".spec.{name}", f"unknown field{hint}")


def shared_addresses(services: Iterable[Document]) -> Iterator[str]:
    owners: dict[str, Document] = {}
    for service in services:
        for ip in cluster_ips(service.data.get("spec") or {}):
            other = owners.setdefault(ip, service)
            if other is not service:
                yield service.remark(".spec.clusterIP", f"{ip} is also that of {other.title} in {other.place()}")


def cluster_ips(spec: dict[str, Any]) -> list[str]:
    found = dict.fromkeys((spec.get("clusterIP"), *(spec.get("clusterIPs") or ())))
    return [ip for ip in found if ip and ip != "None"]
